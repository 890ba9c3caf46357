"""Run kernels, on a GPU or by Triton's interpreter. Tests use `tests.oracles.gpu` or `interpreter` instead.

The interpreter needs TRITON_INTERPRET=1 in the environment of the process.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from triton.runtime.interpreter import TensorHandle
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.oracles.server import frontend, written

TTIR_PASSES = ("inliner", *written.AFTER_CSE)
NUMPY = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "i1": np.bool_, "u1": np.bool_} | {
    f"{letter}{width}": np.dtype(f"{name}{width}")
    for letter, name in (("i", "int"), ("u", "uint"))
    for width in (8, 16, 32, 64)
}


def launch(text: str, options: dict[str, Any], signature: Sequence[str], **launched: Any) -> None:
    """Run a module on this machine's GPU. The signature has the types of the numbers.

    Without a signature, Triton uses the types in the file, and refuses f64.
    """
    module = frontend.after(text, TTIR_PASSES)  # Triton does not run these passes on a file
    kernel = triton.compile(frontend.file_of(str(module)), options=options)
    if signature:
        kernel.src.signature = dict(enumerate(signature))
    _run(kernel, **launched)


def launch_written(
    text: str, arguments: str, grid: Sequence[int], parameters: Sequence[int | None], **question: Any
) -> None:
    """Run a kernel in a Python text, which Triton's own front end compiles."""
    with written.loaded(text) as module:
        source, _, options = written.source(module, **question)
        _run(triton.compile(source, options=options), arguments, grid, parameters)


def _run(kernel: Any, arguments: str, grid: Sequence[int], parameters: Sequence[int | None]) -> None:
    """Launch a compiled kernel on values in a file, and write the values after the launch to the file.

    Values are tensors, numbers, and `{"addresses": [0, 3]}` for the addresses of other values. `parameters` has the
    number of each parameter's value; None is a constant, which is not a parameter of the machine code.
    """
    values = torch.load(arguments, weights_only=True)
    on_gpu = [value.cuda() if isinstance(value, torch.Tensor) else value for value in values]
    for i, value in enumerate(values):
        if isinstance(value, dict):
            on_gpu[i] = torch.tensor([on_gpu[other].data_ptr() for other in value["addresses"]], device="cuda")
    kernel[tuple(grid)](*(None if place is None else on_gpu[place] for place in parameters))
    torch.cuda.synchronize()
    after = [new.cpu() if isinstance(old, torch.Tensor) else old for old, new in zip(values, on_gpu, strict=True)]
    torch.save(after, arguments)


def interpret(
    text: str,
    arguments: str,
    grid: Sequence[int],
    parameters: Sequence[int | None],
    kernel: str,
    signature: dict[str, str],
    constexprs: dict[str, Any],
    **_: Any,
) -> None:
    """Let the interpreter launch a kernel on values in a file, and write the values after the launch to the file."""
    values = torch.load(arguments, weights_only=True)
    for value in values:
        if isinstance(value, dict):
            raise NotImplementedError("addresses")
    with written.loaded(text) as module:
        given = {name: written.constant(value, module) for name, value in constexprs.items()}
        for (name, kind), place in zip(signature.items(), parameters, strict=True):
            if place is not None:
                given[name] = _argument(values[place], kind)
        getattr(module, kernel)[tuple(grid)](**given)
    torch.save(values, arguments)


def _argument(value: Any, kind: str) -> Any:
    """A value of this type: a pointer, a descriptor `tensordesc<fp32[16, 32], zero, base>`, or a number."""
    if kind.startswith("tensordesc"):
        match = re.fullmatch(r"tensordesc<\w+\[(.+)\], (\w+), .*>", kind)
        assert match, f"this is not a descriptor: {kind}"
        blocks, padding = match.groups()
        return TensorDescriptor.from_tensor(value, [int(size) for size in blocks.split(",")], padding)
    return value if kind.startswith("*") else _scalar(value, kind)


def _scalar(value: Any, kind: str) -> Any:
    """A number of the type in the signature. Without it, the interpreter would choose a type for the value."""
    dtype = tl.str_to_ty(kind, None)
    return tl.tensor(TensorHandle(np.array([value], NUMPY[kind]), dtype), dtype)
