def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    kernel = load_kernel(Path(args.path), args.kernel_name)
    capability = capability_of_target(args.target)
    asked = variant_of(kernel, args)
    return asked.name, write_files(asked, lower(kernel, asked, capability), args)


def lower(kernel: KernelSource, variant: Variant, capability: int) -> Lowered:
    types, attributes = {}, {}
    for name, entry in variant.entries.items():
        types[name] = entry.type
        if entry.hint == 1:
            types[name] = "constexpr"
        elif entry.hint:
            attributes[name] = [["tt.divisibility", entry.hint]]
    options = dict(num_stages=variant.num_stages, num_warps=variant.num_warps)
    lowered = compile(ASTSource(kernel, types, variant.known, attributes), None, options).lower(f"sm_{capability}")
    if lowered.kernel.scratch > 0:
        raise RuntimeError(f"scratch memory of {lowered.kernel.scratch} bytes")
    return lowered


def sizes_of(grid: str, known: Mapping[str, Any]) -> list[str]:
    sizes = grid.split(",")
    if len(sizes) != 3 or not all(map(str.strip, sizes)):
        raise ValueError(f"{len(sizes)} sizes in {grid!r}")
    if wrong := {name: v for name, v in known.items() if re.search(rf"\b{name}\b", grid) and not isinstance(v, int)}:
        raise ValueError(f"not integers: {wrong}")
    texts = {name: f"({v})" if v < 0 else f"{v:d}" for name, v in known.items() if isinstance(v, int)}
    parts = ([texts.get(part, part) for part in re.split(r"(\W+)", size.strip())] for size in sizes)
    return ["".join(row) for row in parts]


def write_launch(variant: Variant, sizes: Sequence[str], num_warps: int, shared: int) -> str:
    names = list(variant.passed)
    lines = ["static CUdeviceptr none = 0;", f"void *pointers[{len(names) + 2}];"]
    lines += [f"const unsigned g{axis} = {size};" for axis, size in zip("XYZ", sizes, strict=True)]
    lines += [f"if (!g{axis}) return CUDA_SUCCESS;" for axis in "XYZ"]
    lines += [f"pointers[{at}] = &{name};" for at, name in enumerate([*names, "none", "none"])]
    call = f"{variant.name}_func, gX, gY, gZ, {num_warps} * 32, 1, 1, {shared}, stream, pointers, NULL"
    return "\n".join(f"    {line}" for line in [*lines, f"return cuLaunchKernel({call});"])
