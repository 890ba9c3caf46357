"""Run one test again, in this process or through pytest: the files under `.kata/counterexamples/` call this."""

from __future__ import annotations

import functools
import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from grader.child import overlay, tracebacks
from grader.course.curriculum import ROOT, load


def test_function(name: str, *, target: str, impl: overlay.Impl, fill: overlay.Impl, device: str) -> Callable[..., Any]:
    """The test with this name, in pytest's form. It runs the modules with which it was graded.

    A property test is returned without hypothesis, so that a caller can pass the failing arguments.
    """
    curriculum = load()
    milestones = {task.milestone for task in curriculum.resolve([target])}
    overlay.install(overlay.plan(curriculum, milestones, impl, fill))
    if impl == "learner":
        tracebacks.hide(curriculum.solutions)
    file, _, function = name.partition("::")
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    test = getattr(module, function)
    if hasattr(test, "hypothesis"):
        test = test.hypothesis.inner_test
    if "device" in inspect.signature(test).parameters:  # the one fixture that graded tests use
        test = functools.partial(test, device=device)
    return test


test_function.__test__ = False  # type: ignore[attr-defined]  # its name must not make pytest collect it


def failing_call(
    test: Callable[[], object],
) -> tuple[Callable[..., object], tuple[object, ...], dict[str, object]]:
    """Run a test up to its failure. Return the function, the arguments and the options of the call that failed.

    Printing and `breakpoint()` have no effect during this run. If the test passes, the result is the test itself.
    """
    hook, sys.breakpointhook = sys.breakpointhook, lambda *_, **__: None
    try:
        with redirect_stdout(None):
            test()
    except Exception as failure:
        if not hasattr(failure, "call"):
            raise
        print(failure, end="\n\n")
        return failure.call.function, failure.call.arguments, failure.call.options
    finally:
        sys.breakpointhook = hook
    print("This test passes now.")
    return test, (), {}


def rerun(name: str, *, target: str, impl: str, fill: str, device: str, seed: int) -> None:
    """Run a test under pytest with the random choices it had when it was graded."""
    options = [f"--impl={impl}", f"--fill={fill}", f"--device={device}", f"--hypothesis-seed={seed}"]
    command = [sys.executable, "-m", "pytest", name, f"--kata-target={target}", *options]
    sys.exit(subprocess.call(command, cwd=ROOT))
