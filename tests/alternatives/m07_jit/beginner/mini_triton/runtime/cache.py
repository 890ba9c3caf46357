def store(key: str, entry: Entry) -> None:
    path = path_of(key)
    name = ""
    try:
        os.makedirs(path.parent, exist_ok=True)
        file = tempfile.NamedTemporaryFile(dir=path.parent, delete=False)
        name = file.name
        try:
            file.write(pack(entry))
        finally:
            file.close()
        os.replace(name, path)
    except OSError as error:
        if name != "":
            os.remove(name)
        warnings.warn("cannot keep a compiled kernel: " + str(error), stacklevel=2)


def load(key: str) -> Entry | None:
    path = path_of(key)
    try:
        file = open(path, "rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        warnings.warn(f"cannot read {path}: {error}", stacklevel=2)
        return None
    with file:
        content = file.read()
    try:
        return unpack(content)
    except ValueError as error:
        warnings.warn(f"{path} is damaged: {error}", stacklevel=2)
        return None


def unpack(content: bytes) -> Entry:
    position = content.find(b"\n")
    if position < 0:
        raise ValueError("there is no second line")
    checksum = content[:position]
    entry = content[position + 1 :]
    if checksum != hashlib.sha256(entry).hexdigest().encode():
        raise ValueError("the checksum is another")
    return json.loads(entry)
