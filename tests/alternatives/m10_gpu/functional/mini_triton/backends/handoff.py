import contextlib
import functools


def capability_of(name: str) -> int:
    match name.split("_"):
        case ["sm", digits] if digits.isascii() and digits.isdecimal() and 2 <= len(digits) <= 3:
            return int(digits)
    raise ValueError(f"{name!r} is not like sm_90")


def in_file(folder: Path, kernel: str, text: str) -> str:
    """The path of a file with this text."""
    path = (folder / kernel).with_suffix(".ttir")
    path.write_bytes(text.encode())
    return str(path)


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    triton_api.insist()
    with contextlib.ExitStack() as stack:
        written = functools.partial(in_file, Path(stack.enter_context(tempfile.TemporaryDirectory())), kernel)
        simple = triton_api.simplified(written(ttir), capability=capability, options=options or {})
        compiled = triton_api.compile(written(simple), capability=capability, options=options or {}, types=types)
    return Lowered(capability, {stage: text for stage, text in compiled.asm.items() if stage in STAGES}, compiled)
