"""All kernels beside PyTorch and real Triton: `python -m kernels.bench`. (Given.)

    python -m kernels.bench --only softmax                  only problems with this word in their names
    MINI_TRITON_BACKEND=numba python -m kernels.bench       on a CPU, Numba runs our kernels

PyTorch's own function is the judge. "steps" is the formula, written in PyTorch operator by operator. Real Triton works
in another process; without a GPU, its interpreter runs the kernels. On a CPU, everyone works on one core.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Sequence
from functools import partial

COMPARED = ("torch", "ours", "steps")
ONE_CORE = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m kernels.bench", description="All kernels beside their peers.")
    parser.add_argument("--only", metavar="WORD", default="", help="only problems with this word in their names")
    options = parser.parse_args(arguments)
    os.environ |= ONE_CORE  # libraries read these variables when they are imported
    from mini_triton.compat import driver
    from mini_triton.tuning.comparison import compare
    from mini_triton.tuning.peers import Elsewhere, here
    from mini_triton.tuning.tables import table
    from rich.console import Console

    from kernels.demo import unwritten
    from kernels.problems import builders, call_of

    device = "cpu" if driver.active is driver.cpu else "cuda"
    console = Console()
    other = None
    if importlib.util.find_spec("triton"):
        interpreter = {"TRITON_INTERPRET": "1"} if device == "cpu" else {}
        other = Elsewhere(KERNELS_COMPILER="triton", **interpreter)
    rows = []
    try:
        for number, build in enumerate(builders(device)):
            problem = build(device)
            if options.only in problem.name:
                peers = [here(who, partial(call_of, number, device, who)) for who in COMPARED]
                peers += [other.peer("Triton", call_of, number, device, "ours")] if other else []
                with console.status(problem.name):
                    rows.append(compare(problem.name, peers, close=problem.close))
                times = ", ".join(f"{who} {time:.3g} ms" for who, time in rows[-1].times.items())
                console.print(f"{problem.name}: {times}", highlight=False)
    except KeyboardInterrupt:
        console.print("Interrupted. These problems are finished:")
    except NotImplementedError as error:
        raise SystemExit(f"{unwritten(error)}: not written yet.") from None
    finally:
        if other:
            other.close()
    ours = os.environ.get("MINI_TRITON_BACKEND", "numpy") if device == "cpu" else "mini_triton's TTIR"
    theirs = "not installed" if other is None else "its interpreter" if device == "cpu" else "compiled"
    console.print(f"ours: {ours}; Triton: {theirs}; on {device}")
    lines = table(rows, [*COMPARED, *["Triton"] * (other is not None)])
    Console(width=max(console.width, 132)).print(lines)
    for row in rows:
        for peer, reason in row.refused.items():
            console.print(f"{peer} is refused at {row.problem}: {reason}", style="red", highlight=False, markup=False)


if __name__ == "__main__":
    main()
