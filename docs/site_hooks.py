"""What the site needs and GitHub does not: Markdown in folded answers, sessions, links to the repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def on_config(config: Any) -> Any:
    """MkDocs' hook: the repository is where this clone comes from, if that is on the web."""
    command = ["git", "remote", "get-url", "origin"]
    origin = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    if found := re.fullmatch(r"(?:https://|git@)([\w.-]+)[/:](.+?)(?:\.git)?", origin):
        config.repo_url = f"https://{found[1]}/{found[2]}"
        config.repo_name = found[2]
    return config


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """MkDocs' hook, called with each page's source."""
    markdown = markdown.replace("<details>", "<details markdown>")
    markdown = re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)
    if config.repo_url:
        return re.sub(r"\]\(\.\./([^)]+)\)", rf"]({config.repo_url}/blob/HEAD/\1)", markdown)
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", markdown)
