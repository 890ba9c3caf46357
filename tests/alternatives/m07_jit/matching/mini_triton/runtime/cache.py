def store(key: str, entry: Entry) -> None:
    target = path_of(key)
    scratch: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent)
        scratch = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pack(entry))
        scratch.replace(target)
    except OSError as error:
        match scratch:
            case Path():
                scratch.unlink()
        warnings.warn(f"not kept: {error}", stacklevel=2)


def load(key: str) -> Entry | None:
    try:
        return unpack(path_of(key).read_bytes())
    except (OSError, ValueError) as error:
        match error:
            case FileNotFoundError():
                return None
            case _:
                warnings.warn(f"{path_of(key)} is of no use: {error}", stacklevel=2)
                return None

