"""Files by two digests; the assembler's messages line by line."""


def assemble(ptx, target, fused=True):
    options = options_for(target, fused)
    digests = [hashlib.sha256(part.encode()).hexdigest()[:32] for part in (ptx, f"{version()} {options}")]
    place = cache.directory() / "ptx" / "-".join(digests)
    try:
        return place.read_bytes()
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(".partial", "assembling-", place.parent)
    os.close(descriptor)
    try:
        run(ptx, Path(temporary), *options)
        code = Path(temporary).read_bytes()
        os.rename(temporary, place)
    except BaseException:
        os.unlink(temporary)
        raise
    return code


def usage(ptx, target):
    descriptor, unwanted = tempfile.mkstemp()
    os.close(descriptor)
    try:
        lines = run(ptx, Path(unwanted), *options_for(target, True), "--verbose").splitlines()
    finally:
        os.unlink(unwanted)
    (last,) = (number for number, line in enumerate(lines) if " Used " in line)
    numbers = {}
    for part in [*lines[last - 1].split(","), *lines[last].partition("Used ")[2].split(",")]:
        for unit in ("bytes spill stores", "registers", "bytes smem"):
            if part.endswith(unit):
                numbers[unit] = int(part.split()[0] if unit != "registers" else part.split()[-2])
    return Usage(numbers["registers"], numbers["bytes spill stores"], numbers.get("bytes smem", 0))


def occupancy_of(code):
    needed = usage(code.ptx, code.target)
    return occupancy(GPUS[code.target], code.threads // 32, needed.registers, needed.shared + code.shared)
