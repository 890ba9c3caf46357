"""Texts by theme: files in which a heading `## theme` stands above some texts."""

from pathlib import Path


def read(file: Path, between: str = "\n\n") -> dict[str, list[str]]:
    """The texts of a file by theme."""
    parts = (part.partition("\n") for part in file.read_text(encoding="utf-8").split("\n## ")[1:])
    return {name: [text.strip("\n") for text in texts.strip("\n").split(between)] for name, _, texts in parts}
