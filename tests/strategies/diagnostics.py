"""What real Triton has against a text: its reason, and the line that it means."""

from __future__ import annotations

import itertools
import re

from tests.oracles.triton import Answer


def reason(answer: Answer) -> str:
    """Why real Triton refuses, in its first words."""
    return answer.diagnostic.partition("\n")[0].rpartition("error: ")[2]


def complaint(answer: Answer, text: str) -> str:
    """The reason with the line of the text that it is about, and a caret under the place."""
    place = re.search(r"(\d+):(\d+)\W+error: ", answer.diagnostic)
    if not place:
        return f"{reason(answer)}\n{text}"
    line, column = int(place[1]), int(place[2])
    head = f"  line {line}  "
    return f"{reason(answer)}\n{head}{text.splitlines()[line - 1]}\n{' ' * (len(head) + column - 1)}^"


def parting(expected: str, got: str) -> str:
    """The first line in which two texts differ."""
    pairs = itertools.zip_longest(expected.splitlines(), got.splitlines(), fillvalue="(the end)")
    line, (wanted, found) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"in line {line}\n  expected  {wanted.strip()}\n  got       {found.strip()}"
