"""With MINI_TRITON_BACKEND=ptx, the back end ptx takes real Triton's place in the tests of milestone 8."""

import pytest
import torch
from kernels.vector_add import add

from tests.oracles import hosts, triton


@pytest.mark.skipif(not triton.available(), reason="the server imports real Triton")
def test_the_back_end_ptx_runs_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "OWN_BACK_END", True)
    monkeypatch.setattr(hosts, "_server", hosts._server.__wrapped__)  # a new server for each call
    x, y = torch.arange(1000.0), torch.ones(1000)
    assert torch.equal(hosts.call("cpu", add, (x, y), {"block": 256}), x + y)
    monkeypatch.setenv("MINI_TRITON_TARGET", "no GPU")
    with pytest.raises(hosts.Refused, match="MINI_TRITON_TARGET"):
        hosts.call("cpu", add, (x, y), {"block": 256})
