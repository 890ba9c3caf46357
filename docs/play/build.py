"""Build the page `play/` of the site: a learner's copy of milestone 0, Pyodide and CodeMirror, all of them files.

`npm ci` fetches Pyodide and CodeMirror in the versions of package-lock.json. Everything that is built is kept in
.nox/play/, by a hash of its sources, so that later builds copy files only.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from grader.course import stubs
from grader.course.curriculum import ROOT, load
from grader.teaching import export

HERE = Path(__file__).parent
KEPT = ROOT / ".nox" / "play"
MILESTONES = (0,)
PAGE = ("index.html", "play.css", "main.js", "process.js", "beside.js", "worker.js", "add.json")
PACKAGES = ("hypothesis", "iniconfig", "packaging", "pluggy", "pygments", "pytest", "sortedcontainers")
MODULES = {
    **{f"@codemirror/{name}": "dist/index.js" for name in ("state", "view", "language", "commands", "autocomplete")},
    **{f"@codemirror/{name}": "dist/index.js" for name in ("lang-python", "search", "streamparser")},
    **{f"@lezer/{name}": "dist/index.js" for name in ("common", "highlight", "lr", "python")},
    **{"style-mod": "src/style-mod.js", "w3c-keyname": "index.js", "crelt": "index.js"},
    "@marijn/find-cluster-break": "src/index.js",
}
"""CodeMirror's modules and their files; the page's import map names them."""
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip")
_LEFT_OUT = re.compile(
    r"tests/oracles/server/|.*\.zip$|images/"
    r"|(docs/(?!m00_first))|(\.devcontainer|\.github)/|Containerfile|compose\.yaml|noxfile\.py|CHANGELOG\.md"
)
_USED_OF_PYGMENTS = re.compile(
    r"pygments/(\w+\.py|(formatters|lexers|styles|filters)/(__init__|_mapping|terminal|python|diff|default)\.py)$"
)


class Missing(Exception):
    """Something that the page is built with is not here."""


def build(site: Path, chapter: str) -> None:
    """Write `play/` in the site, with the chapter's HTML in it. Raises `Missing`."""
    kept = _kept()
    target = site / "play"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(kept, target)
    for name in PAGE:
        shutil.copyfile(HERE / name, target / name)
    page = (HERE / "index.html").read_text(encoding="utf-8")
    imports = json.dumps({"imports": {name: f"./modules/{_flat(name)}" for name in MODULES}})
    page = page.replace("<!-- imports -->", imports).replace("<!-- chapter -->", _from_here(chapter))
    (target / "index.html").write_text(page, encoding="utf-8")
    (target / "tasks.json").write_text(json.dumps(tasks()), encoding="utf-8")
    files = sorted(file.relative_to(target).as_posix() for file in target.rglob("*") if file.is_file())
    worker = (HERE / "sw.js").read_text(encoding="utf-8")
    digest = _digest([target / name for name in files])
    worker = worker.replace("VERSION_OF_THE_FILES", digest).replace('["FILES"]', json.dumps(["./", *files]))
    (target / "sw.js").write_text(worker, encoding="utf-8")


def tasks() -> dict[str, object]:
    """The stub, and the tasks as `grader.page.parent.states` lists them for somebody who begins."""
    curriculum = load(ROOT)
    chosen = [task for number in MILESTONES for task in curriculum.milestone(number).tasks]
    rows = {
        task.id: {"title": task.title, "minutes": task.minutes, "points": task.points, "last": "", "state": ""}
        for task in chosen
    }
    source = stubs.read(curriculum.solutions / "first" / "slice.py")
    return {"stub": stubs.stub_text(source, curriculum), "tasks": rows}


def modules() -> Path:
    """The folder with the npm packages of package-lock.json. Raises `Missing`."""
    lock = HERE / "package-lock.json"
    folder = KEPT / f"npm-{_digest([lock])}"
    if folder.is_dir():
        return folder / "node_modules"
    if not (npm := shutil.which("npm")) or not shutil.which("node"):
        raise Missing("Node.js with npm is not installed")
    with _new(folder) as unfinished:
        for name in ("package.json", lock.name):
            shutil.copyfile(HERE / name, unfinished / name)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=unfinished, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"`npm ci` fails: {done.stderr.strip().splitlines()[-1:]}")
    return folder / "node_modules"


class _new:
    """A new folder that gets its name once it is whole, because other builds may run at the same time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        KEPT.mkdir(parents=True, exist_ok=True)
        self.unfinished = Path(tempfile.mkdtemp(dir=KEPT))

    def __enter__(self) -> Path:
        return self.unfinished

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and not self.folder.is_dir():
            self.unfinished.chmod(0o755)
            self.unfinished.rename(self.folder)
        else:
            shutil.rmtree(self.unfinished)


def _kept() -> Path:
    """The folder with the files that take long to make: Pyodide, CodeMirror, and the archive of the course."""
    npm = modules()
    with tempfile.TemporaryDirectory(prefix="kata-play-") as temporary:
        tree = Path(temporary, "course")
        course(tree)
        sources = sorted(file for file in tree.rglob("*") if file.is_file())
        names = [file.relative_to(tree).as_posix() for file in sources]
        folder = KEPT / f"files-{_digest([*sources, Path(__file__), HERE / 'compile.mjs'], names, npm.parent.name)}"
        if folder.is_dir():
            return folder
        with _new(folder) as unfinished:
            (unfinished / "modules").mkdir()
            for name, source in MODULES.items():
                shutil.copyfile(npm / name / source, unfinished / "modules" / _flat(name))
            python = unfinished / "python"
            python.mkdir()
            for name in PYODIDE:
                shutil.copyfile(npm / "pyodide" / name, python / name)
            packed = gzip.compress((npm / "pyodide" / "pyodide.asm.wasm").read_bytes(), 9, mtime=0)
            (python / "pyodide.asm.wasm.gz").write_bytes(packed)  # a third of the size on every server
            (python / "pyodide-lock.json").write_text(_lock(npm / "pyodide" / "pyodide-lock.json"), encoding="utf-8")
            archive = unfinished / "course.zip"
            with zipfile.ZipFile(archive, "w") as packing:
                for file, name in zip(sources, names, strict=True):
                    packing.write(file, name)
            script = shutil.copyfile(HERE / "compile.mjs", npm.parent / "compile.mjs")  # beside its packages
            subprocess.run(["node", script, python / "python_stdlib.zip", archive], check=True)
    return folder


def course(tree: Path, with_packages: bool = True) -> None:
    """Write a learner's copy of the course; `.site/` and `.absent/` have the packages that its tests need."""
    curriculum = load(ROOT)
    export.build(curriculum, tree, [curriculum.milestone(number) for number in MILESTONES])
    for path in sorted(tree.rglob("*")):
        if path.is_file() and _LEFT_OUT.match(path.relative_to(tree).as_posix()):
            path.unlink()
    page = ROOT / "grader" / "page"  # not in exports
    left_out = shutil.ignore_patterns("__pycache__", "small_numpy")
    shutil.copytree(page, tree / "grader" / "page", ignore=left_out)
    if not with_packages:
        return
    for package in PACKAGES:
        for name, source in _installed(package):
            target = tree / ".site" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    absent = tree / ".absent"  # found after an installed NumPy
    shutil.copytree(page / "small_numpy", absent / "numpy", ignore=left_out)
    (absent / "numpy-0.dist-info").mkdir()
    (absent / "numpy-0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0\n")


def _installed(package: str) -> Iterator[tuple[str, Path]]:
    """The files of an installed package that a page needs. Its entry points are left out: pytest would load them."""
    for file in metadata.distribution(package).files or ():
        name = file.as_posix()
        if name.startswith("pygments/") and not _USED_OF_PYGMENTS.match(name):
            continue
        if file.suffix == ".py" and not name.startswith("..") or name.endswith(".dist-info/METADATA"):
            yield name, Path(str(file.locate()))


def _lock(file: Path) -> str:
    """Pyodide's list of packages, with NumPy only."""
    lock = json.loads(file.read_text(encoding="utf-8"))
    return json.dumps(lock | {"packages": {"numpy": lock["packages"]["numpy"]}})


def _flat(module: str) -> str:
    """The name of a module's file."""
    return f"{module.lstrip('@').replace('/', '-')}.js"


def _from_here(chapter: str) -> str:
    """The chapter's HTML in a folder below its own."""
    return re.sub(r'\b(href|src)="(?![a-z]+:|#|/)', r'\1="../', chapter)


def _digest(files: list[Path], *more: object) -> str:
    """A hash of these files."""
    digest = hashlib.sha256(repr(more).encode())
    for file in files:
        digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
