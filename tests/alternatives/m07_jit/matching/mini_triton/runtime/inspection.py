def dump(key: str, file: str, text: str | bytes) -> None:
    folder = dump_directory().joinpath(key)
    folder.mkdir(0o777, True, True)
    match text:
        case bytes():
            folder.joinpath(file).write_bytes(text)
        case str():
            folder.joinpath(file).write_bytes(bytes(text, "utf-8"))
