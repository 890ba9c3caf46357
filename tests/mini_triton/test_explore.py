"""The explorer: which lines of each stage belong to a source line, and which elements each access touches."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mini_triton.backends.layouts import Blocked
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer
from mini_triton.tools.explore.__main__ import main
from mini_triton.tools.explore.accesses import Access, Touch
from mini_triton.tools.explore.memory import packed
from mini_triton.tools.explore.relations import Line, read_llir, read_mlir, read_ptx, read_python, read_sass
from mini_triton.tools.explore.stages import differences
from mini_triton.tools.explore.traffic import measure

from grader.course.curriculum import ROOT
from tests.oracles import triton
from tests.support.explorer import Page, make_page, page_of, plain, read_page
from tests.support.trees import unsolved

LOAD, STORE = "values = tl.load", "tl.store"


def softmax() -> Page:
    if not triton.available():
        triton.version()  # ends the test as unavailable
    return page_of("softmax")


# --- lines that belong together


@pytest.mark.parametrize(
    "column, load, store",
    [
        ("ttir", "= tt.load", "tt.store "),
        ("passes", "= tt.load", "tt.store "),
        ("numpy", "memory.load(x", "memory.store(out"),
        ("layouts", "= tt.load", "tt.store "),
        ("our_ptx", "ld.global", "st.global"),
        ("triton", "= tt.load", "tt.store "),
        ("ttgir", "= tt.load", "tt.store "),
        ("llir", "ld.global", "st.global"),
        ("ptx", "ld.global", "st.global"),
        ("sass", "LDG", "STG"),
    ],
)
def test_loads_and_stores_of_a_softmax(column: str, load: str, store: str) -> None:
    """The line of `tl.load` lights all loads of each stage and no stores, and the other way round."""
    page = softmax()
    for source, own, other in ((LOAD, load, store), (STORE, store, load)):
        lines = page.related(column, source)
        assert any(own in line for line in lines), f"{column}: none of {lines} has {own}"
        assert not any(other in line for line in lines)
        (origin,) = page.origins(column, own)
        assert source in origin


def test_lines_of_a_fused_loop() -> None:
    """One loop loads the weight and the bias and stores the row. Each access has its own source line."""
    softmax()
    page = page_of("layer_norm")
    for array, source in (("weight[", "w = tl.load"), ("bias[", "b = tl.load"), ("out[", "tl.store(out")):
        assert page.origins("numba", f" {array}") == [page.source[page.line(source)].strip()]
    assert not any(re.search(r"\S  # \d+$", plain(line)) for line in page.column("numba")["html"])


def test_a_product_ends_in_tensor_cores() -> None:
    softmax()
    page = page_of("matmul")
    texts = {
        "ttir": "tt.dot",
        "numpy": r"dot\(",
        "ttgir": "warp_group_dot ",
        "our_ptx": "[fm]ma",
        "ptx": "wgmma",
        "sass": "HGMMA",
    }
    for column, text in texts.items():
        assert re.search(text, "\n".join(page.related(column, "total = tl.dot("))), column


def test_functions_that_a_kernel_calls_are_shown() -> None:
    softmax()
    page = page_of("flash_attention")
    kernel, helper = page.line("def forward_kernel"), page.line("def is_seen")
    assert kernel < helper and page.data["source"]["numbers"][helper] < page.data["source"]["numbers"][kernel]
    assert any("arith.cmpi sge" in line for line in page.related("ttir", "seen = seen & (rows[:, None] >="))
    assert not any("def delta_kernel" in line for line in page.source), "a function that the kernel does not call"


def test_every_instruction_comes_from_somewhere() -> None:
    softmax()
    for kernel in ("softmax", "matmul", "flash_attention"):
        page = page_of(kernel)
        for column in page.data["columns"]:
            assert column["html"] and not column["reason"]
            assert sum(map(bool, column["from"])) > len(column["from"]) / 2, (kernel, column["name"])


def test_pages_are_whole_and_small() -> None:
    softmax()
    for kernel in ("softmax", "matmul", "flash_attention"):
        text = page_of(kernel).path.read_text(encoding="utf-8")
        assert len(text.encode()) < 4e6
        assert not re.search(r"https?://", text.partition('id="data"')[0])
        assert "{{" not in text.partition('id="data"')[0]


# --- how each stage says it


def lines_of(lines: list[Line]) -> list[tuple[str, list[int]]]:
    return [(line.text, sorted(number for _, number in line.places)) for line in lines]


def test_mlir() -> None:
    """An operation with a block lights its first and its last line; aliases may stand for several places."""
    text = """
        #loc1 = loc("a(1).py":7:0)
        module {
          %0 = scf.for %i = %a to %b step %c  : i32 {
            %1 = arith.addi %i, %i : i32 loc("b.py":3:4)
          } loc(callsite(#loc1 at #loc3))
          %x = "tt.reduce"(%0) ({
            tt.reduce.return %1 : i32 loc(#loc1)
          }) : (i32) -> i32 loc(fused["b.py":4:4, "b.py":5:4])
        } loc(#loc)
        #loc = loc(unknown)
        #loc3 = loc("b.py":9:2)"""
    assert lines_of(read_mlir(textwrap.dedent(text).strip())) == [
        ("module {", []),
        ("  %0 = scf.for %i = %a to %b step %c  : i32 {", [7, 9]),
        ("    %1 = arith.addi %i, %i : i32", [3]),
        ("  }", [7, 9]),
        ('  %x = "tt.reduce"(%0) ({', [4, 5]),
        ("    tt.reduce.return %1 : i32", [7]),
        ("  }) : (i32) -> i32", [4, 5]),
        ("}", []),
    ]


def test_llir() -> None:
    text = """
        define void @f() !dbg !4 {
          %1 = add i32 1, 2, !dbg !6
          ret void
        }
        !1 = !DIFile(filename: "a.py", directory: "/d")
        !4 = distinct !DISubprogram(name: "f", file: !1, line: 1)
        !5 = !DILocation(line: 9, column: 1, scope: !4)
        !6 = !DILocation(line: 3, column: 1, scope: !4, inlinedAt: !5)"""
    lines = read_llir(textwrap.dedent(text).strip())
    assert [line.text for line in lines] == ["define void @f() {", "  %1 = add i32 1, 2", "  ret void", "}"]
    assert lines[1].places == {(str(Path("/d/a.py")), 3), (str(Path("/d/a.py")), 9)}


def test_ptx() -> None:
    text = "{\n\t.reg .b32 %r<2>;\n$L__tmp0:\n\t.loc\t1 3 4 // a.py:3:4\n\tmov.u32 %r1, 0;\n\t// inline\n"
    text += "$L__BB0_1:\n\tret;\n}\n"
    text += '\t.file\t1 "/d/a.py"\n\t.section\t.debug_abbrev\n\t{\n.b8 1\n\t}\n'
    assert lines_of(read_ptx(text)) == [
        ("{", []),
        ("    .reg .b32 %r<2>;", []),
        ("    mov.u32 %r1, 0;", [3]),
        ("    // inline", [3]),
        ("$L__BB0_1:", []),
        ("    ret;", [3]),
        ("}", []),
    ]


def test_sass() -> None:
    text = '.headerflags\n\t//## File "/d/a.py", line 3\n        /*0000*/   LDC R1, c[0x0][0x28] ;\n.L_x_1:\n'
    text += '\t//## File "/d/a.py", line 4 inlined at "/d/a.py", line 9\n        /*0010*/   @P0 BRA `(.L_x_1);\n'
    expected = [("0000  LDC R1, c[0x0][0x28]", [3]), (".L_x_1:", []), ("0010  @P0 BRA `(.L_x_1)", [4, 9])]
    assert lines_of(read_sass(text)) == expected


def test_generated_python() -> None:
    """A comment counts up to the next comment, or the end of the function; a number after code, for its line only."""
    source = {("a.py", 3): "x = 1", ("b.py", 3): "y = 1", ("a.py", 4): "z = 2"}
    text = "def f():\n    P = 1\n    # 3: x = 1\n    x = 1\n    # 4: z = 2\n    y = 1  # 3\n    z = 2\n\ndef g():"
    lines = read_python(text, source)
    x, z, both = {("a.py", 3)}, {("a.py", 4)}, {("a.py", 3), ("b.py", 3)}
    assert [line.places for line in lines] == [*(set(), set(), x, x, z, both, z, set(), set())]
    assert lines[5].text == "    y = 1"


def test_the_examples_in_the_documentation() -> None:
    """The page on the explorer names the line of the softmax kernel that loads a row."""
    text = (ROOT / "docs/explorer.md").read_text(encoding="utf-8")
    found = re.findall(r'(?:softmax\.py":|[Ll]ine:? |\.loc 1 |# )(\d+)', text)
    page = softmax()
    assert len(found) == 7 and {*map(int, found)} == {page.data["source"]["numbers"][page.line(LOAD)]}


# --- passes


def test_passes_are_shown_one_by_one() -> None:
    softmax()
    passes = page_of("matmul").data["passes"]
    names = [step["name"] for step in passes["steps"]]
    assert names[0] == "the front end" and {"cse", "canonicalize"} <= set(names)
    texts = [[passes["html"][line] for mark, line in step["rows"] if mark != "-"] for step in passes["steps"]]
    for before, step in zip(texts, passes["steps"][1:], strict=False):
        assert [passes["html"][line] for mark, line in step["rows"] if mark != "+"] == before, step["name"]
        assert any(mark != " " for mark, _ in step["rows"])
    assert len(texts[0]) == len(page_of("matmul").column("ttir")["html"])


def test_differences() -> None:
    before, after = ([Line(text) for text in texts] for texts in (["a", "b", "c"], ["a", "d", "c", "e"]))
    assert [(mark, line.text) for mark, line in differences(before, after)] == [
        *((" ", "a"), ("-", "b"), ("+", "d"), (" ", "c"), ("+", "e"))
    ]


# --- memory

STRIDED = """
import numpy as np
import mini_triton as triton
import mini_triton.language as tl


@triton.jit
def strided(x, out, n, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for i in range(2):
        tl.store(out + at * STRIDE, tl.load(x + at + i, mask=at < n, other=0.0))


def run(n, size, stride):
    x, out = np.zeros(size, np.float32), np.zeros((n, stride), np.float32)
    strided[(triton.cdiv(n, 128),)](x, out, n, stride, BLOCK=128)


def run_nothing():
    pass
"""


@pytest.fixture
def strided(tmp_path: Path) -> Path:
    file = tmp_path / "strided.py"
    file.write_text(STRIDED)
    return file


def accesses(file: Path, launch: str) -> list[dict[str, Any]]:
    return make_page(file, "--launch", launch).data["memory"]["accesses"]


def test_what_each_program_touches(strided: Path) -> None:
    load, store = accesses(strided, "run(256, 300, 2)")
    assert (load["kind"], load["argument"], load["shape"], load["rounds"]) == ("load", "x", [300], 2)
    assert (store["kind"], store["argument"], store["shape"], store["tile"]) == ("store", "out", [256, 2], [128])
    lanes = [[0, 128]]
    assert sorted(load["touches"]) == [
        [[program, 0, 0], round, {"first": 128 * program + round, "strides": [1]}, lanes]
        for program in (0, 1)
        for round in (0, 1)
    ]
    assert [touch[2]["strides"] for touch in store["touches"]] == [[2]] * 4
    assert load["outside"] == store["outside"] == 0


def test_out_of_bounds(strided: Path) -> None:
    """In iteration 1, the last program reads x[200], which does not exist."""
    load, store = accesses(strided, "run(200, 200, 1)")
    assert load["outside"] == 1
    assert store["outside"] == 2 * 56, "the store has no mask: of 256 lanes 200 are inside, in both iterations"
    assert [touch[3] for touch in load["touches"]] == [[[0, 128]], [[0, 128]], [[0, 72]], [[0, 72]]]


def test_large_launches_are_sampled(strided: Path) -> None:
    load, _ = accesses(strided, "run(12800, 12801, 1)")
    assert sorted({touch[0][0] for touch in load["touches"]}) == [*range(12), *range(96, 100)]


def test_traffic_by_hand() -> None:
    """128 threads, each with one element: a warp's 32 floats fill 4 sectors, or, 8 floats apart, touch 32."""
    layout, threads = Blocked((1,), (32,), (4,), (0,)), np.arange(128)
    for stride, sectors in ((1, 16), (2, 32), (8, 128), (0, 4)):
        access = access_of(128 * 8)
        touch = Touch((0, 0, 0), 0, np.arange(128) * stride, np.ones(128, bool))
        moved = measure(access, touch, layout, threads, 4)
        assert (moved.instructions, moved.sectors, moved.fewest) == (4, sectors, 16 if stride else 4), stride
    half = Touch((0, 0, 0), 0, np.arange(128), np.arange(128) < 48)
    moved = measure(access_of(128), half, layout, threads, 4)
    assert (moved.instructions, moved.sectors) == (2, 6)
    wide = Blocked((4,), (32,), (1,), (0,))  # 16 bytes a thread: one instruction of the only warp
    full = Touch((0, 0, 0), 0, np.arange(128), np.ones(128, bool))
    moved = measure(access_of(128), full, wide, np.arange(128) // 4, 16)
    assert (moved.instructions, moved.sectors, moved.fewest) == (1, 16, 16)


def access_of(size: int) -> Access:
    """A load from an array of floats."""
    text = """module { tt.func public @f(%x: !tt.ptr<f32>) {
      %p = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %v = tt.load %p : tensor<128x!tt.ptr<f32>>
      tt.return
    } }"""
    load = next(operation for operation in parse_module(text).walk() if operation.name == "tt.load")
    return Access(load, Buffer.of("x", np.zeros(size, np.float32)))


def test_touches_as_numbers() -> None:
    offsets = np.array([[0, 1, 2], [10, 11, 12]])
    some, checked = np.array([[True, True, False], [True, True, False]]), np.array([[True, False, True], [True] * 3])
    touches = [Touch((0, 0, 0), 0, offsets, some), Touch((1, 0, 0), 0, offsets**2, checked)]
    assert [*packed(touches, 100)] == [
        [[0, 0, 0], 0, {"first": 0, "strides": [10, 1]}, [[0, 2], [0, 2]]],
        [[1, 0, 0], 0, [0, 1, 4, 100, 121, 144], "101111"],
    ]
    assert len([*packed(touches, 10)]) == 1, "there is no room for the other"


# --- compilers that are not finished


@pytest.mark.parametrize(
    "milestones, whole, missing",
    [
        ((6, 9, 10), ["ttir"], {"numpy": "Task 6.", "ptx": "Task 10.1"}),
        ((13,), ["ttir", "numba"], {"layouts": "Task 13.", "our_ptx": "needs the result of the stage layouts"}),
        ((5,), [], {"ttir": "Task 5.", "numpy": "needs the result of the stage ttir", "ptx": "needs the result"}),
    ],
)
def test_a_compiler_that_is_not_finished(
    milestones: tuple[int, ...], whole: list[str], missing: dict[str, str], strided: Path
) -> None:
    """Columns of stages that are not written yet say so; the others are there."""
    tree = unsolved(milestones, strided.parent / "tree")
    output = strided.parent / "page.html"
    command = [sys.executable, "-m", "mini_triton.tools.explore", str(strided), "-o", str(output)]
    command += ["--signature", "*fp32:16, *fp32:16, i32, 1, 128"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(tree)}, capture_output=True, text=True)
    assert done.returncode == (0 if whole else 1), done.stderr
    page = read_page(output)
    assert any("def strided" in line for line in page.source)
    for column in whole:
        assert page.column(column)["html"] or not triton.available(), column
    for column, reason in missing.items():
        assert reason in page.column(column)["reason"] or not triton.available(), column
    if 9 in milestones:
        idle = [one["missing"] for step in page.data["passes"]["steps"] for one in step["idle"]]
        assert any("Task 9." in reason for reason in idle)


# --- the command


@pytest.mark.parametrize(
    "options, message",
    [
        (["--launch", "run_nothing()"], "run_nothing() does not launch a kernel"),
        (["--launch", "run_nothin()"], "argument --launch: NameError: name 'run_nothin' is not defined"),
        (["--launch", "run_nothing("], "SyntaxError: '(' was never closed"),
        (["--launch", "[][0]"], "argument --launch: IndexError: list index out of range"),
        (["--launch", "run(128, 129, 1)", "--kernel", "other"], "does not launch other"),
        (["--signature", "*fp32", "--kernel", "other"], "there is no kernel other; the file has strided"),
        (["--signature", "*fp32"], "strided has 5 parameters (x, out, n, STRIDE, BLOCK), and the signature has 1"),
        (["--signature", "*fp32, *fp32, i32, 1, 128", "--target", "gpu"], "a target is spelled like cuda:90"),
        (["--signature", "*fp32, *fp32, i32, 1, 128", "--num-warps", "3"], "argument --num-warps: invalid choice: 3"),
    ],
)
def test_what_the_command_refuses(
    options: list[str], message: str, strided: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        make_page(strided, *options)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text, message", [(None, "there is no file"), ("x = 1", "the file has no kernel")])
def test_files_without_a_kernel(
    text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kernel.py"
    if text:
        file.write_text(text)
    with pytest.raises(SystemExit):
        make_page(file, "--signature", "i32")
    assert message in capsys.readouterr().err


def test_a_folder_that_does_not_exist(strided: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = strided.parent / "nowhere/page.html"
    with pytest.raises(SystemExit):
        main([str(strided), "--signature", "*fp32, *fp32, i32, 1, 128", "-o", str(output)])
    assert str(output) in capsys.readouterr().err


def test_a_page_that_opens(strided: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = make_page(strided, "--signature", "*fp32, *fp32, i32, 1, 128", "--open")
    assert opened == [page.path.as_uri()]


def test_a_signature_is_enough(strided: Path) -> None:
    page = make_page(strided, "--signature", "*fp32:16, *fp32:16, i32, 1, 128", "--target", "cuda:80")
    assert page.data["grid"] is None and "use --launch" in page.data["memory"]["reason"]
    assert page.data["divisible"] == ["x", "out"]
    assert page.column("numpy")["html"]
    if triton.available():
        assert all(any("sm_80" in line for line in page.column(name)["html"]) for name in ("ptx", "our_ptx"))


def test_a_wrong_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The compiler's error is on the screen, first on the page, and in the place of its TTIR."""
    file, output = tmp_path / "wrong.py", tmp_path / "page.html"
    file.write_text(STRIDED.replace("at * STRIDE", "at * nowhere"))
    with pytest.raises(SystemExit) as ended:
        main([str(file), "--signature", "*fp32, *fp32, i32, 1, 128", "-o", str(output)])
    page = read_page(output)
    assert ended.value.code == 1
    assert page.data["error"] and page.data["error"] in capsys.readouterr().err
    reason = page.column("ttir")["reason"]
    assert "nowhere" in reason and "^" in reason
    assert page.column("ptx")["reason"] == "Real Triton needs the result of the stage passes."
