"""The book and the prompt: where a task's section is, and examples that are pasted."""

from __future__ import annotations

from pathlib import Path

from grader.chapters import part_of, parts
from grader.python import Prompt


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


def test_pasted_examples_lose_their_prompts() -> None:
    lines = [">>> for x in range(2):", "...     y = x", ">>> y", "plain", ">>>"]
    rest = iter(lines)
    prompt = Prompt(lambda _: next(rest))
    assert prompt(">>> ") == "for x in range(2):"
    assert prompt("... ") == "    y = x"
    assert prompt("... ") == "", "the next example ends the block"
    assert prompt(">>> ") == "y"
    assert prompt(">>> ") == "plain"
    assert prompt(">>> ") == ""
