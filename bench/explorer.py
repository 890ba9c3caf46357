"""How long the explorer takes to make a page, how large the page is, and what it looks like.

python -m bench.explorer                 time and size
python -m bench.explorer --pictures      also replace docs/images/explorer-*.png, which takes Chromium and Selenium
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import ROOT
from tests.support.explorer import LAUNCHES, Page, read_page
from tests.support.explorer.browser import Browser, browser, why_not

IMAGES = ROOT / "docs/images"


def make(kernel: str, folder: Path) -> Page:
    """Make the page about a kernel in a new process, and print what that takes."""
    output = folder / f"{kernel}.html"
    file = str(importlib.import_module(f"kernels.{kernel}").__file__)
    command = [sys.executable, "-m", "mini_triton.tools.explore", file, "--launch", LAUNCHES[kernel], "-o", str(output)]
    variables = {"PYTHONPATH": str(ROOT / "solutions"), "TRITON_CACHE_DIR": str(folder / "triton")}
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, env=os.environ | variables, check=True, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{kernel:16} {wall:5.2f} s, {cpu:5.2f} s of processors, {output.stat().st_size / 1e6:5.2f} MB")
    return read_page(output)


def photograph(window: Browser, name: str) -> None:
    """Save a picture of the window."""
    window.driver.save_screenshot(str(IMAGES / f"explorer-{name}.png"))


def take_pictures(pages: dict[str, Page]) -> None:
    """Replace the pictures in the documentation."""
    with browser() as window:
        softmax, product = pages["softmax"], pages["matmul"]
        window.open(softmax.path, height=760)
        window.show("source", "passes", "ptx")
        window.click_line("source", softmax.line("values = tl.load"))
        photograph(window, "light")
        window.open(product.path, height=760, scheme="dark")
        window.show("source", "ttgir", "memory")
        window.click_line("source", product.line("x = tl.load"))
        photograph(window, "dark")
        window.open(softmax.path, width=390, height=760, scale=2)
        window.click_line("source", softmax.line("values = tl.load"))
        window.show("numpy")
        photograph(window, "narrow")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Time the explorer, and take pictures of its pages.")
    parser.add_argument("--pictures", action="store_true", help="replace those in docs/images/")
    options = parser.parse_args()
    if options.pictures and why_not():
        parser.error(why_not())
    with tempfile.TemporaryDirectory() as folder:
        pages = {kernel: make(kernel, Path(folder)) for kernel in LAUNCHES}
        if options.pictures:
            take_pictures(pages)


if __name__ == "__main__":
    main()
