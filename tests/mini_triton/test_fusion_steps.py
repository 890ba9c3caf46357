"""Steps of a model: what a program deletes, cheap launches, CUDA graphs. Not graded."""

import copy
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from mini_triton.fusion import cuda_graphs, stored  # noqa: E402
from mini_triton.fusion.backend import mini_triton, programs  # noqa: E402
from mini_triton.fusion.lifetimes import delete_after_last_use  # noqa: E402
from torch._dynamo.utils import counters  # noqa: E402

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_a_variable_is_deleted_after_its_last_use() -> None:
    steps = ["a, b, s = args", "args.clear()", "c, d = call(a)", "f[s](a, g)", "e = c", "return [e, b]"]
    found = list(delete_after_last_use(steps))
    assert found == [*steps[:3], "del d", steps[3], "del a, s", steps[4], "del c", steps[5]]


def model() -> Any:
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(8 * 36, 5))


def train(device: str, mode: str, steps: int = 5) -> None:
    """Compare training steps in a mode with eager steps."""
    torch._dynamo.reset()
    eager = model().to(device)
    ours = copy.deepcopy(eager)
    compiled = torch.compile(ours, backend=mini_triton, mode=mode)
    for step in range(steps):
        x = torch.randn(4, 3, 8, 8, device=device)
        for function, leaves in ((eager, eager), (compiled, ours)):
            leaves.zero_grad()
            function(x).square().mean().backward()
            with torch.no_grad():
                for p in leaves.parameters():
                    p -= 0.1 * p.grad
        torch.testing.assert_close(ours.state_dict(), eager.state_dict(), msg=lambda text, step=step: f"{step}: {text}")


def test_a_mode_that_is_not_known() -> None:
    torch._dynamo.reset()
    with pytest.raises(Exception, match="no mode 'max-autotune'; the modes are default, reduce-overhead"):
        torch.compile(torch.sin, backend=mini_triton, mode="max-autotune")(torch.ones(3))


def test_passes_on_a_cpu_are_not_recorded() -> None:
    counters.clear()
    train("cpu", "reduce-overhead")
    assert counters["inductor"]["cudagraph_skips"] == 2


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are kept on disk."""
    monkeypatch.setenv("MINI_TRITON_CACHE_PROGRAMS", "1")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(stored, "SHORT", 0)


@pytest.mark.usefixtures("kept")
def test_what_pytorch_is_told_of_recorded_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU, without the recording itself: of compiled programs, and of those from the disk."""
    told: list[tuple[list[int], bool, set[int]]] = []

    def record(run: Any, inputs: Any, static: list[int], **facts: Any) -> Any:
        told.append((static, facts["is_backward"], facts["mutated_input_idxs"]))
        return run

    monkeypatch.setattr(cuda_graphs, "reason_to_skip", lambda *_: None)
    monkeypatch.setattr(cuda_graphs.cudagraphs, "get_device_index", lambda graph: 0)
    monkeypatch.setattr("torch._inductor.cudagraph_trees.cudagraphify_impl", record)
    train("cpu", "reduce-overhead")
    train("cpu", "reduce-overhead")
    (forward, backward), again = told[:2], told[2:]
    assert again == [forward, backward]
    assert (forward[1], backward[1]) == (False, True)
    assert len(forward[0]) == 6 + 3, "the parameters, and the state of the batch norm"
    assert forward[2] <= {*forward[0]}, "only the batch norm's state changes"


@needs_gpu
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_steps_on_a_gpu(mode: str) -> None:
    """Also of a program from the disk."""
    counters.clear()
    before = len(programs)
    train("cuda", mode)
    train("cuda", mode)
    assert len(programs) == before + 2, "the second model must be found on disk"
    assert counters["inductor"]["cudagraph_skips"] == 0


@needs_gpu
def test_launches_with_other_alignments() -> None:
    def function(x: Any) -> Any:
        return (x * 2).sin().sum(-1)

    memory = torch.randn(5 * 1000 + 4, device="cuda")
    compiled = torch.compile(function, backend=mini_triton)
    for start in (0, 1, 0, 4):
        x = memory[start : start + 5000].view(5, 1000)
        torch.testing.assert_close(compiled(x), function(x), rtol=1e-5, atol=1e-4)
