"""The given parts of tuning: the device, what a kernel needs of it, Triton's names for programs, pictures."""

import ctypes
import importlib
import importlib.util
import time
from pathlib import Path
from typing import Any
from unittest import mock

import mini_triton as triton
import numpy as np
import pytest
from kernels import tuned
from mini_triton import errors, knobs, testing
from mini_triton.backends.occupancy import GPUS, occupancy_of, sweep
from mini_triton.compat import driver
from mini_triton.tuning import pictures
from mini_triton.tuning.autotuner import Autotuner, Config, Heuristics
from mini_triton.tuning.reports import Benchmark, perf_report

from tests import oracles
from tests.oracles import gpu
from tests.oracles import triton as real
from tests.support.sources import load

TEXT = """
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out, x, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=num_stages):
        at = tl.arange(0, BLOCK)
        values = tl.load(x + row * x_stride + at, mask=at < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + at, powers / tl.sum(powers, axis=0), mask=at < columns)


def softmax(x, out):
    rows, columns = x.shape
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    warps, stages = 8, 4
    block = triton.next_power_of_2(columns)
    kernel = softmax_kernel.warmup(
        out, x, x.stride(0), out.stride(0), rows, columns, BLOCK=block, num_stages=stages, num_warps=warps, grid=(1,)
    )
    kernel._init_handles()
    registers, shared = kernel.n_regs, kernel.metadata.shared
    fitting = properties["max_num_regs"] // (registers * properties["warpSize"] * warps)
    fitting = min(fitting, properties["max_shared_mem"] // shared)
    programs = min(properties["multiprocessor_count"] * fitting, rows)
    softmax_kernel[(programs, 1, 1)](out, x, x.stride(0), out.stride(0), rows, columns, block, stages)
    return programs


@triton.jit
def large(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.sort(tl.load(x + at)))
"""


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    return load(TEXT, "kernels_to_tune.py")


@pytest.fixture
def on_gpu(device: str) -> None:
    if device != "cuda" or not gpu.available():
        oracles.unavailable("no CUDA GPU")


# --- names


def test_triton_s_names() -> None:
    assert triton.autotune is triton.runtime.autotune
    assert importlib.import_module("mini_triton.runtime.autotuner").Autotuner is Autotuner
    assert triton.runtime.Autotuner is Autotuner and triton.runtime.Heuristics is Heuristics
    assert triton.Config is Config and callable(testing.do_bench) and callable(testing.perf_report)
    assert issubclass(errors.AutotunerError, triton.TritonError)


def test_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINI_TRITON_CACHE_AUTOTUNING", raising=False)
    assert not knobs.autotuning.cache and not Autotuner(None, [], [], [], None, None).cache_results
    monkeypatch.setenv("MINI_TRITON_CACHE_AUTOTUNING", "1")
    assert knobs.autotuning.cache and Autotuner(None, [], [], [], None, None).cache_results


def test_configurations() -> None:
    config = Config({"BLOCK": 64}, num_warps=8, maxnreg=128)
    assert config.all_kwargs() == {"BLOCK": 64, "num_warps": 8, "num_ctas": 1, "num_stages": 3, "maxnreg": 128}
    assert config == Config({"BLOCK": 64}, 8, maxnreg=128) and config != Config({"BLOCK": 64}, 8)
    assert len({config, Config({"BLOCK": 64}, 8, maxnreg=128), Config({"BLOCK": 64}, 8)}) == 2
    assert str(config) == "BLOCK: 64, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: 128"


def test_the_order_of_names_does_not_distinguish_configurations() -> None:
    one, other = Config({"BLOCK": 64, "GROUP": 8}), Config({"GROUP": 8, "BLOCK": 64})
    assert one == other and hash(one) == hash(other)
    assert one != Config({"BLOCK": 8, "GROUP": 64}) and one != Config(one.kwargs, pre_hook=print)


def test_deprecated_parameters() -> None:
    for options in ({"warmup": 1}, {"rep": 1}, {"use_cuda_graph": True}):
        with pytest.warns(DeprecationWarning, match="use do_bench"):
            tuner = Autotuner(None, [], [Config({})], [], None, None, **options)
        if "use_cuda_graph" not in options or driver.active is driver.cpu:
            with mock.patch.object(driver, "active", driver.cpu):
                assert len(tuner.do_bench(lambda: None, quantiles=(0.5, 0.2, 0.8))) == 3


# --- the device


def test_the_cpu_as_a_device() -> None:
    device = driver.cpu
    assert device.get_current_target().backend == "cpu" and device.get_current_device() == 0
    assert all(number > 0 for number in device.utils.get_device_properties(0).values())
    times = device.get_benchmarker()(lambda: time.sleep(0.001), quantiles=(0.5, 0.2, 0.8))
    assert len(times) == 3 and times[0] == min(times) >= 1.0


def test_without_a_gpu_a_graph_is_no_graph() -> None:
    with mock.patch.object(driver, "active", driver.cpu):
        assert testing.do_bench_cudagraph(lambda: time.sleep(0.001), rep=5, return_mode="min") >= 1.0


def test_a_program_that_divides_by_what_kernels_need(kernels: dict[str, Any]) -> None:
    """The host code of Triton's tutorial 02."""
    torch = pytest.importorskip("torch", reason="its arguments are tensors")
    x = torch.randn(37, 781)
    out = torch.empty_like(x)
    with mock.patch.object(driver, "active", driver.cpu):
        assert 1 <= kernels["softmax"](x, out) <= 37
    torch.testing.assert_close(out, x.softmax(1))


def test_what_a_kernel_needs_of_a_cpu(kernels: dict[str, Any]) -> None:
    with mock.patch.object(driver, "active", driver.cpu):
        kernel = kernels["large"].warmup(np.float32, BLOCK=256, grid=(1,))
        assert (kernel.n_regs > 0, kernel.n_spills, kernel.metadata.shared) == (True, 0, 8 * 256)


def test_what_a_kernel_needs_of_a_gpu(kernels: dict[str, Any]) -> None:
    if not real.available():
        oracles.unavailable("real Triton is not installed")
    kernel = kernels["large"].warmup(np.float32, BLOCK=256, grid=(1,))
    lowered = kernel.lower("sm_90")
    assert 8 <= kernel.n_regs <= 255 and kernel.n_spills == 0
    assert kernel.metadata.shared == lowered.kernel.shared > 0
    assert occupancy_of(kernel).warps % 4 == 0


def test_errors_of_real_triton_become_ours() -> None:
    if not real.available():
        oracles.unavailable("real Triton is not installed")
    from mini_triton.backends.triton_api import own_errors
    from triton.runtime.errors import OutOfResources, PTXASError

    with pytest.raises(errors.OutOfResources, match="Required: 2, Hardware limit: 1"), own_errors():
        raise OutOfResources(2, 1, "shared memory")
    with pytest.raises(errors.PTXASError, match="no such register"), own_errors():
        raise PTXASError("no such register")


class Driver:
    """A driver for real Triton's `CompiledKernel`: a GPU without shared memory, and with room for one warp."""

    def __init__(self) -> None:
        self.launched: list[tuple[Any, ...]] = []
        self.utils = self

    def launcher_cls(self, src: Any, metadata: Any) -> Any:
        return lambda *arguments: self.launched.append(arguments)

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[object, object, int, int, int]:
        return object(), object(), 32, 0, 32

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> Any:
        from mini_triton.backends import triton_api

        return triton_api.target(90)


def test_every_launch_of_a_kernel_that_does_not_fit_raises_our_error(kernels: dict[str, Any]) -> None:
    if not real.available():
        oracles.unavailable("real Triton is not installed")
    from triton.compiler import compiler
    from triton.runtime import driver as theirs

    small = Driver()
    with mock.patch.object(theirs, "_active", small), mock.patch.object(compiler, "max_shared_mem", lambda device: 0):
        for block, warps, name in ((256, 4, "shared memory"), (16, 4, "threads")):
            kernel = kernels["large"].warmup(np.float32, BLOCK=block, num_warps=warps, grid=(1,)).lower("sm_90").kernel
            for _ in range(3):
                with pytest.raises(errors.OutOfResources, match=name):
                    kernel.launch((1, 1, 1), [0])
        kernel = kernels["large"].warmup(np.float32, BLOCK=16, num_warps=1, grid=(1,)).lower("sm_90").kernel
        assert not small.launched
        for count in (1, 2):
            kernel.launch((1, 1, 1), [0])
            assert len(small.launched) == count


# --- tuners


def test_a_tuner_keeps_no_memory(kernels: dict[str, Any]) -> None:
    tuner = triton.autotune([Config({"BLOCK": 16})], [])(kernels["large"])
    tuner[(1,)](np.zeros(16, np.float32))
    assert not tuner.nargs


def test_the_benchmark_is_that_of_the_device() -> None:
    class OnGpu:
        is_cuda = True

    used: list[str] = []

    class Device:
        def __init__(self, name: str) -> None:
            self.name = name

        def get_benchmarker(self) -> Any:
            return self.bench

        def bench(self, call: Any, quantiles: Any) -> float:
            used.append(self.name)
            return 1.0

    kernel = mock.Mock(arg_names=["x", "BLOCK"], fn=test_a_heat_map, spec=["run", "arg_names", "fn"])
    tuner = triton.autotune([Config({"BLOCK": 16}), Config({"BLOCK": 32})], [])(kernel)
    with mock.patch.object(driver, "active", Device("cuda")), mock.patch.object(driver, "cpu", Device("cpu")):
        tuner[(1,)](x=OnGpu())
        tuner[(1,)](np.zeros(3))
    assert used == ["cuda", "cuda", "cpu", "cpu"]


def test_warming_up_compiles_all(kernels: dict[str, Any]) -> None:
    tuner = triton.autotune([Config({"BLOCK": 16}), Config({"BLOCK": 32})], [])(kernels["large"])
    compiled = tuner.warmup(np.float32, grid=(1,))
    assert [kernel.signature["x"] for kernel in compiled] == ["*fp32", "*fp32"]


def on_disk(kernel: Any, times: dict[int, list[float]], blocks: list[int], **options: Any) -> Autotuner:
    """A tuner that keeps its results on disk. Its configurations take the times of their blocks."""
    configs = [Config({"BLOCK": block}) for block in blocks]
    tuner = triton.autotune(configs, [], cache_results=True, **options)(kernel)
    blocks_left = iter(blocks)
    tuner.bench = lambda call, quantiles: call() or times[next(blocks_left)]
    return tuner


def test_the_disk_leads_to_the_choice_of_the_trials(kernels: dict[str, Any]) -> None:
    times = {16: [1.0, 0.5, 3.0], 32: [1.0, 0.25, 2.0]}
    first, second = (on_disk(kernels["large"], times, [16, 32]) for _ in range(2))
    for tuner in (first, second):
        tuner[(1,)](np.zeros(32, np.float32))
        assert tuner.best_config == Config({"BLOCK": 16}), "the medians are equal, so the first configuration is chosen"
    assert not second.bench_time, "the second tuner reads the times from disk"


def test_repeated_configurations_can_be_kept_on_disk(kernels: dict[str, Any]) -> None:
    times = {16: [2.0, 2.0, 2.0], 32: [1.0, 1.0, 1.0]}
    for tuner in [on_disk(kernels["large"], times, [16, 32, 16]) for _ in range(2)]:
        tuner[(1,)](np.zeros(32, np.float32))
        assert tuner.best_config == Config({"BLOCK": 32})
        assert [config.kwargs["BLOCK"] for config in tuner.configs_timings] == [16, 32]


def test_only_trials_reset_memory_to_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real Triton does not reset memory either if it reads its choice from disk, or if it has chosen before."""
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    kernel = load(ADD_ONE, "kernel_that_adds_one.py")["add_one"].fn
    times = {2: [1.0, 1.0, 1.0], 4: [2.0, 2.0, 2.0]}
    found = []
    for tuner in [on_disk(kernel, times, [2, 4], reset_to_zero=["x"]) for _ in range(2)]:
        for _ in range(2):
            x = np.full(4, 5.0, np.float32)
            tuner[(2,)](x, 4)
            found.append(x.tolist())
    assert found == [[1.0] * 4, [6.0] * 4, [6.0] * 4, [6.0] * 4]


def test_a_kernel_of_the_course_is_launched_with_keywords() -> None:
    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    with mock.patch.object(tuned.add, "bench", lambda call, quantiles: call() or 1.0):
        tuned.add[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](x=x, y=x, out=out, n=100)
    assert set(out.tolist()) == {2.0}


# --- pictures


def test_a_heat_map() -> None:
    cells = [
        *sweep(mock.Mock(warmup=mock.Mock(side_effect=errors.OutOfResources(2, 1, "x"))), (), {"A": [1], "B": [2]}, ""),
    ]
    assert cells[0].error.startswith("OutOfResources")
    assert "OutOfResources" in pictures.heat_map(cells, "B")


def test_a_picture(tmp_path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("pictures need matplotlib")
    with mock.patch.dict("os.environ", {"MPLBACKEND": "agg"}):
        asked = Benchmark(["n"], [1, 2, 4], "who", ["a", "b"], ["A", "B"], "plot", {}, ylabel="ms", x_log=True)
        perf_report(asked)(lambda n, who: (n, n - 0.5, n + 0.5) if who == "a" else 2.0 * n).run(save_path=str(tmp_path))
        roof = [("roof", lambda intensity: min(10.0, intensity))]
        pictures.scatter(tmp_path / "roof.png", roof, [("a", 1.0, 0.5), ("b", 100.0, 8.0)])
    for name in ("plot.png", "roof.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert 'src="plot.png"' in (tmp_path / "results.html").read_text()


# --- on a GPU


@pytest.mark.usefixtures("on_gpu")
def test_times_of_a_gpu() -> None:
    import torch
    from triton.testing import do_bench, do_bench_cudagraph

    x = torch.randn(1 << 26, device="cuda")
    for ours, theirs in ((testing.do_bench, do_bench), (testing.do_bench_cudagraph, do_bench_cudagraph)):
        times = [bench(lambda: x.add_(1), return_mode="median") for bench in (ours, theirs, ours, theirs)]
        assert abs(min(times[::2]) / min(times[1::2]) - 1) < 0.1, times


@pytest.mark.usefixtures("on_gpu")
def test_what_the_driver_says(kernels: dict[str, Any]) -> None:
    """Registers and occupancy of kernels on the GPU that is here."""
    import torch

    cuda = ctypes.CDLL("libcuda.so.1")
    target = f"sm_{driver.active.get_current_target().arch}"
    for block, warps in ((256, 1), (256, 4), (1024, 4), (2048, 8), (4096, 16), (4096, 32)):
        kernel = kernels["large"].warmup(torch.float32, BLOCK=block, num_warps=warps, grid=(1,))
        made = kernel.lower(target).kernel
        made.loaded()
        theirs = made.kernel
        assert (made.registers, made.spills) == (theirs.n_regs, theirs.n_spills), kernel.asm["sass"][:500]
        blocks = ctypes.c_int()
        count = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
        code = count(ctypes.byref(blocks), ctypes.c_void_p(theirs.function), 32 * warps, ctypes.c_size_t(made.shared))
        assert code == 0
        assert target not in GPUS or occupancy_of(kernel, target).blocks == blocks.value, (block, warps)


@pytest.mark.usefixtures("on_gpu")
@pytest.mark.parametrize("bench", [testing.do_bench, testing.do_bench_cudagraph])
def test_a_configuration_that_does_not_fit_a_gpu(bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials for several keys skip it, whether or not the results of earlier keys come from disk."""
    import torch
    from kernels import matmul

    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    huge = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 128, "GROUP": 8}
    fine = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8}
    configs = [Config(huge, num_warps=8, num_stages=4), Config(fine)]
    tried = []
    for sizes in ((512, 256, 1024), (512, 256, 1024, 128)):
        tuner = triton.autotune(configs, ["K"], do_bench=bench, cache_results=True)(matmul.matmul_kernel)
        for size in sizes:
            a, b = (torch.randn(shape, device="cuda", dtype=torch.float16) for shape in ((512, size), (size, 512)))
            torch.testing.assert_close(matmul.matmul(a, b, kernel=tuner), a @ b, rtol=1e-2, atol=1e-1)
            assert tuner.best_config is configs[1]
            if tuner.failures:
                tried.append(size)
                assert isinstance(tuner.failures[configs[0]], errors.OutOfResources)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                product = matmul.matmul(a, b, kernel=tuner)
            a.normal_()
            graph.replay()
            torch.testing.assert_close(product, a @ b, rtol=1e-2, atol=1e-1)
    assert tried == [512, 256, 1024, 128]


@pytest.mark.usefixtures("on_gpu")
def test_trials_leave_no_trace_on_a_gpu(kernels: dict[str, Any]) -> None:
    import torch

    x = torch.randn(4096, device="cuda")
    expected = x[:1024].sort()[0]
    tuner = triton.autotune([Config({"BLOCK": 1024}, num_warps=n) for n in (4, 8)], [])(kernels["large"])
    rest = x[1024:].clone()
    tuner[(1,)](x)
    torch.testing.assert_close(x, torch.cat([expected, rest]))


class Window:
    """A part of a tensor, described by an object that is not a tensor."""

    def __init__(self, tensor: Any, start: int) -> None:
        self.tensor, self.dtype, self.shape = tensor, tensor.dtype, (len(tensor) - start,)
        self.start = start

    def data_ptr(self) -> int:
        return self.tensor.data_ptr() + self.start * self.tensor.element_size()


ADD_ONE = """
import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": size}) for size in (2, 4)], key=["n"], restore_value=["x"])
@triton.jit
def add_one(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)
"""


def test_trials_restore_memory_that_an_object_describes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    x = torch.zeros(8)
    load(ADD_ONE, "kernel_that_adds_one.py")["add_one"][lambda meta: (-(-3 // meta["BLOCK"]),)](Window(x, 4), 3)
    assert x.tolist() == [0, 0, 0, 0, 1, 1, 1, 0]
