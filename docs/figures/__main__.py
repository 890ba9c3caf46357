"""Draw the figures: `python -m docs.figures [NAME …]`; `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
IMAGES = ROOT / "docs" / "images"

sys.path.insert(0, str(ROOT / "solutions"))

from docs.figures import compiled, ideas, loop, tensor_cores, threads, tuning  # noqa: E402, F401 (they declare figures)
from docs.figures.drawing import FIGURES  # noqa: E402


def main(names: list[str]) -> int:
    """Draw these, or all; 1 if `--check` finds a picture that differs."""
    check = "--check" in names
    names = [name for name in names if name != "--check"]
    differ = []
    for name in names or FIGURES:
        drawn, file = FIGURES[name]().svg, IMAGES / f"{name}.svg"
        if not file.exists() or file.read_text(encoding="utf-8") != drawn:
            differ.append(file.name)
            if not check:
                file.write_text(drawn, encoding="utf-8")
    print(f"{'different' if check else 'drawn'}: {', '.join(differ) or 'none'}")
    return int(check and bool(differ))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
