"""Code that is odd rather than wrong: verdicts, places and messages stay true."""

from __future__ import annotations

from tests.grader.engine_course import Course


def test_what_a_message_shows_is_not_what_went_wrong(solved: Course) -> None:
    solved.edit(
        "tiny/number.py",
        "    return 2 * a\n",
        "    return Two()\n\n\nclass Two:\n    def __repr__(self):\n        return 'two'\n",
    )
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from tiny.number import double\ndef test_double():\n    got = double(4)\n    assert got == 8, repr(got)\n",
    )
    result = solved.grade()["test_double"]
    assert (result.message, result.location) == ("two", "exercises/tiny/number.py:12")
