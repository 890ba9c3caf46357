"""The book and the prompt: where a task's section is, and examples that are pasted."""

import contextlib
import re
from pathlib import Path

import pytest

from grader.course.chapters import part_of, parts
from grader.learner.python import Console


def test_a_section_is_found_in_the_part_that_has_it(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "m09_passes_1_rules.md").write_text("# Passes\n\n## 9.1 Rules\n\n## 9.2 and 9.3 Folding\n")
    (docs / "m09_passes_2_programs.md").write_text("# Passes\n\n## 9.10 Facts\n")
    assert [file.name for file in parts("m09_passes", tmp_path)] == [
        "m09_passes_1_rules.md",
        "m09_passes_2_programs.md",
    ]
    assert part_of("m09_passes", "9.1", tmp_path) == "docs/m09_passes_1_rules.md:3"
    assert part_of("m09_passes", "9.3", tmp_path) == "docs/m09_passes_1_rules.md:5"
    assert part_of("m09_passes", "9.10", tmp_path) == "docs/m09_passes_2_programs.md:3"
    assert part_of("m09_passes", "9.11", tmp_path) == "docs/m09_passes_1_rules.md"
    assert part_of("m01_types", "1.1", tmp_path) == "docs/m01_types.md"


PROMPTED = """\
>>> for x in range(2):
...     y = x
>>> if y:
...     z = \'\'\'
... text\'\'\'
... else:
...     z = 0
>>> w = (
...     1,
... )
>>>
"""


WITH_OUTPUTS = """\
>>> for x in range(2):
...     print(x)
0
1
>>> x + 1
2
>>> print("tt.func @f {\\n}")
tt.func @f {
}
>>> None.y
Traceback (most recent call last):
  ...
AttributeError: 'NoneType' object has no attribute 'y'

y = x + 1
y
"""


def test_outputs_of_examples_are_skipped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter([*WITH_OUTPUTS.splitlines(), "exit()"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    with contextlib.suppress(SystemExit):
        Console({}).interact("", "")
    output = capsys.readouterr()
    assert output.out == "0\n1\n2\ntt.func @f {\n}\n2\n" and output.err.count("Error") == 1


@pytest.mark.parametrize("text", [PROMPTED, re.sub("^(>>>|[.]{3}) ?", "", PROMPTED, flags=re.MULTILINE)])
def test_pasted_examples_run(text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter([*text.splitlines(), "", "exit()"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    names: dict[str, object] = {}
    with contextlib.suppress(SystemExit):
        Console(names).interact("", "")
    assert "Error" not in capsys.readouterr().err
    assert (names["y"], names["z"], names["w"]) == (1, "\ntext", (1,))
