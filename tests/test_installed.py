"""The installed compiler: the package is complete, and in an empty folder the commands that the pages print work."""

import doctest
import functools
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from mini_triton.__main__ import COMMANDS
from packaging.requirements import Requirement

from grader.course.curriculum import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SCRIPTS = "Scripts" if os.name == "nt" else "bin"

FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"\b[Ss]ave\b[^`]*`(?P<name>[\w.]+)`[^`]*:\s*\Z")  # the end of the text before a file
INSTALLATION = re.compile(r"`pip install (\.|\"\.\[(?P<extras>[\w,]+)\]\")`")


@dataclass(frozen=True)
class Command:
    """A command, and its output if the page shows it."""

    line: str
    output: str | None = None


@dataclass
class Page:
    """What a page lets its reader install, save and run."""

    extras: tuple[str, ...] | None = None  # None if the page does not say how to install the compiler
    files: dict[str, str] = field(default_factory=dict)
    commands: list[Command] = field(default_factory=list)


def read_page(path: Path) -> Page:
    """The commands of a page that use the compiler, and the files that the page asks its reader to save."""
    text, page = path.read_text(encoding="utf-8"), Page()
    if installation := INSTALLATION.search(text):
        page.extras = tuple(filter(None, (installation["extras"] or "").split(",")))
    for fence in FENCE.finditer(text):
        if saved := SAVED.search(text[: fence.start()].rpartition("\n\n")[0].rpartition("\n\n")[2] + "\n"):
            page.files[saved["name"]] = fence["text"]
        page.commands += filter(lambda command: uses_compiler(command, page), commands_in(fence["kind"], fence["text"]))
    return page


def commands_in(kind: str, text: str) -> Iterator[Command]:
    """The commands of a block: lines of a shell script, or a session with `$ ` before each command."""
    if kind == "sh":
        yield from map(Command, re.split(r"(?<!\\)\n", text.strip()))
    elif kind in ("", "console"):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, output = re.split(r"(?<!\\)\n", part, maxsplit=1)
            yield Command(line, output)


def uses_compiler(command: Command, page: Page) -> bool:
    """Whether a command is `mini-triton`, or Python with a saved file. Profilers and the grader are other tools."""
    words = [word for word in command.line.split() if not re.match(r"[A-Z_]+=", word)]
    return words[:1] == ["mini-triton"] or words[:1] == ["python"] and words[1] in page.files


PRINTED = {path.name: page for path in PAGES if (page := read_page(path)).commands}


# --- the package


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution."""
    if not importlib.util.find_spec("hatchling"):
        pytest.skip("Hatchling, which builds the package, is not installed: pip install hatchling")
    folder = tmp_path_factory.mktemp("packages")
    run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)], ROOT)
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    tree = folder / source.name.removesuffix(".tar.gz")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], tree)
    (wheel,) = folder.glob("*.whl")
    return wheel


def run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel, except for those that describe it."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def test_the_package_is_the_finished_compiler(wheel: Path, tmp_path: Path) -> None:
    """All of its files, and none of the course's; built from a checkout and from a source distribution alike."""
    files: dict[str, bytes] = {}
    for source in (ROOT / "solutions", ROOT / "toolbox"):
        found = (file for file in (source / "mini_triton").rglob("*") if file.is_file())
        files |= {file.relative_to(source).as_posix(): file.read_bytes() for file in found if file.suffix != ".pyc"}
    assert contents(wheel) == files
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], ROOT)
    (direct,) = tmp_path.glob("*.whl")
    assert contents(direct) == files


@pytest.mark.usefixtures("wheel")
def test_an_editable_installation_is_the_learners(tmp_path: Path) -> None:
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel:editable", "-d", str(tmp_path)], ROOT)
    (editable,) = tmp_path.glob("*.whl")
    (paths,) = contents(editable).values()
    assert set(paths.decode().splitlines()) == {str(ROOT), str(ROOT / "exercises")}


# --- an environment


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the installed compiler; it does not see the checkout."""

    folder: Path

    def run(self, line: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a command line in a folder. The output contains everything that a terminal shows."""
        path = os.pathsep.join([str(self.folder / SCRIPTS), os.environ["PATH"]])
        variables = {"PATH": path, "HOME": str(self.folder), "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
        return subprocess.run(
            line, shell=True, cwd=folder, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )


@pytest.fixture(scope="session")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Environment]:
    """Installs the wheel with some extras. What it needs comes from this environment, the rest of which is hidden."""

    @functools.cache
    def make(*extras: str) -> Environment:
        folder = tmp_path_factory.mktemp("-".join(["with", *extras]))
        wanted = sum((PROJECT["optional-dependencies"][extra] for extra in extras), PROJECT["dependencies"])
        libraries = folder / "libraries"
        libraries.mkdir()
        for package in needed(wanted):
            for name in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
                if not (libraries / name).exists():
                    (libraries / name).symlink_to(str(package.locate_file(name)))
        venv.create(folder, symlinks=os.name != "nt")
        python = folder / SCRIPTS / "python"
        places = subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[-1])"], text=True)
        Path(places.strip(), "libraries.pth").write_text(f"{libraries}\n")
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
        run([*pip, "--no-compile", str(wheel)], folder)
        return Environment(folder)

    return make


def needed(requirements: Iterable[str]) -> list[Distribution]:
    """The installed packages that meet these requirements, with the packages that they require."""
    found: dict[str, Distribution] = {}
    waiting = list(map(Requirement, requirements))
    if foreign := [requirement.name for requirement in waiting if not applies(requirement)]:
        pytest.skip(f"{foreign[0]} does not exist for this system")
    while waiting:
        requirement = waiting.pop()
        if requirement.name in found or not applies(requirement):
            continue
        try:
            found[requirement.name] = distribution(requirement.name)
        except PackageNotFoundError:
            pytest.skip(f"{requirement.name} is not installed")
        waiting += map(Requirement, found[requirement.name].requires or ())
    return list(found.values())


def applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


# --- what the pages print


@pytest.mark.parametrize("name", PRINTED)
def test_printed_commands_work(name: str, install: Callable[..., Environment], tmp_path: Path) -> None:
    page = PRINTED[name]
    assert page.extras is not None, f"{name} does not say how to install mini-triton"
    environment = install(*page.extras)
    for file, text in page.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    for command in page.commands:
        done = environment.run(command.line, tmp_path)
        if command.output is None:
            assert not done.returncode, f"{command.line}\n{done.stdout}"
        else:
            is_same = doctest.OutputChecker().check_output(command.output, done.stdout, doctest.ELLIPSIS)
            assert is_same, f"{command.line}\nThe page shows:\n{command.output}\nThe command prints:\n{done.stdout}"


def test_pages_name_commands_that_exist() -> None:
    for path in [*PAGES, *(ROOT / "solutions").rglob("*.py"), *(ROOT / "toolbox").rglob("*.py")]:
        for name in re.findall(r"(?:`|^ *|\$ )mini-triton ([a-z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert name in COMMANDS, f"{path.name}: `mini-triton {name}`"


# --- what a small installation does

ADD = """
import {compiler} as triton
import {compiler}.language as tl
import numpy as np


@triton.jit
def add(out, x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


if __name__ == "__main__":
    out = np.zeros(100)
    add[(2,)](out, np.arange(100.0), np.ones(100), 100, BLOCK=64)
    print(out.sum())
"""
SIGNATURE = '"*fp64, *fp64, *fp64, i32, 64"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with kernels that import our compiler, real Triton and PyTorch."""
    (tmp_path / "ours.py").write_text(ADD.format(compiler="mini_triton"))
    (tmp_path / "theirs.py").write_text(ADD.format(compiler="triton"))
    (tmp_path / "torches.py").write_text("import torch\n" + ADD.format(compiler="mini_triton"))
    return tmp_path


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("mini-triton --help", "explore"),
        ("mini-triton --version", f"mini-triton {PROJECT['version']}, "),
        ("python -m mini_triton --version", f"mini-triton {PROJECT['version']}, "),
        ("python ours.py", "5050.0"),
        ("mini-triton run theirs.py", "5050.0"),
        ("mini-triton run -m theirs", "5050.0"),
        ("mini-triton sanitize theirs.py", "5050.0"),
        (f"mini-triton coalescing theirs.py add --signature {SIGNATURE}", "theirs.py:10  store"),
        (f"mini-triton coalescing ours.py add --signature {SIGNATURE}", "ours.py:10  store"),
        (f"mini-triton explore ours.py --signature {SIGNATURE}", "add.html: "),
    ],
)
def test_without_pytorch_and_triton(line: str, output: str, folder: Path, install: Callable[..., Environment]) -> None:
    done = install().run(line, folder)
    assert not done.returncode and output in done.stdout, done.stdout


def test_pytorch_finds_the_back_end(install: Callable[..., Environment], tmp_path: Path) -> None:
    function = "torch.compile(lambda x: x.exp() + 1, backend='mini_triton')"
    line = f'python -c "import torch; print({function}(torch.zeros(3)).tolist())"'
    assert install("torch").run(line, tmp_path).stdout == "[2.0, 2.0, 2.0]\n"


@pytest.mark.parametrize(
    ("line", "package"),
    [
        (f"mini-triton compile ours.py -n add -t cuda:90 -g 1,1,1 --signature {SIGNATURE}", "triton"),
        ("mini-triton run torches.py", "torch"),
        (f"mini-triton explore torches.py --signature {SIGNATURE}", "torch"),
        (f"mini-triton coalescing torches.py add --signature {SIGNATURE}", "torch"),
        ('mini-triton explore ours.py --launch "add[(1,)](torch.ones(4))"', "torch"),
        ('mini-triton bench torches.py --launch "add[(1,)](torch.ones(4))"', "torch"),
        ("""mini-triton emulate ours.py --launch "add[(1,)](*[np.ones(4)] * 3, 4, BLOCK=4)" """, "triton"),
    ],
)
def test_a_missing_package_is_named(line: str, package: str, folder: Path, install: Callable[..., Environment]) -> None:
    done = install().run(line, folder)
    assert done.returncode and f"pip install {package}" in done.stdout, done.stdout
    assert "Traceback" not in done.stdout or line.startswith("mini-triton run")  # which ends as Python does
