def exchange(distance: int, parts: Texts, others: Texts, ordered: bool, combine: Combine) -> list[str]:
    left, right = parts, others
    lines = [f"{', '.join(others)}, = {', '.join(f'shuffle_xor({part}, {distance})' for part in parts)},"]
    if ordered:
        left, right = (
            [f"({a} if thread & {distance} {test} else {b})" for a, b in zip(others, parts, strict=True)]
            for test in ("!= 0", "== 0")
        )
    inner, texts = combine(left, right)
    lines.extend(inner)
    lines.append(f"{', '.join(parts)}, = {', '.join(texts)},")
    return lines


def across_warp(steps: Sequence[int], parts: Texts, others: Texts, ordered: bool, combine: Combine) -> list[str]:
    near = {1, 2, 4, 8, 16} & set(steps)
    return [line for step in sorted(near) for line in exchange(step, parts, others, ordered, combine)]
