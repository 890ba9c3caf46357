import contextlib
import hmac
import io


def store(key: str, entry: Entry) -> None:
    with contextlib.ExitStack() as stack:
        try:
            path_of(key).parent.mkdir(parents=True, exist_ok=True)
            file = tempfile.NamedTemporaryFile(dir=path_of(key).parent, delete=False)
            stack.callback(Path(file.name).unlink, missing_ok=True)
            with file:
                file.write(pack(entry))
            os.replace(file.name, path_of(key))
        except OSError as error:
            warnings.warn(f"nothing is kept of a kernel: {error!r}", stacklevel=2)


def load(key: str) -> Entry | None:
    with contextlib.suppress(FileNotFoundError):
        try:
            return unpack(path_of(key).read_bytes())
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:
            warnings.warn(f"damaged: {path_of(key)} ({error})", stacklevel=2)
    return None


def unpack(content: bytes) -> Entry:
    texts = io.BytesIO(content)
    checksum = texts.readline()
    entry = texts.read()
    if not hmac.compare_digest(checksum, hashlib.sha256(entry).hexdigest().encode() + b"\n"):
        raise ValueError("checksum")
    return json.loads(entry)
