"""The course as learners get it: a repository of its own, without solutions and without this one's history.

A skeleton takes the place of the reference: the same modules, with stubs in the marked regions. The grader reads the
given code, the task of each function and the stubs from the skeleton, which contains no solution. The toolbox holds no
task, so its modules are copied as they are.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path, PurePosixPath

from grader.course import chapters, markers, stubs
from grader.course.curriculum import SKELETON, Curriculum, Milestone
from grader.learner import finale

SECRET = 24
"""Minimum length of a line that reveals part of a solution; anybody may write a shorter one."""
LISTING = ".course.json"  # lists what an export wrote, so that the next one can remove old files

_HANDOUT = Path(__file__).parent / "handout"
_SERVER, _RECORDS = "tests/oracles/server", "tests/oracles/records"
_FILES = (
    *("LICENSE", "NOTICE.md", "CHANGELOG.md", "constraints.txt", ".gitignore"),
    *("Containerfile", "compose.yaml", ".devcontainer/devcontainer.json", ".devcontainer/gpu/devcontainer.json"),
    *("docs/learners.md", "docs/setup.md", "tests/checks.py", "tests/conftest.py"),
    *(f"{_SERVER}/__init__.py", f"{_SERVER}/__main__.py"),
)
_PAGES = {
    **{"basic_blocks": 5, "sanitizer": 7, "the_gpu": 8, "triton_beside_cuda": 8},
    **{"passes": 9, "explorer": 10, "fast_kernels": 11, "profiling": 11},
}
"""Pages beside the chapters, each with the milestone that it is read after."""
_LEFT_OUT = (
    "grader/teaching/handout/",
    "grader/curriculum/",
    "grader/page/",
    "grader/routes.toml",
    finale.FOLDER.as_posix() + "/",
)
_SHOWN = ("tests/corpus/kernels/by_hand.py",)  # kernels that task 3.7 asks for by showing them
_SESSIONS = ("grade",)  # the noxfile's sessions for learners


class NotAnExport(Exception):
    """The folder contains files other than an export's."""


def export(curriculum: Curriculum, folder: Path, numbers: Collection[int]) -> str:
    """Write or update a repository with these milestones; returns what was done. Raises `NotAnExport`."""
    if missing := sorted(set(range(1, max(numbers) + 1)) - set(numbers) - {0}):
        raise NotAnExport(f"Milestone {max(numbers)} is built on milestone {', '.join(map(str, missing))}: export all.")
    is_new = not folder.exists() or not any(folder.iterdir())
    if not is_new and not (folder / LISTING).is_file():
        raise NotAnExport(f"{folder} is neither empty nor an export.")
    before = [] if is_new else json.loads((folder / LISTING).read_text(encoding="utf-8"))["files"]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kata-export-") as temporary:
        tree = Path(temporary)
        build(curriculum, tree, [m for m in curriculum.milestones if m.number in numbers])
        files = sorted(file.relative_to(tree).as_posix() for file in tree.rglob("*") if file.is_file())
        files.append(LISTING)
        listing = {"course": curriculum.version, "milestones": sorted(numbers), "files": files}
        (tree / LISTING).write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")
        for name in before:
            _target(folder, name).unlink(missing_ok=True)
        for name in files:
            target = _target(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / name, target)
    return _commit(folder, f"Course {curriculum.version}", is_new)


def _target(folder: Path, name: str) -> Path:
    """A file of the export, in folders of its own: links on its way are removed. Raises `NotAnExport`."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        raise NotAnExport(f"{folder / LISTING} lists {name!r}, which is not a file of an export.")
    target = folder
    for part in parts:
        target /= part
        if target.is_symlink():
            target.unlink()
    if target.is_dir():
        raise NotAnExport(f"{target} is a folder, and the export has a file of this name: move it away.")
    return target


def build(curriculum: Curriculum, tree: Path, milestones: list[Milestone]) -> None:
    """Write the files of a repository with these milestones."""
    root, course = curriculum.root, replace(curriculum, milestones=tuple(milestones))
    copied = [*_sources(root, "grader")]
    copied += [root / name for name in _FILES]
    copied += [root / "docs" / f"{page}.md" for page, number in _PAGES.items() if number <= milestones[-1].number]
    for milestone in milestones:
        for place in (f"tests/{milestone.directory}", f"tests/support/{milestone.directory}"):
            copied += _sources(root, place)
        copied += [finale.file_of(course, milestone), *chapters.parts(milestone.directory, root)]
    needed = _with_imports(root, [file for file in copied if file.is_file()])
    if root / "tests" / "corpus" / "__init__.py" in needed:
        needed.update(_sources(root, "tests/corpus"))  # reads its kernels as text
    elif root / "tests" / "oracles" / "by_hand.py" in needed:
        needed.update(root / name for name in _SHOWN)  # likewise
    for file in needed:
        _copy(root, tree, file)
    _pack_interpreter(curriculum, tree / finale.ARCHIVE)
    for path in sorted((root / "grader" / "curriculum").glob("*.toml")):
        if any(path.stem == milestone.directory for milestone in milestones):
            _put(tree / path.relative_to(root), _with_points(stubs.read(path), curriculum))
    _put(tree / "docs" / "glossary.md", chapters.glossary(course))
    _put(tree / "docs" / "questions.md", chapters.questions(course))
    for path in (tree / "docs").glob("*.md"):
        text = handed_out(stubs.read(path), {milestone.number for milestone in milestones})
        _put(path, re.sub(r"\[([^\]]+)\]\(([\w./]+\.md)(#[\w-]*)?\)", partial(_known_link, path.parent), text))
        for image in re.findall(r"images/[\w-]+\.\w+", text):
            _copy(root, tree, root / "docs" / image)
    secret = secret_lines(curriculum)
    for path in (tree / "tests" / "corpus" / "kernels").glob("*.py"):
        _put(path, _without(secret, stubs.read(path)))
    files = [course.file_of(module) for module in course.modules]
    theirs = [file for file in files if not course.is_tool(file)]
    tools = [file for file in [*files, *course.assets] if course.is_tool(file)]
    for file in tools:
        _copy(root, tree, course.toolbox / file)
    if tools and (toolbox_map := curriculum.toolbox / "README.md").is_file():
        _put(tree / "toolbox" / "README.md", _map(stubs.read(toolbox_map), tree / "toolbox" / "mini_triton"))
    for file in theirs:
        source = stubs.read(curriculum.solutions / file)
        _put(tree / SKELETON / file, skeleton(source, curriculum))
        _put(tree / "exercises" / file, stubs.stub_text(source, curriculum))
    for file in (file for file in course.assets if file not in tools):
        for name in (SKELETON, "exercises"):
            _put(tree / name / file, stubs.read(curriculum.solutions / file))
    generated = {f: stubs.read(tree / "exercises" / f) for f in _names(tree / "exercises")}
    _put(tree / "exercises" / stubs.MANIFEST, stubs.manifest(generated))
    if (root / "noxfile.py").is_file():
        _put(tree / "noxfile.py", _noxfile(stubs.read(root / "noxfile.py")))
    project = stubs.read(root / "pyproject.toml")
    _put(tree / "pyproject.toml", project.replace("solutions/mini_triton", "exercises/mini_triton"))
    readme = stubs.read(_HANDOUT / "README.md").replace("{first}", str(milestones[0].number))
    stubbed = [file for milestone in milestones for file in _stubbed(course, milestone)]
    readme = readme.replace("{stubbed}", str(len(stubbed))).replace("{files}", str(len(theirs)))
    _put(tree / "README.md", readme.replace("{milestones}", "\n".join(_rows(course))))
    _put(tree / ".github" / "workflows" / "grade.yml", stubs.read(_HANDOUT / "grade.yml"))


def _pack_interpreter(curriculum: Curriculum, path: Path) -> None:
    """Write the reference's interpreter, which runs the kernels of early milestones, as an archive that nobody reads
    by accident. The archive is the same on every machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for root in (curriculum.solutions, curriculum.toolbox):
            for _, file in finale.interpreter(root):
                name = zipfile.ZipInfo(file.relative_to(root).as_posix())
                archive.writestr(name, stubs.read(file), zipfile.ZIP_DEFLATED)


def handed_out(page: str, numbers: Collection[int]) -> str:
    """A page without the passages for the course itself or for absent milestones, and with those for copies only."""
    page = re.sub(
        r"<!-- milestone (\d+) -->(.*?)<!-- end -->",
        lambda found: found[2] if int(found[1]) in numbers else "",
        page,
        flags=re.DOTALL,
    )
    page = re.sub(r"<!-- not exported -->.*?<!-- exported -->", "", page, flags=re.DOTALL)
    page = re.sub(r"<!-- only exported: (.*?) -->", r"\1", page, flags=re.DOTALL)
    return re.sub(r"\n{3,}", "\n\n", page)


def skeleton(source: str, curriculum: Curriculum) -> str:
    """A module of the reference whose regions hold stubs, between the same markers."""
    lines, stub = source.splitlines(keepends=True), stubs.stub_text(source, curriculum)
    for region in reversed(markers.regions(source)):
        message = json.dumps(f"Task {region.task}: {curriculum.task(region.task).title}", ensure_ascii=False)
        lines[region.code.start - 1 : region.code.stop - 1] = [f"{region.indent}raise NotImplementedError({message})\n"]
    text = "".join(lines)
    assert stubs.stub_text(text, curriculum) == stub
    return text


def secret_lines(curriculum: Curriculum) -> dict[str, str]:
    """The lines that learners write, with their tasks, except for lines that also occur in given code."""
    shown = [stubs.read(curriculum.root / name).splitlines() for name in _SHOWN]
    given = {line.strip() for lines in shown for line in lines}
    found: dict[str, str] = {}
    for module in curriculum.modules:
        source = stubs.read(curriculum.source_of(module))
        lines = [line.strip() for line in source.splitlines()]
        regions = markers.regions(source)
        found |= {lines[number - 1]: region.task for region in regions for number in region.code}
        inside = {number for region in regions for number in region.code}
        given |= {line for number, line in enumerate(lines, 1) if number not in inside}
    return {line: id for line, id in found.items() if len(line) >= SECRET and line not in given}


def _without(secret: Collection[str], text: str) -> str:
    """Kernels without the functions that contain a secret line, and without their callers."""
    lines = text.splitlines(keepends=True)
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    bodies = {
        name: [line.strip() for line in lines[node.lineno - 1 : node.end_lineno]] for name, node in functions.items()
    }
    gone = {name for name, body in bodies.items() if any(line in secret for line in body)}
    while (
        more := {
            name
            for name, node in functions.items()
            if any(isinstance(inner, ast.Name) and inner.id in gone for inner in ast.walk(node))
        }
        - gone
    ):
        gone |= more
    for name in reversed([name for name in functions if name in gone]):
        first = min([functions[name].lineno, *(decorator.lineno for decorator in functions[name].decorator_list)])
        lines[first - 1 : functions[name].end_lineno] = []
    return re.sub(r"\n{4,}", "\n\n\n", "".join(lines)).rstrip() + "\n"


def _sources(root: Path, folder: str) -> Iterator[Path]:
    for file in sorted((root / folder).rglob("*")):
        left_out = file.relative_to(root).as_posix().startswith(_LEFT_OUT) or "__pycache__" in file.parts
        if file.is_file() and not left_out:
            yield file


def _copy(root: Path, tree: Path, file: Path) -> None:
    target = tree / file.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _names(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if file.is_file()]


def _with_points(text: str, curriculum: Curriculum) -> str:
    """A declaration with the tasks' current points."""
    for task in curriculum.tasks:
        pattern = rf'(?m)^(id = "{re.escape(task.id)}"\n(?:(?!\[\[).*\n)*?points = )\d+'
        text = re.sub(pattern, rf"\g<1>{task.points}", text)
    return text


def _noxfile(text: str) -> str:
    """The noxfile with the learner's sessions only."""
    lines = text.splitlines(keepends=True)
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.decorator_list and node.name not in _SESSIONS:
            del lines[node.decorator_list[0].lineno - 1 : node.end_lineno]
    return re.sub(r"\n{4,}", "\n\n\n", "".join(lines)).rstrip() + "\n"


def _stubbed(course: Curriculum, milestone: Milestone) -> list[Path]:
    """The files in which a learner writes."""
    files = map(course.file_of, milestone.modules)
    return [file for file in files if markers.regions(stubs.read(course.original(file)))]


def _map(text: str, package: Path) -> str:
    """The map of the toolbox, with the folders that the copy has."""
    return re.sub(r"(?m)^\| `([\w/]+)/` .*\n", lambda row: row[0] if (package / row[1]).is_dir() else "", text)


def _rows(course: Curriculum) -> Iterator[str]:
    """Each milestone's chapters, the files in which learners write, and the given files that they import."""
    shown: set[Path] = set()
    files_of = {module: course.file_of(module) for module in course.modules}
    given = {module: file for module, file in files_of.items() if not course.is_tool(file)}
    for milestone in course.milestones:
        files = _stubbed(course, milestone)
        used = {given[name] for file in files for name in imported(course.solutions / file) if name in given}
        read = sorted(file for file in used.difference(shown, files) if file.stem != "__init__")
        shown |= {*files, *read}
        parts = [f"[{file.stem}](docs/{file.name})" for file in chapters.parts(milestone.directory, course.root)]
        columns = (parts, *([_link(file) for file in each] for each in (files, read)))
        yield f"| {milestone.number} | {milestone.summary} | {' | '.join(map(', '.join, columns))} |"


def _link(file: Path) -> str:
    return f"[{'/'.join(file.parts[1:])}](exercises/{file.as_posix()})"


def _known_link(folder: Path, link: re.Match[str]) -> str:
    """A link to a page; only its text if the page is not exported."""
    return link[0] if (folder / link[2]).exists() else link[1]


def imported(file: Path) -> set[str]:
    """The modules that a file may import, and the names that it imports from them."""
    return _mentioned(stubs.read(file))[0]


@functools.cache  # asked about the same files for the tests, the table of the README and each part of the course
def _mentioned(source: str) -> tuple[set[str], set[str]]:
    """What `imported` returns for a file with this text, and the file's string constants."""
    names: set[str] = set()
    texts: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
    return names, texts


def _asked(root: Path, file: Path) -> Iterator[Path]:
    """What a test's file asks for by name: modules of the server, as in "tuning.time", and recorded answers."""
    _, texts = _mentioned(stubs.read(file))
    servers = {text.partition(".")[0] for text in texts if re.fullmatch(r"\w+\.\w+", text)}
    for module in (root / _SERVER).glob("*.py"):
        if module.stem in servers:
            yield module
    for record in (root / _RECORDS).glob("*"):
        if {record.name, record.stem} & texts:
            yield record


def _with_imports(root: Path, files: list[Path]) -> set[Path]:
    """The files, and what they need of `tests`, directly or not: imported modules, the server's, recorded answers."""
    found: set[Path] = set()
    while files:
        file = files.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix == ".py" and file.is_relative_to(root / "tests"):
            files += _asked(root, file)
        for name in imported(file) if file.suffix == ".py" else ():
            for end in accumulate(name.split("."), "{}/{}".format) if name.startswith("tests.") else ():
                files += [path for path in (root / f"{end}.py", root / end / "__init__.py") if path.is_file()]
    return found


def _commit(folder: Path, message: str, is_new: bool) -> str:
    """Commit everything that the export wrote, with the author from git's settings, if there is one."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise NotAnExport(f"git {arguments[0]} in {folder} fails: {done.stderr.strip()}")
        return done.stdout

    if is_new:
        git("init", "--quiet", "--initial-branch", "main")
    git("add", "--all", ".")
    if not git("status", "--porcelain"):
        return f"{folder} is up to date."
    known = subprocess.run(["git", "config", "user.email"], cwd=folder, capture_output=True).returncode == 0
    author = () if known else ("-c", "user.name=The course", "-c", "user.email=course@localhost")
    git(*author, "commit", "--quiet", "--message", message)
    return f"{folder} is {'a new repository' if is_new else 'updated'}: {message}."
