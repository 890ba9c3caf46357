"""The course's kernels with real Triton as their compiler: run on a GPU or by its interpreter, or only compiled.

    called = hosts.call("cpu", softmax, (x,), {})

The host functions are those of the tests' own process, from the same files. They run in a server's process, where
`KERNELS_COMPILER=triton` lets real Triton compile the same source.

With MINI_TRITON_BACKEND=ptx, the compiler's own back end takes real Triton's place: on a GPU or, for the device `cpu`,
on the emulator. It is the reference's, because milestone 8 comes before the milestones that write this back end.
"""

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests import oracles
from tests.oracles import gpu, interpreter, triton
from tests.oracles.process import ROOT, Server, Silent

SECONDS = 100.0
OWN_BACK_END = os.environ.get("MINI_TRITON_BACKEND") == "ptx"  # read early, because tests remove the variable
RUNNER = "the back end ptx" if OWN_BACK_END else "real Triton"


class Refused(Exception):
    """A kernel does not compile or run; the message is the compiler's reason."""


def call(device: str, function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The result, on the CPU, of a host function whose kernels `RUNNER` runs on `device`: `cpu` or `cuda`.

    Arguments are torch tensors, numbers and strings. With the device `none`, real Triton only compiles the kernels, for
    a GPU that need not exist, and returns no result.
    """
    if device == "none":
        oracles.note("triton", f"compiler {triton.version()}")
    elif not OWN_BACK_END:
        (gpu if device == "cuda" else interpreter).insist()
    import torch

    files = {
        name: str(module.__file__)
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "kernels" and getattr(module, "__file__", None)
    }
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        values = os.path.join(folder, "values.pt")
        torch.save((list(arguments), dict(options)), values)
        request = {"do": "hosts.call", "files": files, "module": function.__module__, "function": function.__name__}
        try:
            (answer,) = _server(device).ask([request | {"values": values, "device": device}], SECONDS)
        except Silent as silence:
            oracles.unavailable(str(silence))
        if not answer["ok"]:
            if device == "cuda":
                _server(device).stop()  # after an illegal access, a process cannot use the GPU
            raise Refused(answer["diagnostic"])
        return None if device == "none" else torch.load(values, weights_only=True)


@functools.cache
def _server(device: str) -> Server:
    if OWN_BACK_END and device != "none":
        # A copy of the course without solutions has only the learner's compiler. It finds the toolbox beside either.
        compiler = next(tree for tree in (ROOT / "solutions", ROOT / "exercises") if tree.is_dir())
        return Server(KERNELS_COMPILER="mini_triton", MINI_TRITON_BACKEND="ptx", PYTHONPATH=str(compiler))
    environment = {"KERNELS_COMPILER": "triton"} | ({"TRITON_INTERPRET": "1"} if device == "cpu" else {})
    return Server(**environment)
