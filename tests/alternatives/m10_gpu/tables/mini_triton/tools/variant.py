NAMES_IN_C = {"i1": "int8_t", "u1": "uint8_t", "fp32": "float", "fp64": "double"}
NAMES_IN_C |= {
    f"{short}{bits}": f"{long}{bits}_t" for short, long in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
}
INTEGER_NAMES = [name for name, in_c in NAMES_IN_C.items() if in_c.endswith("_t") and not name.endswith("1")]


def read_entry(text: str) -> Entry:
    match = re.fullmatch(r"(\*?[a-z]\w*)(:.*)?", text)
    if match is None or text in ("inf", "nan", "infinity"):
        return Entry("constexpr", WORDS[text] if text in WORDS else number(text))
    type, hint = match.groups()
    parse_type(type)
    allowed = {None: None}
    if type in INTEGER_NAMES or type[0] == "*":
        allowed[":16"] = 16
    if type in INTEGER_NAMES:
        allowed[":1"] = 1
    if hint not in allowed:
        raise ValueError(f"{text} has a hint that cannot be")
    return Entry(type, None, allowed[hint])


def number(text: str) -> Any:
    integer = re.fullmatch(r"[+-]?\d+", text)
    return int(text) if integer else float(text)


def c_type(type: str) -> str:
    if type[0] == "*":
        return "CUdeviceptr"
    return NAMES_IN_C.get(type) or ("uint8_t" if "8" in type else "uint16_t")


class Variant:
    def suffix(self) -> str:
        text = ""
        for name in self.entries:
            hint = self.entries[name].hint
            if hint is not None:
                text += str(list(self.entries).index(name)) + LETTERS[hint]
        return text
