"""What pipelined kernels mean: the interpreter, with rings of buffers whose copies land as late as they may.

loop = Loop("def kernel(out, x, n): ...", {"n": "i32"})
loop.pipelined(3)                      # the module after `pipeline`, which the verifier accepts
loop.check(3, n=5)                     # the same results as before, and the copies as they should be
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from unittest import mock

import numpy as np
from mini_triton.ir import interpreter
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.ops.asynchronous import RingType
from mini_triton.ir.printer import print_module
from mini_triton.ir.storage import Buffer, OutOfBounds, numpy_dtype
from mini_triton.ir.types import TensorType
from mini_triton.ir.verifier import verify
from mini_triton.transforms.manager import optimize
from mini_triton.transforms.pipelining import pipeline

from tests.checks import described
from tests.oracles.triton import Source
from tests.support import sources

WIDTH = 8
"""The elements of a load."""
HEADER = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


class Misuse(Exception):
    """A program that reads a copy too early, or overwrites what may still be read."""


class Ring:
    """Slots in shared memory. From the start of a copy until a wait ends it, its slot contains garbage."""

    def __init__(self, type: RingType) -> None:
        shape = (type.slots, *type.matrix.shape)
        self.slots = np.full(shape, 77, numpy_dtype(type.matrix))
        self.landed = [False] * type.slots
        self.read: set[int] = set()  # since the last barrier


@dataclass
class Copies:
    """The copies of a program: `groups` are on their way, and the last of them is not complete."""

    groups: list[list[tuple[Ring, int, np.ndarray]]] = field(default_factory=lambda: [[]])
    rings: list[Ring] = field(default_factory=list)
    read: list[np.ndarray] = field(default_factory=list)  # the addresses that each copy reads
    waits: int = 0
    in_flight: list[int] = field(default_factory=list)  # complete groups, when slots are read

    def alloc(self, program: Any, operation: Operation) -> Any:
        self.rings.append(Ring(operation.result.type))  # type: ignore[arg-type]
        return [self.rings[-1]]

    def start(self, program: Any, o: Operation, address: Any, ring: Ring, slot: Any, mask: Any = True) -> Any:
        slot = int(slot)
        if slot in ring.read:
            raise Misuse(f"slot {slot} is overwritten, while threads may still read it")
        data = np.zeros_like(ring.slots[slot])
        for buffer, index, lanes in program.reach(data.dtype, address, mask):
            data[lanes] = buffer.data[index[lanes]]
        self.read.append(address[np.broadcast_to(mask, address.shape)])
        ring.slots[slot], ring.landed[slot] = 77, False
        self.groups[-1].append((ring, slot, data))
        return []

    def commit(self, program: Any, operation: Operation) -> Any:
        self.groups.append([])
        return []

    def wait(self, program: Any, operation: Operation) -> Any:
        self.waits += 1
        left = int(operation.attributes["num"])  # type: ignore[arg-type]
        over = max(0, len(self.groups) - 1 - left)
        for ring, slot, data in [copy for group in self.groups[:over] for copy in group]:
            ring.slots[slot], ring.landed[slot] = data, True
        del self.groups[:over]
        return self.barrier()

    def barrier(self, *_: Any) -> Any:
        for ring in self.rings:
            ring.read.clear()
        return []

    def load(self, program: Any, operation: Operation, ring: Ring, slot: Any) -> Any:
        slot = int(slot)
        if not ring.landed[slot]:
            raise Misuse(f"slot {slot} is read before its copy has landed")
        ring.read.add(slot)
        self.in_flight.append(len(self.groups) - 1)
        return [ring.slots[slot]]  # no copy of the slot: products read it where it is

    @property
    def effects(self) -> dict[str, Callable[..., Any]]:
        return {
            "ttg.local_alloc": self.alloc,
            "ttg.async_copy_global_to_local": self.start,
            "ttg.async_commit_group": self.commit,
            "ttg.async_wait": self.wait,
            "ttg.local_load": self.load,
            "ttg.local_dealloc": lambda *_: [],
            "gpu.barrier": self.barrier,
        }


def copyable(operation: Operation) -> bool:
    """Whether an operation loads numbers from `x`, which have 32 bits."""
    type = operation.result.type if operation.name == "tt.load" else None
    return isinstance(type, TensorType) and numpy_dtype(type).itemsize > 2


def never(product: Operation) -> bool:
    return False


@dataclass(frozen=True)
class Loop:
    """A kernel with loops. It loads from `x`, of 32-bit, and `y`, of 16-bit numbers, and stores 64 numbers to `out`."""

    text: str
    counts: Mapping[str, str] = field(default_factory=lambda: {"n": "i32"})

    def module(self) -> Module:
        """The module, optimized."""
        types = {"out": "*i32", "x": "*i32", "y": "*i16", **self.counts, "W": "constexpr"}
        module = sources.compiled(Source(HEADER + self.text, "kernel", types, {"W": WIDTH}, []))
        optimize(module)
        return module

    def pipelined(self, stages: int) -> Module:
        """The module, pipelined."""
        module = self.module()

        def transform() -> None:
            pipeline(module, stages, copyable, never)
            verify(module)

        described(f"pipeline(module, {stages}, …) for the kernel\n{self.text}\n", transform).succeeds("correct IR")
        return module

    def results(self, module: Module, inputs: Any, effects: Mapping[str, Any], reads: list[Any]) -> np.ndarray:
        """What the kernel stores. Adds the addresses that its loads from `x` read to `reads`."""
        buffers, counts = inputs
        out = buffers[0].data
        out[:] = 0

        def load(program: Any, operation: Operation, address: Any, mask: Any = True, *others: Any) -> Any:
            if copyable(operation):
                reads.append(address[np.broadcast_to(mask, address.shape)])
            return interpreter.load(program, operation, address, mask, *others)

        with mock.patch.dict(interpreter.EFFECTS, {"tt.load": load, **effects}):
            interpreter.run(module, (1,), [*buffers, *counts])
        return out.copy()

    def check(self, stages: int, **counts: int) -> Copies:
        """Require the results of the original kernel, the same reads, and `stages` - 1 iterations' copies in flight."""
        __tracebackhide__ = True
        size = WIDTH * (2 + math.prod(max(count, 1) for count in counts.values()))
        x = np.random.default_rng(size).integers(-99, 99, size).astype(np.int32)
        arrays = {"out": np.zeros(64, np.int32), "x": x, "y": x.astype(np.int16)}
        inputs = [Buffer.of(name, array) for name, array in arrays.items()], counts.values()
        reads: list[np.ndarray] = []
        expected = self.results(self.module(), inputs, {}, reads)
        copies, module = Copies(), self.pipelined(stages)
        try:
            got = self.results(module, inputs, copies.effects, copies.read)
        except (Misuse, OutOfBounds) as error:
            self.fail(module, counts, "copies inside the array, that land in time", str(error))
        wanted, found = (sorted(place for read in each for place in read.tolist()) for each in (reads, copies.read))
        if found != wanted:
            extra = len(found) - len(wanted)
            number = f"{abs(extra)} elements {'more' if extra > 0 else 'fewer'}" if extra else "as many, but others"
            because = "a copy reads where the load's mask is true, and nothing if its iteration does not exist"
            self.fail(
                module, counts, f"copies that read the {len(wanted)} elements that the loop reads", number, because
            )
        if (got != expected).any():
            self.fail(module, counts, f"out = {expected}", f"out = {got}", "the copies read the right elements")
        if set(copies.in_flight) - {stages - 1}:
            late = f"{stages - 1} groups of copies in flight, whenever the loop computes"
            self.fail(module, counts, late, f"in the iterations, {copies.in_flight}")
        return copies

    def fail(self, module: Module, counts: Mapping[str, int], expected: str, got: str, because: str = "") -> NoReturn:
        """Fail with the kernel and its pipelined module."""
        __tracebackhide__ = True
        values = ", ".join(f"{name} = {count}" for name, count in counts.items())
        described(f"the kernel, with {values}\n{self.text}\npipelined as\n{print_module(module)}\n", lambda: None).fail(
            expected, got, because
        )
