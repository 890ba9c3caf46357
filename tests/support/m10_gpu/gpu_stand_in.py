"""A GPU for tests of launches: the machine's GPU, or a stand-in that runs kernels with the NumPy back end.

    with a_gpu(device):
        x = to_gpu(torch.arange(8), device)
        kernel[(1,)](x, ...)
        from_gpu(x)

The stand-in has the attributes of a GPU and of its tensors that a launch may read. In both cases, Triton's passes run
on the TTIR, and their result is run.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from tests.oracles import gpu, triton


class OnStandIn:
    """A tensor on the stand-in, with its elements in the CPU's memory."""

    is_cuda = True

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.dtype, self.shape, self.device = tensor.dtype, tensor.shape, "cuda:0"

    def data_ptr(self) -> int:
        return self.tensor.data_ptr()

    def get_device(self) -> int:
        return 0


class Kernel:
    """A kernel of the stand-in."""

    def __init__(self, ttir: str) -> None:
        self.ttir = ttir
        self.asm = dict.fromkeys(("ttgir", "llir", "ptx"), "") | {"cubin": b""}

    def launch(self, grid: Sequence[int], arguments: Sequence[Any]) -> None:
        from mini_triton.codegen import compile_module
        from mini_triton.ir.parser import parse_module
        from mini_triton.ir.storage import Buffer

        assert 0 not in grid, f"a GPU refuses the grid {tuple(grid)}"
        given = [Buffer.of("memory", x.tensor) if isinstance(x, OnStandIn) else x for x in arguments]
        compile_module(parse_module(self.ttir))(tuple(grid), given)


def to_gpu(tensor: Any, device: str) -> Any:
    """A copy of a tensor on the GPU or the stand-in."""
    return tensor.cuda() if device == "cuda" else OnStandIn(tensor.clone())


def from_gpu(tensor: Any) -> Any:
    """The tensor on the CPU."""
    return tensor.tensor if isinstance(tensor, OnStandIn) else tensor.cpu()


@contextlib.contextmanager
def a_gpu(device: str) -> Iterator[None]:
    """In the `with` block, kernels run on a GPU: the machine's GPU if the device is "cuda", otherwise the stand-in."""
    from mini_triton.backends import launch, triton_api

    if device == "cuda":
        gpu.insist()
        yield
        return
    triton.version()  # without Triton, the test ends as unavailable
    with (
        mock.patch.object(launch, "selected", lambda gpu: contextlib.nullcontext()),
        mock.patch.object(launch, "capability_here", lambda gpu: 90),
        mock.patch.object(
            triton_api, "compile", lambda file, capability, options, types: Kernel(Path(file).read_text())
        ),
        mock.patch.object(triton_api, "compile_once", lambda key, capability, options, types, compile: compile()),
    ):
        yield
