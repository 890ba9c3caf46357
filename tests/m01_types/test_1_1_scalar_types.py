"""Task 1.1: the widths of scalar and pointer types, and their spelling in MLIR."""

from mini_triton import formats
from mini_triton.ir.types import FloatType, IntegerType, PointerType

from tests.checks import calling
from tests.oracles import records
from tests.support.type_names import SCALARS, scalar

INTEGERS = {1: "int1", 8: "int8", 16: "uint16", 32: "int32", 64: "uint64"}  # signless: uint16 prints like int16
FLOATS = {name: row.name for name, row in formats.FLOATS.items() if row.capability is not None}


def spelled(dtype: str) -> str:
    """Real Triton's spelling of a dtype, taken from a cast to this dtype."""
    source = "int64" if dtype.startswith("pointer") else "fp32" if dtype != "fp32" else "fp64"
    return records.cast_ops(source, dtype).value[-1].type


def test_integers_are_spelled_as_in_mlir() -> None:
    for width, dtype in INTEGERS.items():
        calling(str, IntegerType(width)).returns(spelled(dtype), because=f"this is how real Triton prints {dtype}")


def test_floats_are_spelled_as_in_mlir() -> None:
    for name, dtype in FLOATS.items():
        calling(str, FloatType(name)).returns(spelled(dtype), because=f"this is how real Triton prints {dtype}")
    for name, row in formats.FLOATS.items():
        calling(getattr, FloatType(name), "width").returns(row.width, because=f"{row} has {row.width} bits")


def test_pointers_are_spelled_as_in_mlir() -> None:
    for name in ("f32", "f16"):
        dtype = f"pointer<{FLOATS[name]}>"
        because = f"this is how real Triton prints {dtype}"
        calling(str, PointerType(FloatType(name))).returns(spelled(dtype), because)


def test_pointers_to_anything() -> None:
    for name in SCALARS:
        pointer = PointerType(scalar(name))
        calling(str, pointer).returns(f"!tt.ptr<{name}>", because=f"the type that it points to is spelled {name}")
        calling(getattr, pointer, "width").returns(64, because="every address has 64 bits")
