"""What the site needs and GitHub does not: Markdown in folded answers, sessions, a page for each linked source file."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from docs.play import build  # noqa: E402

CHAPTER = "m00_first.md"
chapters: dict[str, str] = {}
COMPILER = ROOT / "solutions"
"""The finished compiler; a learner's copy of the course may not have it, and then no page of the explorer."""
EMBEDDED = """

## Try it here

An RMS norm of 40 rows. Click on a line. <a href="explored.html">Open the page by itself.</a>

<iframe src="explored.html" title="An RMS norm at every stage" width="100%" height="640"></iframe>
"""
LINK = re.compile(r"\]\(\.\./([^)]+)\)")
"""A link to a file outside docs/."""
SOURCE = """---
search:
  exclude: true
---

# {path}

~~~~~~~~{language}
{text}
~~~~~~~~
"""


def on_config(config: Any) -> Any:
    """MkDocs' hook: the repository is where this clone comes from, if that is on the web."""
    command = ["git", "remote", "get-url", "origin"]
    origin = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    if found := re.fullmatch(r"(?:https://|git@)([\w.-]+)[/:](.+?)(?:\.git)?", origin):
        config.repo_url = f"https://{found[1]}/{found[2]}"
        config.repo_name = found[2]
    return config


def on_files(files: Any, config: Any) -> Any:
    """MkDocs' hook: add a page for each file of the repository that a page links to."""
    texts = [file.content_string for file in files.documentation_pages()]
    for path in sorted({path for text in texts for path in LINK.findall(text)}):
        language = {".py": "python", ".yml": "yaml"}.get(Path(path).suffix, "text")
        text = (ROOT / path).read_text(encoding="utf-8")
        content = SOURCE.format(path=path, language=language, text=text)
        files.append(File.generated(config, page_of(path), content=content))
    return files


def page_of(path: str) -> str:
    """The page of a file outside docs/. MkDocs ignores folders whose names begin with a dot."""
    return f"source/{path.lstrip('.')}.md"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs' hook, called with each page's source."""
    if page.file.src_uri.startswith("source/"):
        return markdown
    if page.file.src_uri == "explorer.md" and COMPILER.is_dir():
        markdown += EMBEDDED
    if re.match(r"m\d\d_", page.file.src_uri):
        page.meta["search"] = {"boost": 2}  # in searches, what explains a name comes before what uses it
    markdown = markdown.replace("<details>", "<details markdown>")
    markdown = re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)
    return LINK.sub(lambda found: f"]({page_of(found[1])})", markdown)


def on_page_content(html: str, page: Any, **_: Any) -> None:
    """MkDocs' hook, called with each page's HTML: `play/` shows the chapter beside the editor."""
    if page.file.src_uri == CHAPTER:
        chapters[CHAPTER] = html


def on_post_build(config: Any) -> None:
    """MkDocs' hook, called when the site is there: add `play/`, and the page that explorer.md shows how to make."""
    if not COMPILER.is_dir():
        return
    try:
        build.build(Path(config.site_dir), chapters[CHAPTER])
    except build.Missing as why:
        print(f"The site has no play/: {why}.", file=sys.stderr)
    page = (ROOT / "docs/explorer.md").read_text(encoding="utf-8")
    kernel, line = re.findall(r"^```(?:python|sh)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[:2]
    command = [sys.executable, "-m", *shlex.split(line.replace("\\\n", "").replace("mini-triton", "mini_triton", 1))]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rms_norm.py").write_text(kernel, encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(COMPILER)}
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        shutil.move(Path(folder, "rms_norm.html"), Path(config.site_dir, "explored.html"))
