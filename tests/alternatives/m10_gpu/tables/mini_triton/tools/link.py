def group(variants: Iterable[Compiled]) -> dict[str, list[Compiled]]:
    variants = list(variants)
    if not variants:
        raise LinkError("nothing to link")
    for one, other in zip(variants, variants[1:], strict=False):
        if (one.kernel, list(one.arguments.items())) != (other.kernel, list(other.arguments.items())):
            raise LinkError(f"{one.name} beside {other.name}")
    order = dict.fromkeys(variant.algorithm for variant in variants)
    return {name: [variant for variant in variants if variant.algorithm == name] for name in order}


def condition(variant: Compiled) -> str:
    text = "1"
    for name, hint in zip(variant.arguments, variant.hints, strict=True):
        if hint == 1:
            text += f" && ({name} == 1)"
        elif hint:
            text += f" && ((uintptr_t){name} % {hint} == 0)"
    return text


def write_dispatcher(name: str, variants: Sequence[Compiled]) -> str:
    tests, cases = [], []
    for number, variant in enumerate(variants):
        weight = len([hint for hint in variant.hints if hint])
        tests.append(f"    if ({condition(variant)} && {weight} > most) {{ best = {number}; most = {weight}; }}")
        cases.append(f"    case {number}: return {variant.name}({', '.join(['stream', *variant.passed])});")
    head = f"CUresult {name}({prototype(*variants[0].declared)}) {{\n    int best = -1, most = -1;"
    return "\n".join(
        [head, *tests, "    switch (best) {", *cases, "    default: return CUDA_ERROR_INVALID_VALUE;\n    }\n}"]
    )
