"""The emulator: real Triton's PTX gives the results of a GPU, and planted defects are found where they are."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import mini_triton.language as tl
import numpy as np
import pytest
from mini_triton.__main__ import main
from mini_triton.emulator import Report, emulate
from mini_triton.emulator.back_end import EmulationError
from mini_triton.emulator.parser import parse
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime.jit import jit

from grader.course.curriculum import ROOT
from tests.corpus import named
from tests.corpus.cases import TARGETS, Case
from tests.oracles import triton as real
from tests.support.emulator import compiled, is_right, judge, launch
from tests.support.emulator.mutations import mutants

SAMPLE = named(
    *"softmax_row layer_norm_forward layer_norm_backward_lock rms_norm dropout_matrix matmul_kernel".split(),
    *"attention_forward_causal batched_dot arg_reductions scan_axes atomic_floats atomic_integers messages".split(),
    *"pointer_kinds early_exits_3 last_block_sums while_nested transpose rotary float_arithmetic".split(),
    *"eight_bit_floats narrow_integers".split(),
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", SAMPLE, ids=str)
def test_corpus(case: Case, target: str) -> None:
    text = compiled(case, target)
    report, after = launch(case, text.ptx, text.shared)
    judge(case, after)
    assert not report.errors, "\n".join(map(str, report.errors))


BROKEN = {
    "softmax_row": ["drop bar.sync"],
    "matmul_kernel": ["drop bar.sync", "wait_group + 2", "drop .trans", "xor to or", "drop a fence"],
    "attention_forward_causal": ["drop bar.sync", "wait_group + 2"],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BROKEN)
def test_mutants_are_noticed(name: str, target: str) -> None:
    (case,) = named(name)
    text = compiled(case, target)
    unneeded = {f.ptx_line for f in launch(case, text.ptx, text.shared)[0].findings if f.kind == "redundant barrier"}
    missed, tried = [], 0
    for kind in BROKEN[name]:
        for mutant in [m for m in mutants(text.ptx) if m.kind == kind][-3:]:
            if mutant.line not in unneeded:
                report, after = launch(case, mutant.text, text.shared)
                missed += [] if report.errors or not is_right(case, after) else [mutant.line]
                tried += 1
    assert tried >= 2 and len(missed) <= tried // 5, f"not noticed: lines {missed}"


def test_a_missing_barrier_is_found_at_the_line_of_the_reduction() -> None:
    (case,) = named("softmax_row")
    text = compiled(case, "sm_80")
    lines = case.path.read_text(encoding="utf-8").splitlines()
    for mutant in mutants(text.ptx):
        if mutant.kind == "drop bar.sync":
            report, _ = launch(case, mutant.text, text.shared)
            races = [finding for finding in report.errors if finding.kind == "race"]
            if races:
                assert races[0].place
                assert re.search(r"tl\.(max|sum)", lines[races[0].place.line - 1])
                return
    raise AssertionError("no mutant races")


# --- by hand

HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n.reqntid {threads}\n{{\n"
START = """
.reg .pred %p<9>;
.reg .b32 %r<30>;
.reg .b64 %d<9>;
.shared .align 16 .b8 room[8192];
mov.u32 %r0, %tid.x;
mov.u32 %r1, room;
ld.param.u64 %d0, [p];
mad.lo.s32 %r2, %r0, 4, %r1;
mad.wide.u32 %d1, %r0, 4, %d0;
"""


def run(body: str, threads: int = 128, grid: int = 1, size: int = 1024) -> tuple[Report, np.ndarray]:
    """The report of a kernel with this body, and its memory after it."""
    memory = np.arange(size, dtype=np.uint32)
    return emulate(HEAD.format(threads=threads) + START + body + "ret;\n}", (grid,), [memory], names=["p"]), memory


def kinds(report: Report) -> set[str]:
    return {finding.kind for finding in report.errors}


NEIGHBOR = "st.shared.b32 [%r2], %r0;\n{}xor.b32 %r3, %r2, 252;\nld.shared.b32 %r4, [%r3];\nst.global.b32 [%d1], %r4;\n"


def test_race() -> None:
    report, _ = run(NEIGHBOR.format(""))
    (finding,) = report.errors
    assert (finding.kind, finding.instruction) == ("race", "ld.shared.b32 %r4, [%r3]")
    assert "after a write of thread" in finding.message and finding.ctas == [0]
    report, memory = run(NEIGHBOR.format("bar.sync 0;\n"))
    assert not report.errors
    assert (memory[:128] == np.arange(128) ^ 63).all()


def test_a_warp_synchronizes_with_itself_only() -> None:
    text = NEIGHBOR.replace("252", "4")
    assert kinds(run(text.format(""))[0]) == {"race"}
    assert not run(text.format("bar.warp.sync -1;\n"))[0].errors
    assert kinds(run(NEIGHBOR.format("bar.warp.sync -1;\n"))[0]) == {"race"}


def test_named_barriers_order_the_warps_that_meet() -> None:
    """Warps 0 and 1 exchange elements, and so do warps 2 and 3."""
    everyone = "bar.sync 1, 128;\n"
    pairs = "shr.u32 %r9, %r0, 6;\nadd.u32 %r9, %r9, 1;\nbar.sync %r9, 64;\n"
    branches = "setp.lt.u32 %p1, %r0, 64;\n@%p1 bra A;\nbar.sync 2, 64;\nbra B;\nA: bar.sync 1, 64;\nB:\n"
    for barriers in (everyone, pairs, branches):
        assert not run(NEIGHBOR.format(barriers))[0].errors


def test_several_threads_store_to_one_place() -> None:
    report, _ = run("st.shared.b32 [%r1], %r0;\n")
    assert kinds(report) == {"race"}
    assert not run("st.shared.b32 [%r1], 7;\n")[0].findings
    report, _ = run("st.shared.b32 [%r1], %r0;\n", threads=32)
    assert [finding.kind for finding in report.findings] == ["order"]


def test_a_read_of_what_nobody_wrote() -> None:
    report, _ = run("ld.shared.b32 %r3, [%r2];\nst.global.b32 [%d1], %r3;\n")
    assert kinds(report) == {"uninitialized"}


def test_out_of_bounds_and_misaligned() -> None:
    report, memory = run("st.global.b32 [%d1+8], %r0;\n", size=64)
    (finding,) = report.errors
    assert finding.kind == "out of bounds"
    assert "just after the end of p (256 bytes)" in finding.message
    assert (finding.threads[0], finding.count) == (62, 66)
    assert (memory[2:] == np.arange(62)).all()
    assert kinds(run("st.global.b32 [%d1+2], %r0;\n")[0]) == {"misaligned"}
    assert kinds(run("st.shared.b32 [%r2+8000], %r0;\n")[0]) == {"out of bounds"}


def test_copies_must_be_waited_for() -> None:
    body = "cp.async.ca.shared.global [%r2], [%d1], 4;\ncp.async.commit_group;\n{}ld.shared.b32 %r3, [%r2];\n"
    body += "add.u32 %r3, %r3, 1;\nst.global.b32 [%d1], %r3;\n"
    report, memory = run(body.format("cp.async.wait_group 0;\n"))
    assert not report.errors
    assert (memory[:128] == np.arange(128) + 1).all()
    report, memory = run(body.format("cp.async.wait_group 1;\n"))
    assert kinds(report) == {"async"}
    assert (memory[:128] == 1).all()


def test_barriers_that_not_all_reach() -> None:
    report, _ = run("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra DONE;\nbar.sync 0;\nDONE:\n")
    assert kinds(report) == {"barrier"}
    body = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.sync 1;\nbra DONE;\nA: bar.sync 2;\nDONE:\n"
    assert kinds(run(body)[0]) == {"barrier"}


LOCK = """
setp.ne.u32 %p1, %r0, 0;
@%p1 bra WAIT;
TRY: atom.global.acq_rel.gpu.cas.b32 %r5, [%d0], 0, 1;
setp.ne.u32 %p2, %r5, 0;
@%p2 bra TRY;
WAIT: bar.sync 0;
ld.global.b32 %r6, [%d1+512];
add.u32 %r6, %r6, 1;
st.global.b32 [%d1+512], %r6;
bar.sync 0;
@!%p1 atom.global.release.gpu.exch.b32 %r5, [%d0], 0;
"""


def test_programs_that_wait_for_each_other_make_progress() -> None:
    report, memory = run(LOCK, grid=20)
    assert not report.errors
    assert (memory[128:256] == np.arange(128, 256) + 20).all()


def test_programs_that_wait_forever_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mini_triton.emulator.schedule.HOPELESS", 500)
    report, _ = run("TRY: ld.volatile.global.b32 %r5, [%d0+4];\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra TRY;\n")
    assert kinds(report) == {"deadlock"}


def test_divergent_loops_meet_again() -> None:
    body = "and.b32 %r5, %r0, 7;\nmov.u32 %r6, 0;\nLOOP: add.u32 %r6, %r6, %r5;\nsub.u32 %r5, %r5, 1;\n"
    body += "setp.gt.s32 %p1, %r5, 0;\n@%p1 bra LOOP;\nvote.sync.ballot.b32 %r7, 1, -1;\n"
    body += "setp.eq.u32 %p2, %r7, -1;\nselp.b32 %r6, %r6, 99, %p2;\nst.global.b32 [%d1], %r6;\n"
    report, memory = run(body)
    turns = np.arange(128) % 8
    assert (memory[:128] == turns * (turns + 1) // 2).all()
    assert "divergence" in {finding.kind for finding in report.findings}


@pytest.mark.parametrize("limit", [128, 100])
def test_only_threads_whose_guard_is_true_trap(limit: int) -> None:
    report, memory = run(f"setp.ge.u32 %p1, %r0, {limit};\n@%p1 trap;\nst.global.b32 [%d1], 7;\n")
    assert [(error.kind, error.count) for error in report.errors] == [("trap", 28)] * (limit < 128)
    assert np.flatnonzero(memory[:128] != 7).tolist() == [*range(limit, 128)]


@pytest.mark.parametrize(("stride", "ways"), [(4, 1), (8, 2), (32, 8), (128, 32), (0, 1)])
def test_bank_conflicts(stride: int, ways: int) -> None:
    body = f"and.b32 %r9, %r0, 31;\nmad.lo.s32 %r2, %r9, {stride}, %r1;\nld.shared.b32 %r3, [%r2];\n"
    report, _ = run(body, threads=32)
    assert (report.total.bank_ways, report.total.shared) == (ways, 1)


@pytest.mark.parametrize(("stride", "sectors", "least"), [(4, 4, 4), (8, 8, 4), (32, 32, 4), (0, 1, 1)])
def test_sectors(stride: int, sectors: int, least: int) -> None:
    body = f"mad.wide.u32 %d1, %r0, {stride}, %d0;\nld.global.b32 %r3, [%d1];\n"
    report, _ = run(body, threads=32)
    assert (report.total.sectors, report.total.least_sectors) == (sectors, least)


def test_redundant_barriers_are_hints() -> None:
    report, _ = run(NEIGHBOR.format("bar.sync 0;\nbar.sync 0;\n"))
    assert [f.kind for f in report.findings] == ["redundant barrier"] * 2
    report, _ = run(NEIGHBOR.format("bar.sync 0;\n"))
    assert not report.findings


MBARRIER = """
setp.eq.u32 %p1, %r0, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r1+4096], 1;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+4096], 512;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 512, [%r1+4096];
{
.reg .pred done;
AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%r1+4096], 0;
@!done bra AGAIN;
}
ld.shared.b32 %r3, [%r2];
add.u32 %r3, %r3, 5;
st.global.b32 [%d1], %r3;
"""


def test_bulk_copies_and_mbarriers() -> None:
    report, memory = run(MBARRIER)
    assert not report.errors
    assert (memory[:128] == np.arange(128) + 5).all()
    report, _ = run(re.sub(r"@!done bra AGAIN;|AGAIN: mbarrier[^;]*;", "", MBARRIER))
    assert kinds(report) == {"async"}


def test_scopes_lines_and_symbols() -> None:
    kernel = parse(
        HEAD.format(threads=32)
        + '.loc 1 7 3\n{ .reg .b32 x; mov.u32 x, 1; }\n{ .reg .b64 x; }\nret;\n}\n.file 1 "/a/b.py"'
    )
    assert set(kernel.registers) == {"x.1", "x.2"}
    assert [(i.line, str(i.place)) for i in kernel.instructions] == [(8, "b.py:7"), (10, "b.py:7")]


# --- as a back end


@jit
def scale(out, x, n, factor, BLOCK: constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=0.0) * factor, mask=at < n)


@jit
def overrun(out, x, BLOCK: constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


@pytest.fixture
def real_triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real.version()  # or the test ends as unavailable
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


@pytest.mark.usefixtures("real_triton")
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90"])
def test_back_end(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINI_TRITON_TARGET", target)
    x, out = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    scale[(4,)](out, x, 1000, 0.5, BLOCK=256, backend="emulator")
    assert (out == x / 2).all()
    with pytest.raises(EmulationError, match=r"test_emulator.py:\d+: out of bounds: .* the end of x \(4000 bytes\)"):
        overrun[(4,)](np.zeros(1024, np.float32), x, BLOCK=256, backend="emulator")


PRODUCT = """
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, BLOCK: tl.constexpr):
    rows = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BLOCK, BLOCK])
    columns = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BLOCK, BLOCK])
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        x = rows.load([tl.program_id(0) * BLOCK, k])
        total += tl.dot(x, columns.load([k, tl.program_id(1) * BLOCK]))
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BLOCK, BLOCK])
    out.store([tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK], total)
"""


def test_the_copy_engine_and_tensor_maps() -> None:
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32", "BLOCK": "constexpr"}
    source = real.Source(PRODUCT, "product", signature, {"BLOCK": 64}, ["a", "b", "c", "N", "K"])
    (made,) = real.frontends([source], lower=True)
    text = made.compiled.ptx
    assert "cp.async.bulk.tensor" in text and "wgmma" in text
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal(shape).astype(np.float16) for shape in ((100, 192), (192, 80)))
    wanted = a.astype(np.float32) @ b.astype(np.float32)

    def start(ptx: str) -> tuple[Report, np.ndarray]:
        c = np.zeros((100, 80), np.float32)
        return emulate(ptx, (2, 2), [a, b, c, 100, 80, 192], shared=made.compiled.shared, scratch=1024), c

    report, c = start(text)
    assert not report.errors, str(report)
    np.testing.assert_allclose(c, wanted, rtol=1e-5, atol=1e-4)
    too_early = r"(try_wait\.parity\S* complete, \[[^]]*\], )%r\d+", r"\g<1>1"
    for pattern, new in ((r"@!complete bra\.uni waitLoop;", ""), too_early, (r"fence\.proxy\.async[^;]*;", "")):
        broken = re.sub(pattern, new, text)
        assert broken != text
        report, c = start(broken)
        assert report.errors


@pytest.mark.parametrize("name", ["matmul_kernel", "attention_forward_causal"])  # the second has factors in registers
def test_registers_of_products(name: str) -> None:
    """Threads may use them only after a wait, and products after threads only after a fence."""
    (case,) = named(name)
    text = compiled(case, "sm_90")
    products = re.findall(r"wgmma\.mma_async.*;", text.ptx)
    groups = [re.split(r", *", group) for group in re.findall(r"\{(.*?)\}", products[-1])]
    assert len(groups) == 1 + (name == "attention_forward_causal")

    def messages(ptx: str) -> set[str]:
        return {finding.message for finding in launch(case, ptx, text.shared)[0].errors}

    assert not messages(text.ptx)
    missing = messages(re.sub(r"wgmma\.fence.*;", "", text.ptx))
    assert missing and all("no wgmma.fence since threads last used %r" in message for message in missing)
    for group in groups:
        before, after = f"mov.b32 {group[-1]}, 0;\n{products[-1]}", f"{products[-1]}\nmov.b32 {group[-1]}, 0;"
        assert f"no wgmma.fence since threads last used {group[-1]}" in messages(text.ptx.replace(products[-1], before))
        used = messages(text.ptx.replace(products[-1], after))
        assert "uses registers of a wgmma that has not finished" in used


SCRIPT = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at))


def start(n):
    x = np.ones(n, np.float32)
    double[(1,)](x, BLOCK=64)
    return x


if __name__ == "__main__":
    print(start(64).sum())
"""


@pytest.mark.usefixtures("real_triton")
def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    assert main(["emulate", str(file), "double", "--launch", "start(64)", "--target", "cuda:80"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("double: 0 errors") and "script.py:10" in shown
    assert main(["emulate", str(file), "--launch", "start(60)", "--json"]) == 1
    data: Any = json.loads(capsys.readouterr().out)
    assert {(f["kind"], f["line"]) for f in data["findings"] if f["error"]} == {("out of bounds", 10)}
    with pytest.raises(SystemExit):
        main(["emulate", str(file), "--launch", "start(64)", "--target", "tpu"])
    command = [sys.executable, "-m", "mini_triton", "run", "--backend", "emulator", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "solutions")
    assert done.stdout == "128.0\n", done.stderr
