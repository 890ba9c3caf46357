"""The page `play/`: what it reports is what the command line reports, word for word.

Chromium opens the page and grades the tasks that need no NumPy. NumPy for Pyodide exists only in Pyodide's own
distribution, which a test cannot reach, so the page's code grades the other tasks in this Python.
"""

import json
import math
import random
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from docs.play import build
from grader.course import stubs
from grader.course.curriculum import ROOT
from grader.page import floats, small_numpy
from tests.support.explorer.browser import Browser, browser, why_not
from tests.support.play import SOLUTION, Course, hanging, plain, with_code, wrong

TASKS = ("0.1", "0.2", "0.3", "0.4")
WITH_NUMPY = ("0.5", "0.6", "0.8")
LARGEST = 15_000_000  # bytes of a first visit
READY = "return !document.getElementById('grade').disabled"
TYPE = """
    const done = arguments[2];
    import("@codemirror/view").then(({ EditorView }) => {
        const editor = EditorView.findFromDOM(document.getElementById("editor"));
        editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: arguments[0] } });
        [...document.querySelectorAll("#tasks li button")].find((b) => b.textContent.includes(arguments[1])).click();
        done();
    });
"""
VIOLATIONS = """
    const done = arguments[0];
    axe.run().then(({ violations }) => done(violations.map((each) => [each.id, each.nodes[0].target.join(" ")])));
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("course")
    build.course(folder, with_packages=False)
    return Course(folder)


class Server:
    """A plain server for the site, which counts the bytes that it sends."""

    def __init__(self, folder: Path) -> None:
        counting = self

        class Handler(SimpleHTTPRequestHandler):
            extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

            def log_message(self, *_: object) -> None:
                pass

            def copyfile(self, source: Any, outputfile: Any) -> None:
                data = source.read()
                counting.sent += len(data)
                outputfile.write(data)

        self.sent = 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}/play/"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if missing := why_not():
        pytest.skip(missing)
    site = tmp_path_factory.mktemp("site")
    try:
        build.build(site, "<h1>A first afternoon</h1><h2>0.1 Read the kernel</h2>")
    except build.Missing as why:
        pytest.skip(str(why))
    server = Server(site)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def window(server: Server) -> Iterator[Browser]:
    with browser() as opened:
        opened.driver.set_script_timeout(60)
        resize(opened, 1280)
        opened.driver.get(server.url)
        until(opened, READY)
        yield opened


def resize(window: Browser, width: int, scheme: str = "light") -> None:
    """Give the window a width and colors; nothing in it moves."""
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 720}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def until(window: Browser, script: str, seconds: float = 120) -> None:
    """Wait until a script returns something."""
    end = time.monotonic() + seconds
    while not window.run(script):
        assert time.monotonic() < end, (script, window.run("return document.body.innerText"), window.complaints())
        time.sleep(0.05)


def graded(window: Browser, text: str, task: str) -> str:
    """Type a solution, grade a task, and read the report."""
    window.driver.execute_async_script(TYPE, text, task)
    window.find("#grade").click()
    until(window, READY)
    return plain(window.run("return document.getElementById('report').textContent"))


def of_this_run(report: str) -> str:
    """A report without its first line, which counts the points of earlier runs, too."""
    return report.partition("\n")[2]


@pytest.mark.parametrize("task", TASKS)
def test_reports_in_the_browser(task: str, course: Course, window: Browser) -> None:
    for text in (wrong(task), SOLUTION, *([hanging(task)] if task == "0.1" else [])):
        assert of_this_run(graded(window, text, task)) == of_this_run(course.command_line(text, task))


@pytest.mark.parametrize("task", WITH_NUMPY)
def test_reports_of_the_pages_code(task: str, course: Course) -> None:
    for text in (wrong(task), SOLUTION, *([hanging(task)] if task == "0.6" else [])):
        assert course.page(text, task) == course.command_line(text, task)


def test_a_stub(course: Course, window: Browser) -> None:
    stub = stubs.read(ROOT / "exercises" / "first" / "slice.py")
    assert of_this_run(graded(window, stub, "0.2")) == of_this_run(course.command_line(stub, "0.2"))


def test_text_that_triton_accepts(course: Course, window: Browser) -> None:
    """After 0.7, the panel shows what real Triton compiled the text to."""
    assert of_this_run(graded(window, SOLUTION, "0.7")) == of_this_run(course.command_line(SOLUTION, "0.7"))
    window.run("document.querySelector('#views [data-view=compiler]').click()")
    window.run("document.querySelectorAll('#compiler .lines button')[2].click()")
    shown = window.run("return document.getElementById('compiler').textContent")
    assert "tt.load(%9, %7)" in shown and "ld.global.v4.b32" in shown and "10.5" in shown


def test_a_task_whose_numpy_is_missing(window: Browser) -> None:
    """The browser of the tests reaches no other machine."""
    window.driver.execute_cdp_cmd("Network.enable", {})
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*cdn.jsdelivr.net*"]})
    report = graded(window, SOLUTION, "0.5")
    assert report.startswith("Task 0.5 needs NumPy, which this page could not load from cdn.jsdelivr.net."), report


def test_stop(window: Browser) -> None:
    window.driver.execute_async_script(TYPE, with_code("0.1", "while True: pass"), "0.1")
    window.find("#grade").click()
    until(window, "return document.getElementById('status').textContent.startsWith('Running')")
    window.find("#stop").click()
    until(window, READY)
    assert window.run("return document.getElementById('report').textContent") == "Stopped.\n"


def test_a_visit(server: Server, window: Browser) -> None:
    """The first visit loads little, later ones nothing: the page works without a server, with the work so far."""
    until(window, "return document.body.dataset.offline")
    assert server.sent < LARGEST, server.sent
    graded(window, SOLUTION, "0.1")
    server.server.shutdown()
    window.driver.refresh()
    until(window, READY)
    assert "passed" in window.run("return document.getElementById('tasks').textContent")
    assert "✓ 0.1" in graded(window, SOLUTION, "0.1")
    Thread(target=server.server.serve_forever, daemon=True).start()
    others = [url for url in window.requests() if not url.startswith(("http://127.0.0.1", "data:", "blob:", "chrome"))]
    assert all(url.startswith("https://cdn.jsdelivr.net/pyodide/") for url in others), others
    assert window.driver.get_cookies() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_use_it(width: int, scheme: str, window: Browser) -> None:
    axe = (build.modules() / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    resize(window, width, scheme)
    window.run(axe)
    for view in ("code", "chapter", "compiler"):
        window.run("document.querySelector(`#views [data-view=${arguments[0]}]`).click()", view)
        assert window.run("return document.scrollingElement.scrollWidth") <= width
        assert window.driver.execute_async_script(VIOLATIONS) == []
    window.run("document.querySelector('#views [data-view=code]').click()")


def test_a_shared_result_has_no_code(window: Browser) -> None:
    window.find("#share").click()
    until(window, "return document.getElementById('status').textContent.includes('#result=')")
    link = window.run("return document.getElementById('status').textContent").partition("http")[2]
    assert set(link.partition("#result=")[2]) <= set("pno") and len(link.partition("#result=")[2]) == 8


def test_the_chapters_links_lead_out_of_the_folder(server: Server) -> None:
    page = build._from_here('<a href="m01_types.html">1</a><a href="#x">x</a><a href="https://a.b">b</a>')
    assert page == '<a href="../m01_types.html">1</a><a href="#x">x</a><a href="https://a.b">b</a>'


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((ROOT / "docs/play/package-lock.json").read_text(encoding="utf-8"))
    assert not any("resolved" in package for package in lock["packages"].values())


def test_floats_are_hypothesiss() -> None:
    """The stand-ins for the compiled parts of hypothesis agree with them."""
    native = pytest.importorskip("hypothesis._native.internal.floats")
    cathetus = pytest.importorskip("hypothesis._native.internal.cathetus").cathetus
    random_ = random.Random(0)
    special = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 5e-324, 2.0**-1022, 65504.0, 1e308]
    values = special + [random_.uniform(-1, 1) * 10 ** random_.randint(-320, 300) for _ in range(300)]

    def same(function: str, *arguments: object, **options: object) -> None:
        got = getattr(floats, function)(*arguments, **options)
        expected = getattr(native, function)(*arguments, **options)
        assert repr(got) == repr(expected), (function, arguments)

    for value in values:
        same("float_to_int", value)
        same("int_to_float", floats.float_to_int(value))
        same("is_negative", value)
        same("next_up", value)
        same("next_down", value)
        for allowed in (True, False):
            same("next_up_normal", value, 64, allow_subnormal=allowed)
            same("next_down_normal", value, 64, allow_subnormal=allowed)
        other = random_.choice(special[:4])
        if value == value and math.isfinite(value):
            same("count_between_floats", min(value, other), max(value, other))
            assert floats.cathetus(abs(value) + 1, value) == pytest.approx(cathetus(abs(value) + 1, value), rel=1e-12)
    for width in (16, 32, 64):
        same("width_smallest_normals", width)
        for value in (0.1, 1.0, -2.5, 100.0, -0.0):
            same("float_of", value, width)


def test_small_numpy_is_numpy() -> None:
    """Where NumPy cannot be loaded, its stand-in computes and prints what NumPy does."""
    numbers = [0, 1, -3, 7, 2**31 - 1, -(2**31)]
    for name in ("int32", "int64", "float32"):
        ours, theirs = getattr(small_numpy, name), getattr(np, name)
        for left in numbers:
            assert repr(ours(left)) == repr(theirs(left)) and str(ours(left)) == str(theirs(left))
            for right in numbers:
                for operation in ("add", "subtract", "multiply", "less"):
                    with np.errstate(over="ignore"):
                        expected = getattr(np, operation)(theirs(left), theirs(right))
                    got = getattr(small_numpy, operation)(ours(left), ours(right))
                    assert got.item() == expected.item() and type(got).__name__.rstrip("_") in type(expected).__name__
    for number in (0.1, 1.5, -2.0, 3e5, 1e-10):
        assert repr(small_numpy.float32(number)) == repr(np.float32(number))
        assert f"{small_numpy.float32(number):.8e}" == f"{np.float32(number):.8e}"
    row, expected_row = small_numpy.arange(8, dtype=small_numpy.int32), np.arange(8, dtype=np.int32)
    assert str(small_numpy.add(row, 3)) == str(np.add(expected_row, 3)) and repr(row) == repr(expected_row)
    with pytest.raises(OverflowError, match="Python integer 5000000000 out of bounds for int32"):
        small_numpy.int32(5_000_000_000)
