"""The explorer's pages in a real browser: clicks, keys, colors, a narrow window."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mini_triton.__main__ import main as mini_triton
from mini_triton.tools.explore.__main__ import main

from tests.oracles import triton
from tests.support.explorer import LAUNCHES, page_of, read_page
from tests.support.explorer.browser import Browser, browser, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

LIT = {
    "softmax": ("values = tl.load", {"ttir": "tt.load", "numpy": "memory.load(x", "ptx": "ld.global", "sass": "LDG"}),
    "matmul": (
        "total = tl.dot",
        {"passes": "tt.dot", "numba": "add_product", "our_ptx": "wgmma", "ttgir": "warp_group_dot", "ptx": "wgmma"},
    ),
    "layer_norm": (
        "w = tl.load",
        {"numpy": "memory.load(weight", "numba": "weight[", "layouts": "tt.load", "our_ptx": "ld.global"},
    ),
    "flash_attention": (
        "weights = tl.exp2",
        {"ttir": "math.exp2", "numpy": "exact.exp2", "ptx": "ex2", "sass": "MUFU.EX2"},
    ),
}
"""By kernel: a source line, and what some line that it lights must have in each column."""

LINES = {
    "softmax": ("values = tl.load", "powers = tl.exp", "tl.store("),
    "matmul": ("first = program", "a_tile = a", "x = tl.load", "y = tl.load", "total = tl.dot", "tl.store("),
    "layer_norm": ("values = tl.load", "mean = tl.sum", "w = tl.load", "tl.store(out"),
    "flash_attention": ("for start", "key = tl.load", "scores = tl.dot", "end = min(", "tl.store(place"),
}
"""By kernel: lines that have code in every column. Two of them are in functions that the kernel calls."""

RUNS = """
    const runs = {};
    for (const list of document.querySelectorAll(".pane:not([hidden]) .lines")) {
        const found = runs[list.parentElement.dataset.pane] = [], view = list.getBoundingClientRect();
        let run = null;
        for (const line of list.children) {
            if (line.ariaSelected !== "true") { run = null; continue; }
            if (!run) found.push(run = {code: 0, seen: []});
            const isComment = /^ *(#|\\/\\/) /.test(line.querySelector(".text").textContent);
            run.code += !isComment && !line.classList.contains("removed");
            const { top, bottom } = line.getBoundingClientRect();
            run.seen.push(top > view.top - 1 && bottom < view.bottom + 1);
        }
    }
    return runs;
"""
"""For each column, the runs of highlighted lines: how many have code, and which of them are in view."""

FIRST_LIT = """
    const lines = document.querySelectorAll(`[data-pane="${arguments[0]}"] [aria-selected="true"]`);
    return [...lines].find((line) => line.textContent.includes(arguments[1]))?.id;
"""


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    if not triton.available():
        triton.version()  # ends the test as unavailable
    with browser() as opened:
        yield opened


@pytest.mark.parametrize("kernel", LAUNCHES)
def test_a_click_lights_the_relatives(kernel: str, window: Browser) -> None:
    """In every column exactly those lines are lit that the data says; from each, a click leads back."""
    page, (source, texts) = page_of(kernel), LIT[kernel]
    window.open(page.path)
    for column, text in texts.items():
        window.show("source", column)
        window.click_line("source", page.line(source))
        lit = window.lit(column)
        line = window.run(FIRST_LIT, column, text)
        assert line, f"{column}: none of {lit} has {text}"
        assert window.lit("source") == [page.source[page.line(source)].strip()]
        if column != "passes":
            assert lit == page.related(column, source)
            assert window.find(f'[data-pane="{column}"] [aria-selected="true"]').is_displayed()
            assert window.find(f'nav [data-pane="{column}"] .badge').text == str(len(lit))
        window.press("ESCAPE")
        assert not window.lit("source") and not window.lit(column)
        window.find(f"#{line} .text").click()
        assert page.source[page.line(source)].strip() in window.lit("source")
    assert not window.complaints()


@pytest.mark.parametrize("kernel", LAUNCHES)
def test_a_click_shows_the_largest_run(kernel: str, window: Browser) -> None:
    """Every column has highlighted lines, and scrolls to the largest group of them; then the arrow keys go there."""
    page = page_of(kernel)
    window.open(page.path)
    columns = ["passes", *(column["name"] for column in page.data["columns"])]
    window.show("source", *columns)
    for source in LINES[kernel]:
        window.click_line("source", page.line(source))
        runs = window.run(RUNS)
        for column in columns:
            assert runs[column], f"{source}: {column} has no highlighted line"
            most = max(run["code"] for run in runs[column])
            assert most, f"{source}: {column} has only comments and removed lines"
            seen = next(run["seen"] for run in runs[column] if run["code"] == most)
            assert all(seen[:10]), f"{source}: {column} does not show the {most} lines that belong together"
    window.find("[data-pane=source] .lines").send_keys("\ue014")  # right
    cursor = window.find("[data-pane=ttir] .line.cursor")
    assert cursor.get_attribute("aria-selected") == "true"
    assert not window.complaints()


@pytest.mark.parametrize("width", [1280, 390])
def test_long_lines_wrap(width: int, window: Browser) -> None:
    """A button and a key wrap lines in all columns; in a narrow window, lines wrap from the beginning."""
    window.open(page_of("matmul").path, width=width)
    window.show("ttir")
    sizes = (
        "const list = document.querySelector('[data-pane=ttir] .lines'); return [list.scrollWidth, list.clientWidth]"
    )
    button = window.find("#wrap")
    for press in (lambda: None, button.click, lambda: window.press("w"), lambda: window.press("w")):
        press()
        whole, seen = window.run(sizes)
        assert (whole <= seen) == (button.get_attribute("aria-pressed") == "true")
    assert button.get_attribute("aria-pressed") == str(width == 1280).lower()
    assert not window.complaints()


def test_passes(window: Browser) -> None:
    page = page_of("matmul")
    steps = page.data["passes"]["steps"]
    window.open(page.path)
    window.show("source", "passes")

    def shown() -> tuple[str, int, int]:
        name = window.run("return document.querySelector('[data-pane=passes] select').selectedOptions[0].text")
        count = "return document.querySelectorAll('[data-pane=passes] .line.{}').length"
        return name, window.run(count.format("removed")), window.run(count.format("added"))

    for number in reversed(range(len(steps))):
        rows = [mark for mark, _ in steps[number]["rows"]]
        name = f"{number}. {steps[number]['name']}" if number else "after the front end"
        assert shown() == (name, rows.count("-"), rows.count("+"))
        window.press("p")
    assert not window.find("[data-pane=passes] [title*='(p)']").is_enabled()
    window.press("n", "n")
    assert shown()[0] == f"2. {steps[2]['name']}"
    removed = window.find(".line.removed")
    assert removed.is_displayed()
    window.press("d")
    assert not removed.is_displayed()
    assert not window.complaints()


def test_keys(window: Browser) -> None:
    page = page_of("softmax")
    window.open(page.path)
    window.show("source", "ttir", "ptx")
    window.find("[data-pane=source] .lines").click()
    window.press("HOME", *["ARROW_DOWN"] * page.line("values = tl.load"))
    assert window.lit("ptx") == page.related("ptx", "values = tl.load")
    window.press("ARROW_RIGHT")
    focused = "return document.activeElement.closest('.pane').dataset.pane"
    assert window.run(focused) == "ttir"
    window.press("END", "ARROW_UP")
    assert "def softmax_kernel" in window.lit("source")[0]
    window.press("ARROW_RIGHT")
    assert window.run(focused) == "ptx"
    assert window.run("return getComputedStyle(document.activeElement).outlineStyle") != "none", "focus can be seen"
    window.press("2")
    assert not window.find("section[data-pane=ttir]").is_displayed()
    window.press("?")
    assert window.find("dialog").is_displayed()
    window.press("ESCAPE")
    assert not window.find("dialog").is_displayed()
    assert not window.complaints()


def test_memory(window: Browser) -> None:
    page = page_of("flash_attention")
    window.open(page.path)
    window.show("source", "memory")
    chosen = "return document.querySelector('.memory select').selectedOptions[0].text"
    for source, argument in (("key = tl.load", "k"), ("tl.store(place", "out")):
        window.click_line("source", page.line(source))
        assert window.run(chosen).split(",")[0].split()[1] == argument
    assert "coalesced" in window.find(".memory ul").text and "8 programs" not in window.find(".memory ul").text
    painted = """
        const canvas = document.querySelectorAll('.memory canvas')[arguments[0]];
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(Array.from({length: pixels.length / 4}, (_, i) => pixels.slice(4 * i, 4 * i + 3).join())).size;
    """
    assert window.run(painted, 0) >= 8, "a color for each program"
    assert window.run(painted, 1) >= 32, "a shade for each thread"
    before = window.find(".memory h3:nth-of-type(2)").text
    window.find(".memory input[aria-label=program]").send_keys("\ue014")
    assert window.find(".memory h3:nth-of-type(2)").text != before
    window.hover(".memory canvas:nth-of-type(2)")
    assert "lane [" in window.find(".memory output").text and "warp" in window.find(".memory output").text
    assert not window.complaints()


def test_dark_and_light(window: Browser) -> None:
    page = page_of("softmax")
    bright = """
        const rgb = (element, name) => getComputedStyle(element)[name].match(/[\\d.]+/g).slice(0, 3).map(Number);
        const sum = (numbers) => numbers.reduce((a, b) => a + b) / 3;
        const pane = document.querySelector('.pane');
        return [sum(rgb(pane, 'backgroundColor')), sum(rgb(pane, 'color'))];
    """
    for scheme in ("light", "dark"):
        window.open(page.path, scheme=scheme)
        paper, ink = window.run(bright)
        assert (paper > 200 and ink < 80) if scheme == "light" else (paper < 60 and ink > 180)
        window.find("#theme").click()
        assert window.run(bright) != [paper, ink]
        window.press("t")
        assert window.run(bright) == [paper, ink]
    assert not window.complaints()


@pytest.mark.parametrize("kernel", LAUNCHES)
def test_a_narrow_window(kernel: str, window: Browser) -> None:
    """One column at a time, and nothing beyond the right edge."""
    page, (source, texts) = page_of(kernel), LIT[kernel]
    window.open(page.path, width=390, height=844)
    window.click_line("source", page.line(source))
    for column in ("source", *texts, "memory"):
        window.run(f"document.querySelector('nav [data-pane={column}]').click()")
        visible = window.run(
            "return [...document.querySelectorAll('.pane')].filter((p) => !p.hidden).map((p) => p.dataset.pane)"
        )
        assert visible == [column]
        assert window.run("return document.documentElement.scrollWidth") <= 390
        assert window.run("return document.querySelector('.pane:not([hidden])').getBoundingClientRect().right") <= 390
    assert page.source[page.line(source)].strip()[:20] in window.find("footer").text
    assert not window.complaints()


def test_nothing_is_fetched(window: Browser) -> None:
    window.requests()
    page = page_of("matmul")
    window.open(page.path)
    window.show("source", "passes", "memory", "sass")
    window.click_line("source", page.line("x = tl.load"))
    assert {url for url in window.requests() if not url.startswith("data:")} == {page.path.as_uri()}


def test_an_error_comes_first(tmp_path: Path, window: Browser) -> None:
    """The compiler's error is above the columns, in the lines in which the terminal shows it."""
    file, output = tmp_path / "wrong.py", tmp_path / "page.html"
    imports = "import mini_triton as triton\nimport mini_triton.language as tl\n"
    file.write_text(f"{imports}\n\n@triton.jit\ndef kernel(x):\n    tl.store(x, nowhere)\n")
    with pytest.raises(SystemExit):
        main([str(file), "--signature", "*fp32", "-o", str(output)])
    window.open(output)
    error, columns = window.find("#error"), window.find("main")
    assert "nowhere is not defined" in error.text and len(error.text.splitlines()) == 3
    assert error.location["y"] < columns.location["y"] and error.is_displayed()
    assert window.find("[data-pane=source] .lines").is_displayed()
    assert not window.complaints()


CELLS = """
    const lines = document.querySelectorAll(`[data-pane="${arguments[0]}"] .line`);
    return [...lines].map((line) => [...line.children].map((cell) => cell.textContent));
"""
EMULATED = """
import mini_triton as triton
import mini_triton.language as tl


@triton.jit
def turned(out, x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at * 8))


def start(n):
    turned[(1,)](np.zeros(n, np.float32), np.ones(1024, np.float32), BLOCK=128)
"""


def test_the_emulators_costs(tmp_path: Path, window: Browser) -> None:
    """Beside each line of the PTX: executions, sectors, and findings, which point to the Python line by color."""
    file, output = tmp_path / "turned.py", tmp_path / "page.html"
    file.write_text("import numpy as np\n" + EMULATED)
    assert mini_triton(["emulate", str(file), "--launch", "start(120)", "--html", str(output)]) == 1
    window.open(output)
    assert window.find("section[data-pane=ptx]").is_displayed()
    rows = window.run(CELLS, "ptx")
    load, store = (next(row for row in rows if f" {word}.global" in row[4]) for word in ("ld", "st"))
    assert [*load[:3], load[5]] == ["4", "128/16", "", "sectors"]
    assert [store[0], store[5]] == ["4", "out of bounds"]
    bad = window.find("[data-pane=ptx] .found.bad")
    assert bad.text == "out of bounds" and "way out: mask the access" in str(bad.get_attribute("title"))
    bad.click()
    source = read_page(output).source
    assert window.lit("source") == [line.strip() for line in source if "tl.store" in line]
    assert not window.complaints()
