def titled(kernel: str, stage: str, text: str) -> str:
    numbered = {name: number for number, name in enumerate(FILES, 1)}
    match text.rstrip("\n"):
        case body:
            return (
                f"──── {kernel}: {numbered[stage]} {stage}, {body.count(chr(10)) + 1} lines ".ljust(100, "─")
                + f"\n{body}"
            )


def dump(kernel: str, key: str, stage: str, text: str) -> None:
    match dump_directory().joinpath(key):
        case folder:
            folder.mkdir(0o777, True, True)
            folder.joinpath(f"{kernel}.{FILES[stage]}").write_bytes(text.encode())
