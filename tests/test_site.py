"""The book's site in a real browser: blocks fit on the page, copies have no prompts, colors follow the reader."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


def test_nothing_is_cut_off(site: Path, window: Browser) -> None:
    """At 1280 pixels, no block is wider than its place; on a phone, pages scroll in one direction only."""
    for page in pages(site):
        window.open(page)
        assert not window.run(CUT_OFF), f"{page.name}: a block is wider than its place"
        phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        width = window.run("return document.scrollingElement.scrollWidth")
        assert width <= 390, f"{page.name} is {width} pixels wide on a phone with 390 pixels"


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
