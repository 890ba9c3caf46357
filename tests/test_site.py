"""The book's site in a real browser: blocks fit on the page, code keeps its lines, searches find, links lead on."""

import importlib.util
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import numpy as np
import pytest

from grader.course.curriculum import ROOT
from tests.support.explorer.browser import Browser, browser, why_not

missing = why_not() or ("" if importlib.util.find_spec("mkdocs") else "MkDocs is not installed: nox -s docs has it")
pytestmark = pytest.mark.skipif(bool(missing), reason=missing)

CUT_OFF = """
    const blocks = [...document.querySelectorAll("pre > code, .md-typeset__table, .md-content img")];
    const wide = blocks.filter((block) => block.scrollWidth > block.clientWidth + 1 || block.offsetWidth > innerWidth);
    return wide.map((block) => block.textContent.slice(0, 80));
"""
WRAPPED = """
    const blocks = [...document.querySelectorAll(".language-pycon pre > code")];
    return blocks.filter((block) => {
        const style = getComputedStyle(block), lines = block.textContent.trimEnd().split("\\n").length;
        const height = block.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
        return height > (lines + .5) * parseFloat(style.lineHeight);
    }).map((block) => block.textContent.slice(0, 80));
"""
OUTSIDE = """
    const { a, e, f } = document.documentElement.getScreenCTM(), box = document.documentElement.viewBox.baseVal;
    return [...document.querySelectorAll("text")].filter((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return left < e + box.x * a || right > e + (box.x + box.width) * a
            || top < f + box.y * a || bottom > f + (box.y + box.height) * a;
    }).map((text) => text.textContent);
"""
FOUND = """
    const found = document.querySelector(".md-search-result__item");
    return found && [...found.querySelectorAll("a")].map((link) => link.pathname.split("/").pop() + link.hash);
"""
COPIED = """
    let copied;
    document.execCommand = () => (copied = document.activeElement.value, true);
    const blocks = [...document.querySelectorAll(".language-pycon")];
    const block = blocks.find((block) => block.textContent.includes("promote(float16, bfloat16)"));
    block.querySelector("[data-md-type='copy'], .md-clipboard, .md-code__button").click();
    return copied;
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    made = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


def pages(site: Path) -> list[Path]:
    return [page for page in sorted(site.glob("*.html")) if page.stem not in ("404", "explored")]


def test_pages_fit_their_window(site: Path, window: Browser) -> None:
    """At 1280 pixels, no block is wider than its place.

    On a phone, pages scroll in one direction only, and sessions scroll instead of wrapping, which would lose the
    indentation.
    """
    for page in pages(site):
        window.open(page)
        assert not window.run(CUT_OFF), f"{page.name}: a block is wider than its place"
        phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        width = window.run("return document.scrollingElement.scrollWidth")
        assert width <= 390, f"{page.name} is {width} pixels wide on a phone with 390 pixels"
        assert not window.run(WRAPPED), f"{page.name}: a session is wrapped"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_code_that_scrolls_has_a_shadow(scheme: str, site: Path, window: Browser) -> None:
    """At the right edge before scrolling, at the left edge after scrolling to the end."""
    from PIL import Image

    window.open(site / "m04_language_1_operators.html", width=390, scheme=scheme)
    block = window.run("""
        const blocks = [...document.querySelectorAll("pre > code")];
        return blocks.find((block) => block.scrollWidth > block.clientWidth + 100);
    """)

    def shadows() -> list[bool]:
        """Whether the left and the right edge have another color than the middle, above the first line of code."""
        row = np.asarray(Image.open(io.BytesIO(block.screenshot_as_png)).convert("RGB")).astype(int)[4]
        return [np.abs(row[x] - row[len(row) // 2]).max() > 8 for x in (1, -2)]

    assert shadows() == [False, True]
    window.run("arguments[0].scrollLeft = 1e6", block)
    assert shadows() == [True, False]


def test_labels_of_pictures_are_whole(window: Browser) -> None:
    for picture in sorted((ROOT / "docs/images").glob("*.svg")):
        window.open(picture)
        assert not window.run(OUTSIDE), f"{picture.name}: a label is cut off"


@pytest.mark.parametrize(
    "words, section",
    [
        ("tl.load", "m04_language_1_operators.html#45-"),
        ("tl.store", "m04_language_1_operators.html#45-"),
        ("tl.dot", "m04_language_2_functions.html#49-"),
        ("verifier", "m02_ops_2_text.html#28-"),
        ("do_bench", "m11_tuning_1_choice.html#111-"),
        ("explorer", "explorer.html#"),
    ],
)
def test_searches_find_what_explains_a_name(words: str, section: str, site: Path, window: Browser) -> None:
    """The first result is the page, and the first section in it is the one that explains the name."""
    from selenium.webdriver.support.wait import WebDriverWait

    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:  # the search does not work in files
        Thread(target=server.serve_forever, daemon=True).start()
        window.driver.get(f"http://127.0.0.1:{server.server_port}/index.html?q={words}")
        page, first, *_ = WebDriverWait(window.driver, 20).until(lambda _: window.run(FOUND))
        server.shutdown()
    assert page == section.partition("#")[0] and first.startswith(section), (page, first)


def test_links_to_stubs_lead_to_their_code(site: Path, window: Browser) -> None:
    """In every chapter, every link to a file of the repository leads to a page with the text of this file."""
    count = 0
    for page in pages(site):
        links = set(re.findall(r'<a [^>]*href="((?:[^"]*/)?source/[^"#]*)', page.read_text(encoding="utf-8")))
        count += len(links)
        for link in links:
            assert (page.parent / unquote(link)).is_file(), f"{page.name}: {link}"
    assert count > 80
    window.open(site / "m04_language_1_operators.html")
    window.driver.find_element("link text", "language/memory.py").click()
    shown = window.run("return document.querySelector('pre > code').textContent")
    assert shown.strip() == (ROOT / "exercises/mini_triton/language/memory.py").read_text(encoding="utf-8").strip()


def test_a_copied_example_has_no_prompts(site: Path, window: Browser) -> None:
    window.open(site / "m01_types.html")
    copied = window.run(COPIED)
    assert "promote(float16, bfloat16)" in copied
    assert ">>>" not in copied and "triton.language.float16" not in copied


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colors_follow_the_reader(scheme: str, site: Path, window: Browser) -> None:
    window.open(site / "index.html", scheme=scheme)
    assert window.run("return getComputedStyle(document.body).colorScheme") in (scheme, f"only {scheme}", "normal")
    color = window.run("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, color.strip("rgba()").split(",")[:3]))
    assert (brightness > 384) == (scheme == "light"), color
