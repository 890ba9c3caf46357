"""Block pointers and tensor descriptors, with all dtypes and numbers of dimensions.

Unlike `CASES` of the corpus, these launches are not recorded: tests run real Triton's interpreter each time.
"""

from collections.abc import Iterator

from tests.corpus.cases import Case, make_case

DTYPES = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2, "fp8e5": 1, "fp8e4nv": 1} | {
    f"{letter}{8 * size}": size for letter in "iu" for size in (1, 2, 4, 8)
}
"""Element types of descriptors, and their sizes in bytes."""

WITH_NAN = ("fp64", "fp32", "fp16")  # the interpreter pads other dtypes with integers of the same size


def padded(length: int, dtype: str) -> int:
    """A stride for rows of this length, with which each row begins at a multiple of 16 bytes."""
    unit = 16 // DTYPES[dtype]
    return -(-length // unit) * unit


def copies() -> Iterator[Case]:
    """Copies of an array of each dtype, with each padding. Some blocks begin before the array."""
    for dtype, size in DTYPES.items():
        for padding in ("zero", "nan") if dtype in WITH_NAN else ("zero",):
            block = 16 // size
            height, width = 13, 3 * block + 1
            stride = padded(width, dtype)
            text = (
                f"out: *{dtype}[{5 * 4 * 6 * block}], x: *{dtype}[{height * stride}], "
                f"M: i32 = {height}, N: i32 = {width}, stride: i32 = {stride}"
            )
            tile = {"BLOCK_M": 4, "BLOCK_N": block, "PADDING": padding}
            yield make_case("descriptors", "descriptor_copy_2d", text, tile, (5, 6), f"_{dtype}_{padding}")


def gathers() -> Iterator[Case]:
    """Gathers and scatters of rows, some of which are beyond the array, and of columns beyond it."""
    for dtype in ("fp32", "fp16", "i8", "u32"):
        block = max(16 // DTYPES[dtype], 32 // (8 * DTYPES[dtype]) * 8)
        width = block + 3
        stride = padded(width, dtype)
        for column in (0, 16 // DTYPES[dtype], -block // 2):
            tile = {"COUNT": 8, "BLOCK": block}
            sizes = f"M: i32 = 33, N: i32 = {width}, stride: i32 = {stride}, column: i32 = {column}"
            text = f"out: *{dtype}[{16 * block}], x: *{dtype}[{33 * stride}], rows: *i32[16] = below 50, {sizes}"
            padding = {"PADDING": "nan" if dtype in WITH_NAN and column else "zero"}
            suffix = f"_{dtype}_{column}"
            yield make_case("descriptors", "descriptor_gather", text, tile | padding, (2,), suffix)
            text = f"out: *{dtype}[{33 * stride}], x: *{dtype}[{16 * block}], {sizes}"
            yield make_case("descriptors", "descriptor_scatter", text, tile, (2,), suffix)


def reductions() -> Iterator[Case]:
    """Overlapping blocks, with all reductions of descriptors. Sums of small integers do not depend on order."""
    integers = ("u32", "i32", "u64", "i64")
    kinds = {"add": ("u32", "i32", "u64", "fp32", "fp16"), "min": integers, "max": integers}
    kinds |= dict.fromkeys(("and", "or", "xor"), integers)
    for kind, dtypes in kinds.items():
        for dtype in dtypes:
            filling = "below 8" if kind == "add" else "bits"
            block = 32 // DTYPES[dtype]
            stride = padded(3 * block - 3, dtype)
            text = (
                f"out: *{dtype}[{10 * stride}] = {filling}, x: *{dtype}[{4 * block}] = {filling}, "
                f"M: i32 = 10, N: i32 = {3 * block - 3}, stride: i32 = {stride}"
            )
            tile = {"KIND": kind, "DESCRIPTOR": True, "BLOCK_M": 4, "BLOCK_N": block}
            yield make_case("descriptors", "descriptor_atomics", text, tile, (4, 7), f"_{kind}_{dtype}")


DESCRIPTORS = (
    *(
        make_case(
            "descriptors",
            "descriptor_copy_1d",
            f"out: *fp32[320], x: *fp32[{n}], n: i32 = {n}, first: i32 = {first}",
            {"BLOCK": 64, "PADDING": padding},
            (5,),
            f"_{n}_{first}_{padding}",
        )
        for n, first, padding in ((1, 0, "nan"), (250, -64, "nan"), (250, 68, "zero"), (1000, 0, "zero"))
    ),
    *copies(),
    make_case(
        "descriptors",
        "descriptor_clipped_store",
        "out: *fp16[13 * 48] = zeros, x: *fp16[128], M: i32 = 13, N: i32 = 41, stride: i32 = 48",
        {"BLOCK_M": 8, "BLOCK_N": 16},
        (3, 5),
    ),
    *(
        make_case(
            "descriptors",
            "descriptor_copy_3d",
            "out: *fp32[128 * 3], x: *fp32[5 * 60], K: i32 = 5, M: i32 = 4, N: i32 = 11, sk: i32 = 60, sm: i32 = 12",
            {"A": 4, "B": 4, "C": 8, "PADDING": padding},
            (3,),
            f"_{padding}",
        )
        for padding in ("zero", "nan")
    ),
    make_case(
        "descriptors",
        "descriptor_copy_4d",
        "out: *i16[6 * 128], x: *i16[3 * 120], L: i32 = 3, K: i32 = 3, M: i32 = 5, N: i32 = 7, sl: i32 = 120, "
        "sk: i32 = 40, sm: i32 = 8",
        {"A": 2, "B": 4, "C": 2, "D": 8},
        (2, 3),
    ),
    make_case(
        "descriptors",
        "descriptor_copy_5d",
        "out: *fp32[64], x: *fp32[2 * 96], J: i32 = 2, L: i32 = 2, K: i32 = 2, M: i32 = 3, N: i32 = 5, sj: i32 = 96, "
        "sl: i32 = 48, sk: i32 = 24, sm: i32 = 8",
        {"BLOCK": 8},
    ),
    *gathers(),
    *reductions(),
    make_case(
        "descriptors",
        "descriptor_matmul",
        "a: *fp16[50 * 40], b: *fp16[24 * 40], c: *fp32[50 * 24], M: i32 = 50, N: i32 = 24, K: i32 = 40",
        {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 32},
        (4, 2),
    ),
    make_case(
        "descriptors",
        "descriptor_helpers",
        "out: *fp32[37], x: *fp32[37 * 28], M: i32 = 37, N: i32 = 28",
        {"BLOCK": 16},
    ),
    make_case(
        "descriptors",
        "descriptor_choice",
        "out: *fp32[70], x: *fp32[70], y: *fp32[65], n: i32 = 70, which: i32 = 32",
        {"BLOCK": 16},
    ),
)

BLOCKS = (
    *(
        make_case(
            "blocks",
            "block_scaled",
            f"out: *{dtype}[11 * 37], x: *{source}[11 * 37], M: i32 = 11, N: i32 = 37, scale: fp32 = 3.0",
            {"ORDER": order, "BLOCK_M": 16, "BLOCK_N": 16},
            suffix=f"_{dtype}",
        )
        for dtype, source, order in (
            ("fp32", "fp16", (1, 0)),
            ("fp16", "fp32", (0, 1)),
            ("fp64", "fp32", (1, 0)),
            ("i32", "i8", (1, 0)),
            ("i16", "i32", (0, 1)),
        )
    ),
    *(
        make_case(
            "blocks",
            "block_helpers",
            f"out: *fp32[32], x: *fp32[75], n: i32 = 75, first: i32 = {first}",
            {"BLOCK": 16},
            suffix=f"_{first}",
        )
        for first in (-1, 7, 40)
    ),
    *(
        make_case(
            "blocks",
            "block_cube",
            "out: *fp32[256], x: *fp32[3 * 15], K: i32 = 3, M: i32 = 3, N: i32 = 5",
            {"PADDING": padding, "A": 2, "B": 8, "C": 8},
            suffix=f"_{padding}",
        )
        for padding in ("zero", "nan")
    ),
)

CASES = (*DESCRIPTORS, *BLOCKS)


def exists(case: Case, version: str) -> bool:
    """Whether this version of Triton, such as "3.7.1", can run the case: versions after 3.7 lack block pointers."""
    major, minor = map(int, version.split(".")[:2])
    return case not in BLOCKS or (major, minor) <= (3, 7)
