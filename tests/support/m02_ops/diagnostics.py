"""What real Triton has against a text: its reason, and the line that it means."""

from __future__ import annotations

import itertools
import os
import re

from tests.oracles.triton import Answer

BEFORE, AFTER = 60, 30  # how much of a line is shown around a place


def reason(answer: Answer) -> str:
    """Why real Triton refuses, in its first words."""
    return answer.diagnostic.partition("\n")[0].rpartition("error: ")[2]


def complaint(answer: Answer, text: str) -> str:
    """The reason with the line of the text that it is about, and a caret under the place."""
    place = re.search(r"(\d+):(\d+)\W+error: ", answer.diagnostic)
    if not place:
        return f"{reason(answer)}\n{text}"
    number, column = int(place[1]), int(place[2]) - 1
    head, line = f"  line {number}  ", text.splitlines()[number - 1]
    before = _from(line, column)
    return f"{reason(answer)}\n{head}{before}{_cut(line[column:])}\n{' ' * len(head + before)}^"


def parting(expected: str, got: str) -> str:
    """The first line in which two texts differ."""
    pairs = itertools.zip_longest(expected.split("\n"), got.split("\n"), fillvalue="(the end)")
    number, (wanted, found) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    column = len(os.path.commonprefix([wanted, found]))
    before = _from(wanted, column)
    shown = (before + _cut(line[column:]) for line in (wanted, found))
    return "in line {}\n  expected  {}\n  got       {}".format(number, *shown)


def _from(line: str, column: int) -> str:
    """The end of what comes before a column."""
    return line[:column] if column <= BEFORE else "…" + line[column - BEFORE : column]


def _cut(rest: str) -> str:
    return rest if len(rest) <= AFTER else rest[:AFTER] + "…"
