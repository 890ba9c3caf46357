"""PyTorch as a judge, loaded when it is first used: `from tests.oracles import pytorch as torch`.

If PyTorch is not installed, a test that uses it has the verdict `unavailable`.
"""

import importlib
import importlib.util
from typing import Any

from tests import oracles


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # pytest reads such names while it collects tests
        raise AttributeError(name)
    if importlib.util.find_spec("torch") is None:
        oracles.unavailable(oracles.not_installed("PyTorch"), "torch")
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)  # the cases are small: more threads would only wait for each other
    oracles.note("torch", f"cpu {torch.__version__}")
    return getattr(torch, name)
