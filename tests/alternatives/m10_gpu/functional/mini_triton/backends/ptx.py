import itertools


def accesses(ptx: str) -> Counter[Access]:
    def access(name: str, many: str, bits: str) -> Access:
        return {"ld": "load", "st": "store"}[name], int(bits) * int(many or 1) >> 3

    found = list(itertools.starmap(access, _ACCESS.findall(ptx)))
    copies = [("copy", int(size, base=0)) for size in _COPY.findall(ptx)]
    return Counter(itertools.chain(copies, sorted(found)))
