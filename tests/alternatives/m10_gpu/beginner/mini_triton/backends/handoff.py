import os
import shutil


def capability_of(name: str) -> int:
    if not name.startswith("sm_"):
        raise ValueError(f"{name!r} does not begin with sm_")
    digits = name[3:]
    if len(digits) != 2 and len(digits) != 3:
        raise ValueError(f"{name!r} does not have two or three digits")
    for digit in digits:
        if digit not in "0123456789":
            raise ValueError(f"{name!r} has {digit!r}, which is no digit")
    return int(digits)


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    triton_api.insist()
    given: dict[str, Any] = {}
    if options is not None:
        given.update(options)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, kernel + ".ttir")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(ttir)
        text = triton_api.simplified(path, capability, given)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        compiled = triton_api.compile(path, capability, given, types)
    finally:
        shutil.rmtree(folder)
    asm: dict[str, Any] = {}
    for stage in STAGES:
        asm[stage] = compiled.asm[stage]
    return Lowered(capability=capability, asm=asm, kernel=compiled)
