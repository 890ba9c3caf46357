from itertools import product

TARGETS = {
    f"sm_{digits}": int(digits) for count in (2, 3) for digits in map("".join, product("0123456789", repeat=count))
}


def capability_of(name: str) -> int:
    if name not in TARGETS:
        raise ValueError(f"unknown target {name!r}")
    return TARGETS[name]


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    triton_api.insist()
    settings = dict(options or ())
    with tempfile.TemporaryDirectory() as folder:
        # Two files, one for each step, in folders of their own: the name is the kernel's in both.
        ours, simple = (Path(folder, step, f"{kernel}.ttir") for step in ("ours", "simple"))
        for file in (ours, simple):
            file.parent.mkdir()
        ours.write_text(ttir)
        simple.write_text(triton_api.simplified(str(ours), capability, settings))
        compiled = triton_api.compile(str(simple), capability, settings, types)
    return Lowered(capability, compiled.asm, compiled)
