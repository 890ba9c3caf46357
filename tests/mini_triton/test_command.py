"""The command `mini-triton`: its help, what it refuses, and what it says if something is missing."""

import os
import re
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import mini_triton
import pytest
from mini_triton.__main__ import COMMANDS, main
from mini_triton.tools.loading import load_file

from grader.course.curriculum import ROOT
from tests.support.trees import unsolved

HEAVY = ("torch", "triton", "numba", "numpy")
KERNEL = ROOT / "solutions/kernels/vector_add.py"
SCRIPT = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at))


double[(1,)](np.ones(8), BLOCK=8)
"""
SIGNATURE = ("--signature", "*fp32:16, *fp32:16, *fp32:16, i32, 1024")


def start(arguments: list[str], code: str = "", path: Path = ROOT / "solutions") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, after some code."""
    program = f"import sys\n{code}\nfrom mini_triton.__main__ import main\nsys.exit(main())"
    environment = os.environ | {"PYTHONPATH": str(path)}
    return subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True)


def test_help_lists_every_command_and_loads_nothing() -> None:
    code = f"import atexit\natexit.register(lambda: print('loaded:', {{*sys.modules}} & {{*{HEAVY}}}))"
    done = start(["--help"], code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "loaded: set()" in done.stdout
    for name, (_, text) in COMMANDS.items():
        assert f"  {name:<12}{text}\n" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_under_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: mini-triton {name} ")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert mini_triton.__version__ in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["exlpore", "kernel.py"], "there is no command 'exlpore'; did you mean explore?"),
        (["coalesce"], "did you mean coalescing?"),
        (["--nothing"], "required: COMMAND"),
        (["run", "nowhere.py"], "nowhere.py"),
        (["sanitize", "-m"], "name a script, or a module after -m"),
        (["kernel.py"], "name a command before the file, such as `mini-triton run kernel.py`"),
        (["explore", "nowhere.py", *SIGNATURE], "nowhere.py"),
        (["coalescing", "nowhere.py", "add", *SIGNATURE], "nowhere.py"),
        (["compile", "nowhere.py", "-n", "add", "-t", "cuda:90", "-g", "1, 1, 1", *SIGNATURE], "nowhere.py"),
        (
            ["compile", str(KERNEL), "-n", "add", "-t", "cuda:90", "-g", "1, 1, 1", *SIGNATURE],
            "there is no kernel add; the file has add_kernel",
        ),
        (["compile", str(KERNEL), "-n", "add_kernel", "-t", "sm_90", "-g", "1, 1, 1", *SIGNATURE], "not 'sm_90'"),
        (["link", "nowhere.h", "-o", "add"], "nowhere.h"),
        (["link", str(KERNEL), "-o", "add"], "there is no kernel in these headers"),
    ],
)
def test_wrong_usage_is_explained(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("usage: mini-triton")
    assert message in said


def test_an_unknown_kind_of_defect_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('runs')\n")
    done = start(["run", "--sanitize=race", str(script)])
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("usage: ") and done.stderr.endswith("overflow, division, not race\n")


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("x = 1\ndef kernel(x:\n", ValueError, "kernel.py:2: SyntaxError: '(' was never closed"),
        ("x = 1\nimport no_such_package\n", ModuleNotFoundError, "kernel.py:2: No module named 'no_such_package'"),
        ("def f():\n    return [][0]\n\nf()\n", ValueError, "kernel.py:2: IndexError: list index out of range"),
    ],
)
def test_an_error_in_a_users_file_has_its_line(
    source: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(source)
    with pytest.raises(error, match=re.escape(message)):
        load_file(file)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("explore", ["--launch", "f()"]),
        ("coalescing", ["kernel", *SIGNATURE]),
        ("emulate", ["--launch", "f()"]),
        ("bench", ["--launch", "f()"]),
        ("compile", ["-n", "kernel", "-t", "cuda:90", "-g", "1, 1, 1", *SIGNATURE]),
    ],
)
def test_commands_show_it_without_a_traceback(command: str, arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text("import no_such_package\n")
    done = start([command, str(file), *arguments])
    assert done.returncode in (1, 2) and done.stdout == ""
    assert "kernel.py:1: No module named 'no_such_package'" in done.stderr and "Traceback" not in done.stderr


def test_a_missing_package_is_named_with_its_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Hidden:
        @staticmethod
        def find_spec(name: str, *rest: object) -> ModuleSpec | None:
            if name == "torch":
                raise ModuleNotFoundError("No module named 'torch'", name="torch")
            return None

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Hidden, *sys.meta_path])
    file = tmp_path / "kernel.py"
    file.write_text("import torch\n")
    assert main(["explore", str(file), *SIGNATURE]) == 1
    assert "torch is not installed: run `pip install torch`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("milestone", "command"),
    [(5, "run"), (6, "run"), (7, "sanitize"), (5, "coalescing"), (9, "coalescing"), (10, "compile"), (7, "explore")],
)
def test_an_unsolved_task_is_named(milestone: int, command: str, tmp_path: Path) -> None:
    """In a tree in which one milestone is not solved yet, the command names a task of it; no traceback."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    arguments = {
        "run": [str(script)],
        "sanitize": [str(script)],
        "coalescing": [str(KERNEL), "add_kernel", *SIGNATURE],
        "compile": [str(KERNEL), "-n", "add_kernel", "-t", "cuda:90", "-g", "1, 1, 1", *SIGNATURE],
        "explore": [str(KERNEL), "--launch", "add(np.ones(4, np.float32), np.ones(4, np.float32))"],
    }[command]
    done = start([command, *arguments], path=unsolved([milestone], tmp_path / "tree"))
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"mini-triton {command}: task {milestone}.")
    assert " is not written yet: " in done.stderr
