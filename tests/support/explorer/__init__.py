"""Pages of the explorer about kernels of milestone 8, for its tests and for the pictures in the documentation."""

import importlib
import json
import re
import tempfile
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

from mini_triton.tools.explore.__main__ import main

LAUNCHES = {
    "softmax": "softmax(np.ones((40, 781), np.float32))",
    "matmul": "matmul(np.ones((200, 160), np.float16), np.ones((160, 144), np.float16))",
    "layer_norm": "layer_norm(np.ones((40, 781), np.float32), *np.ones((2, 781), np.float32))",
    "flash_attention": "attention(*np.ones((3, 1, 2, 200, 64), np.float16), causal=True)",
}
"""A launch for each module in `kernels`."""


@dataclass(frozen=True)
class Page:
    """A page, and the data in it."""

    path: Path
    data: dict[str, Any]

    def line(self, text: str) -> int:
        """The number of the first source line with this text."""
        return next(number for number, line in enumerate(self.source) if text in line)

    @property
    def source(self) -> list[str]:
        return [plain(html) for html in self.data["source"]["html"]]

    def related(self, column: str, text: str) -> list[str]:
        """The lines of a column that come from the source line with this text."""
        number = self.line(text)
        chosen = self.column(column)
        pairs = zip(chosen["html"], chosen["from"], strict=True)
        return [plain(html).strip() for html, numbers in pairs if number in numbers]

    def origins(self, column: str, text: str) -> list[str]:
        """The source lines of all lines of a column that have this text."""
        chosen = self.column(column)
        pairs = zip(chosen["html"], chosen["from"], strict=True)
        found = {number for html, numbers in pairs if text in plain(html) for number in numbers}
        return [self.source[number].strip() for number in sorted(found)]

    def column(self, name: str) -> dict[str, Any]:
        """The part of the page about a column."""
        if name == "passes":
            return self.data["passes"]
        return next(column for column in self.data["columns"] if column["name"] == name)


def plain(html: str) -> str:
    """The text of highlighted HTML."""
    return unescape(re.sub(r"<[^>]*>", "", html))


def read_page(path: Path) -> Page:
    """A page that was written to a file."""
    text = path.read_text(encoding="utf-8")
    _, _, rest = text.partition('<script type="application/json" id="data">')
    return Page(path, json.loads(rest.partition("</script>")[0]))


@cache
def page_of(kernel: str) -> Page:
    """The page about a launch of a kernel."""
    file = importlib.import_module(f"kernels.{kernel}").__file__
    return make_page(Path(str(file)), "--launch", LAUNCHES[kernel])


def make_page(file: Path, *options: str) -> Page:
    """Run the command, and read the page that it writes."""
    path = Path(tempfile.mkdtemp(prefix="explorer-"), f"{file.stem}.html")
    main([str(file), *options, "-o", str(path)])
    return read_page(path)
