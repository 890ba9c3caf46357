def titled(kernel: str, stage: str, text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    title = " ".join(["────", f"{kernel}:", str([*FILES].index(stage) + 1), f"{stage},", str(len(lines)), "lines", ""])
    return "\n".join([f"{title:─<{WIDTH}}", *lines])


def dump(kernel: str, key: str, stage: str, text: str) -> None:
    path = Path(dump_directory(), key, ".".join((kernel, FILES[stage])))
    os.makedirs(path.parent, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        print(text, end="", file=file)
