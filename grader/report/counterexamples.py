"""A failing case as a small file that the learner can run, and step through in a debugger."""

from __future__ import annotations

import ast
from pathlib import Path

from grader.course import syntax
from grader.report.verdicts import Report, TestResult, Verdict

# The names that a `repr` of test data may use, because hypothesis prints special floats by these names.
_NAMES = {"inf": "from math import inf", "nan": "from math import nan"}
_PLAIN = (
    ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name, ast.Load,
    ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub,
)  # fmt: skip

_CALL = '''"""A failing case of {name}.

Run this file, or set a breakpoint in your code and debug this file:

    {command}
"""

import sys
from pathlib import Path
{imports}
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.learner.reproduce import test_function

test = test_function({name!r}, {settings})
test({arguments})
print("This case passes now.")
'''

_REPEAT = '''"""The call that failed in {name}.

The test runs up to its failure, and the last line makes that call once more. Run this file, or set a breakpoint on
that line and step into your code:

    {command}
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.learner.reproduce import failing_call, test_function

function, arguments, options = failing_call(test_function({name!r}, {settings}))
print(repr(function(*arguments, **options)))
'''

_RERUN = '''"""Runs {name} again, with the same random choices.

Its arguments cannot be written down as plain Python, so pytest runs the whole test.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.learner.reproduce import rerun

rerun({name!r}, {settings})
'''


def write(report: Report, folder: Path) -> None:
    """Write a file for every failed test, and note its path in the report. `folder` is two levels below the root."""
    root = folder.parent.parent
    for milestone in report.milestones:
        settings: dict[str, str | int] = {
            "target": milestone.id,
            "impl": report.impl,
            "fill": report.fill,
            "device": report.device,
        }
        for task in milestone.tasks:
            for test in task.tests:
                if "::" not in test.name:
                    continue  # a module that cannot be imported has nothing to call
                path = folder / f"{test.name.rpartition('/')[2].replace('.py::', '__')}.py"
                path.unlink(missing_ok=True)
                if test.ran and test.verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY):
                    folder.mkdir(parents=True, exist_ok=True)
                    test.reproduce = path.relative_to(root).as_posix()
                    path.write_text(_text(test, settings, report.seed, root), encoding="utf-8")


def _text(test: TestResult, settings: dict[str, str | int], seed: int, root: Path) -> str:
    shown = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    command = f"python {test.reproduce}"
    if not takes_arguments(test.name, root):
        if test.counterexample and test.verdict in (Verdict.FAIL, Verdict.ERROR):
            return _REPEAT.format(name=test.name, command=command, settings=shown)
        return _CALL.format(name=test.name, command=command, imports="", settings=shown, arguments="")
    imports = _imports(test.counterexample)
    if imports is None or not _has_all_arguments(test, root):
        return _RERUN.format(name=test.name, settings=f"{shown}, {seed=}")
    arguments = test.counterexample
    if "\n" in arguments:
        arguments = "\n" + "".join(f"    {text.strip()}\n" for text in arguments.splitlines())
    return _CALL.format(name=test.name, command=command, imports=imports, settings=shown, arguments=arguments)


def takes_arguments(test: str, root: Path) -> bool:
    """Whether a test needs arguments other than `device`, which `reproduce` passes."""
    found = _function(test, root)
    return not found or ast.unparse(found.args) not in ("", "device: str") or bool(found.decorator_list)


def _has_all_arguments(test: TestResult, root: Path) -> bool:
    """Whether the case has all arguments except `device`. A case has no pytest fixtures, and no data drawn later."""
    found = _function(test.name, root)
    asked = {argument.arg for argument in ast.walk(found.args) if isinstance(argument, ast.arg)} if found else set()
    call = syntax.parse(f"f({test.counterexample}\n)").body[0]
    return asked <= {node.arg for node in ast.walk(call) if isinstance(node, ast.keyword)} | {"device"}


def _function(test: str, root: Path) -> ast.FunctionDef | None:
    """A test's code; None if another file defines the test, as in `test_x = shared.test_x`."""
    file, _, name = test.partition("::")
    try:
        tree = syntax.parse((root / file).read_bytes())
    except (OSError, SyntaxError):
        return None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[-1] if found else None


def _imports(arguments: str) -> str | None:
    """The imports that the arguments need; None if they are not plain keyword arguments."""
    try:
        (statement,) = syntax.parse(f"f({arguments}\n)").body
        call = statement.value if isinstance(statement, ast.Expr) else None
    except (SyntaxError, ValueError):
        return None
    if not isinstance(call, ast.Call) or call.args or not call.keywords:
        return None
    nodes = [node for keyword in call.keywords for node in ast.walk(keyword.value)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not all(isinstance(node, _PLAIN) for node in nodes) or not names <= _NAMES.keys():
        return None
    return "".join(f"{_NAMES[name]}\n" for name in sorted(names))
