def pack(threads: Threads, type: Type, elements: Sequence[Register]) -> list[Register]:
    size, left = size_of(type), list(elements)
    if kind_of(type) == "pred":
        left = [threads.op("selp.b16", 1, 0, element) for element in left]
    if size >= WORD or len(left) == 1:
        return left
    neighbors = iter(left)
    if size == 1:
        left = [join_bytes(threads, low, high) for low, high in zip(neighbors, neighbors, strict=True)]
        neighbors = iter(left)
    if len(left) == 1:
        return left
    return [threads.op("mov.b32", pair) for pair in zip(neighbors, neighbors, strict=True)]


def halves(threads: Threads, word: Register) -> tuple[Register, Register]:
    """The two halves of a word."""
    low = threads.op("cvt.u16.u32", word)
    return low, threads.op("cvt.u16.u32", threads.op("shr.u32", word, 16))


def unpack(threads: Threads, type: Type, words: Sequence[Register], count: int) -> list[Register]:
    found: list[Register] = []
    for word in words:
        parts = [word]
        if size_of(type) < WORD and word.kind == "b32":
            parts = list(halves(threads, word))
        for part in parts:
            found.append(part)
            if size_of(type) == 1 and count > 1:
                found.append(threads.op("shr.u16", part, 8))
    if kind_of(type) == "pred":
        return [threads.op("setp.ne.u16", threads.op("and.b16", element, 1), 0) for element in found]
    return found


def load(
    threads: Threads,
    space: str,
    type: Type,
    address: Address,
    count: int,
    guard: Register | None = None,
    others: Sequence[Register] = (),
    room: Room | None = None,
    policy: Sequence[Register] = (),
) -> list[Register]:
    bits = word_bits(size_of(type), count)
    words = max(1, 8 * size_of(type) * count // bits)
    kind = "b16" if bits == 8 else f"b{bits}"
    known = pack(threads, type, others) if guard and others else []
    results = []
    for number in range(words):
        result = threads.new(kind)
        results.append(result)
        if known:
            threads.copy(result, known[number])
        elif guard:
            threads.do(f"mov.{kind}", 0, results=(result,))
    opcode = f"ld.{space}.{suffix(bits, words)}"
    threads.do(opcode, address, *policy, results=tuple(results), guard=guard, room=room)
    return unpack(threads, type, results, count)
