"""A module that cannot be imported is named, with its line; tests that do not need it are still judged."""

import re
import runpy
import subprocess
import sys
from unittest.mock import MagicMock

import pytest

from grader.child import outcome, overlay
from grader.course import stubs
from grader.course.curriculum import ROOT, load
from grader.parent.grading import GraderFailed
from grader.report.verdicts import Verdict
from tests.grader.small_course import Course, verdicts

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.mark.parametrize(
    "code, verdict, message, line",
    [
        ("def add(:\n", Verdict.ERROR, "SyntaxError", 1),
        ("x = 1\nraise ValueError('no')\n", Verdict.ERROR, "ValueError: no", 2),
        ("import nowhere\n", Verdict.ERROR, "No module named 'nowhere'", 1),
        ("import sys\nsys.exit(0)\n", Verdict.ERROR, "sys.exit(0)", 2),
        ("import os\nos._exit(0)\n", Verdict.ERROR, "exit code 0 while importing tiny.number", None),
        ("import pytest\n", Verdict.ERROR, "imports pytest, which is refused", 1),
        ("import sys\ndef add(a, b): sys.modules\n", Verdict.ERROR, "number.py:2 looks into sys.modules", None),
        ("from sys import modules\n", Verdict.ERROR, "number.py:1 looks into sys.modules", None),
        pytest.param("while True: len([])\n", Verdict.TIMEOUT, "still running after 1 seconds", 1, marks=POSIX),
        pytest.param("x = bytearray(8 << 30)\n", Verdict.MEMORY, "memory limit", 1, marks=POSIX),
        ("raise NotImplementedError('Task 1.1: Add')\n", Verdict.NOT_IMPLEMENTED, "Task 1.1: Add", 1),
        ("x = 1\0\n", Verdict.ERROR, "null bytes", None),
        ("double = add = None\ndel add\n", Verdict.ERROR, "cannot import name 'add'", None),
    ],
)
def test_a_module_that_cannot_be_imported(
    solved: Course, code: str, verdict: Verdict, message: str, line: int | None
) -> None:
    solved.write("exercises/tiny/number.py", code)
    results = solved.grade()
    result = results["test_property"]
    assert result.verdict is verdict, result
    assert message in result.message
    file = "exercises/tiny/number.py"
    assert result.location == (f"{file}:{line}" if line else file)
    assert results["test_shout"].verdict is Verdict.PASS


def test_a_missing_package_is_not_the_learners_fault(solved: Course) -> None:
    """Neither in a module nor in a function; any other package is the learner's business."""
    solved.write("exercises/tiny/number.py", "raise ModuleNotFoundError('no torch', name='torch.fx')\n")
    result = solved.grade()["test_property"]
    assert (result.verdict, result.location, result.ran) == (Verdict.UNAVAILABLE, "", False)
    assert f"torch is not installed in {sys.executable}" in result.message and "pip install torch" in result.message
    solved.write(
        "exercises/tiny/number.py",
        """
        try:
            raise ModuleNotFoundError('no torch', name='torch')
        except ModuleNotFoundError as error:
            raise SystemExit('install torch') from error
        """,
    )
    assert solved.grade()["test_property"].verdict is Verdict.UNAVAILABLE, "the module advises to install it"
    hidden = outcome.of_test(ModuleNotFoundError("No module", name="numpy.linalg"), solved.grading().plan)
    assert hidden.verdict is Verdict.FAIL, "NumPy is here: a test hides it"


@POSIX
def test_no_time_limit_runs_while_a_library_is_loaded(solved: Course) -> None:
    """However slow the machine: an import that ends half-way leaves a library that cannot be used any more."""
    solved.write("slow.py", "import time\ntime.sleep(1.5)\n")  # the limit of an import is 1 second here
    solved.write("exercises/tiny/text.py", "import slow\ndef shout(text): return text.upper() + '!'\n")
    assert solved.grade()["test_shout"].verdict is Verdict.TIMEOUT
    path = solved.root / "grader/curriculum/m01_numbers.toml"
    path.write_text(f'libraries = ["slow", "absent"]\n{path.read_text()}')
    assert solved.grade()["test_shout"].verdict is Verdict.PASS


def test_a_broken_module_that_no_test_imports(solved: Course) -> None:
    """It costs the tasks that are written in it, or the first one if it was given."""
    solved.write("tests/m01_numbers/test_1_3_shout.py", "def test_shout(): assert True\n")
    solved.write("exercises/tiny/text.py", "1 / 0\n")
    solved.write("solutions/tiny/given.py", "")
    solved.write("exercises/tiny/given.py", "import sys; sys.exit()\n")
    path = solved.root / "grader/curriculum/m01_numbers.toml"
    path.write_text(path.read_text().replace('"tiny.text"', '"tiny.text", "tiny.given"'))
    grading = solved.grading()
    grading.run()
    tasks = {task.id: task for task in grading.milestone_result().tasks}
    assert {id: task.verdict for id, task in tasks.items()} == {
        "1.1": Verdict.ERROR,
        "1.2": Verdict.PASS,
        "1.3": Verdict.ERROR,
    }
    assert [(test.name, test.location) for test in tasks["1.3"].tests] == [
        ("tests/m01_numbers/test_1_3_shout.py::test_shout", ""),
        ("import tiny.text", "exercises/tiny/text.py:1"),
    ]
    assert tasks["1.1"].tests[-1].message == "tiny.given cannot be imported: The code calls sys.exit(None)."


def test_a_broken_file_of_tests_costs_its_own_task(solved: Course) -> None:
    path = solved.root / "tests/m01_numbers/test_1_2_double.py"
    path.write_text(path.read_text() + "\n\nassert double(1) == 3\n")
    results = solved.grade()
    assert {name: result.verdict for name, result in results.items() if result.verdict is not Verdict.PASS} == {
        "test_double": Verdict.ERROR,
        "test_zero": Verdict.ERROR,
    }


def test_a_broken_conftest_is_the_graders_failure(solved: Course) -> None:
    solved.write("tests/conftest.py", "raise RuntimeError\n")
    with pytest.raises(GraderFailed, match="python -m pytest tests/m01_numbers/test_1_1_add.py"):
        solved.grade()


def test_what_is_missing_or_of_a_later_milestone_is_not_filled(solved: Course) -> None:
    solved.edit("tiny/number.py", "    return a + b", "    from tiny.chain import total\n    return total([a, b])")
    result = solved.grade()["test_property"]
    assert (result.verdict, result.message) == (Verdict.NOT_IMPLEMENTED, "Task 2.1: Sum")
    (solved.root / "exercises/tiny/number.py").unlink()
    results = solved.grade()
    assert results["test_property"].verdict is Verdict.ERROR
    message = "there is no file exercises/tiny/number.py; `python -m grader reset exercises/tiny/number.py` restores it"
    assert message in results["test_property"].message
    assert results["test_shout"].verdict is Verdict.PASS
    solved.write("exercises/tiny/__init__.py", "1 / 0\n")
    results = solved.grade()
    assert set(verdicts(results).values()) == {Verdict.ERROR}
    assert "ZeroDivisionError" in results["test_shout"].message


def test_the_learners_own_modules(solved: Course) -> None:
    solved.write("exercises/tiny/helpers/plus.py", "def plus(a, b):\n    return a + b\n")
    solved.write("exercises/tiny/unused.py", "raise SystemExit\n")
    solved.edit("tiny/number.py", "    return a + b", "    from tiny.helpers.plus import plus\n    return plus(a, b)")
    assert set(verdicts(solved.grade()).values()) == {Verdict.PASS}


def test_whose_code_runs(solved: Course) -> None:
    def origins(impl: overlay.Impl, fill: overlay.Impl, milestone: int) -> dict[str, str]:
        plan = overlay.plan(solved.curriculum, {milestone}, impl, fill)
        return {name: source.origin for name, source in plan.sources.items()}

    first = ("tiny", "tiny.number", "tiny.text")
    assert origins("learner", "reference", 1) == dict.fromkeys(first, "learner") | {"tiny.chain": "stub"}
    assert origins("reference", "learner", 1) == dict.fromkeys(first, "reference") | {"tiny.chain": "stub"}
    assert origins("learner", "reference", 2) == dict.fromkeys(first, "reference") | {"tiny.chain": "learner"}
    assert origins("reference", "learner", 2) == dict.fromkeys(first, "learner") | {"tiny.chain": "reference"}
    assert set(origins("learner", "learner", 2).values()) == {"learner"}


def test_the_current_file_runs(solved: Course) -> None:
    """Two versions of the same length within a second: cached bytecode would be the old one's."""
    solved.grade()
    solved.edit("tiny/text.py", '"!"', '"?"')
    assert solved.grade()["test_shout"].verdict is Verdict.FAIL


REACHES = (
    "import solutions.tiny.text",
    "from solutions.tiny import text",
    "import grader",
    "from tests import conftest",
    "import _pytest",
    "import hypothesis",
    "import triton",
    "import importlib; importlib.import_module('pytest')",
    "import importlib; importlib.import_module('solutions.tiny.text')",
    "__import__('triton')",
    "exec('import pytest')",
    "import importlib.util; importlib.util.find_spec('triton')",
    "import runpy; runpy.run_module('solutions.tiny.text')",
    "import runpy; runpy.run_module('tests.conftest')",
    "import pkgutil; pkgutil.resolve_name('tests.conftest')",
    "import pathlib; pathlib.Path(TESTS, 'conftest.py').read_text()",
    "open(REFERENCE)",
    "import pathlib; pathlib.Path(REFERENCE).read_text()",
    "import os; os.open(REFERENCE, os.O_RDONLY)",
    "import os; os.chdir('/'); open(os.path.relpath(REFERENCE))",
    "import shutil; shutil.copy(REFERENCE, '/tmp')",
    "import os; os.symlink(REFERENCE, REFERENCE + '.link'); open(REFERENCE + '.link')",
    "import os; os.system('true')",
    "import subprocess; subprocess.run(['true'])",
    "import os; os.fork()",
)


def test_out_of_reach(solved: Course) -> None:
    attempt = "    try:\n        {}\n    except (ImportError, PermissionError): refused += 1\n"
    attempts = "".join(attempt.format(reach) for reach in REACHES)
    solved.write(
        "exercises/tiny/text.py",
        f"REFERENCE = {str(solved.root / 'solutions/tiny/text.py')!r}\nTESTS = {str(solved.root / 'tests')!r}\n"
        f"def shout(text):\n    refused = 0\n{attempts}"
        f"    assert refused == {len(REACHES)}\n    return text.upper() + '!'\n",
    )
    result = solved.grade()["test_shout"]
    assert result.verdict is Verdict.PASS, result


def test_given_code_is_not_guarded_until_it_is_edited(solved: Course) -> None:
    """It may look where learners' code may not."""
    solved.write("solutions/tiny/__init__.py", '"""A tiny package."""\nimport sys\nfound = sys.modules\n')
    stubs.write(solved.curriculum, force=True)
    assert solved.grade()["test_shout"].verdict is Verdict.NOT_IMPLEMENTED
    solved.edit("tiny/__init__.py", "found", "here")
    assert "__init__.py:3 looks into sys.modules, which is refused" in solved.grade()["test_shout"].message


def test_the_sources_of_a_graded_package_are_found_without_imports() -> None:
    """Keys of kernels hash every file, even of packages whose libraries are not installed."""
    program = (
        "import sys; from grader.child import overlay; from grader.course.curriculum import load\n"
        "overlay.install(overlay.plan(load(), {7}, 'reference')); from mini_triton.runtime import keys\n"
        "files = list(keys.source_files())\n"
        "print(any('fusion' in file.parts for file in files), 'mini_triton.fusion' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        ("", ["triton"]),
        ("milestone7", ["triton"]),
        ("8.2", ["triton", "torch"]),
        ("kernels", ["triton", "torch"]),
        ("watch m13", ["triton", "torch", "numba"]),
        ("tensor_cores", ["triton", "torch", "numba"]),
        ("all", ["triton", "torch", "numba"]),
        ("hint 8.2", ["triton"]),
        ("list --route gpu", ["triton"]),
        ("m99", ["triton"]),
        ("kernel", ["triton"]),
    ],
)
def test_nox_installs_the_judges_of_the_targets(words: str, extras: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It installs nothing large for a misspelled target."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(sys.modules, "nox", MagicMock())
    assert runpy.run_path("noxfile.py")["judges"](words.split()) == extras


@pytest.mark.parametrize("library", ["torch", "numba"])
def test_the_commands_of_a_milestone_install_its_judges(library: str) -> None:
    """`nox -s grade -- milestone6` does not install PyTorch, so no test of milestone 6 may ask it."""
    first = int(re.findall(rf'"{library}": (\d+)', (ROOT / "noxfile.py").read_text(encoding="utf-8"))[0])
    judges = ("oracles import pytorch", "oracles import interpreter") if library == "torch" else ()
    for milestone in (milestone for milestone in load().milestones if milestone.number < first):
        folders = (ROOT / "tests" / milestone.directory, ROOT / "tests" / "support" / milestone.directory)
        for file in (file for folder in folders for file in folder.rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            assert not any(words in text for words in (f"import {library}", *judges)), f"{file} asks {library}"
