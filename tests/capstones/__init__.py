"""Questions that judge a submission from outside. In each milestone's module, `questions(random)` yields them.

A question is a small Python program that leaves plain values in `result`. It runs in a process that has the
submission's modules and no tests, and in a process that has the reference's modules. Both processes must leave the same
values. `kind_of(error)` is the name of the first class of an error that learners do not define themselves.
"""

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A program to run, and the tasks whose points depend on it."""

    tasks: tuple[str, ...]
    about: str  # what the question asks for, in a few words
    code: str
    then: str = ""  # a program for the reference's modules, which turns the answer, `given`, into the values to compare
    needs: str = ""  # packages without which nobody can answer, such as "torch triton"
    after: tuple[str, ...] = ()  # other tasks that must pass before the question is asked
    without: tuple[str, ...] = ()  # given modules that the submission's process lacks, for all of its milestone


def ask(
    tasks: str,
    about: str,
    code: str,
    then: str = "",
    /,
    needs: str = "",
    after: str = "",
    without: str = "",
    **values: object,
) -> Question:
    """A question for tasks such as "2.1 2.2"; in the code, each `NAME` of the values stands for the value's `repr`."""
    code = textwrap.dedent(code).strip()
    for name, value in values.items():
        code = code.replace(name, repr(value))
    code = f"inf, nan = float('inf'), float('nan')\n{code}" if values else code  # the names in the `repr` of floats
    then = textwrap.dedent(then).strip()
    return Question(tuple(tasks.split()), about, code, then, needs, tuple(after.split()), tuple(without.split()))
