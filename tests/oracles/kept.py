"""Answers that many processes ask for: the sessions of nox that run many gradings keep them in a folder."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = "KATA_ANSWERS"  # the variable that names the folder, which lasts for one session of nox


def kept(question: Any, ask: Callable[[], Any]) -> Any:
    """The answer of `ask`, or of an earlier process's `ask` to the same question. Both are JSON."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return ask()
    file = Path(folder, hashlib.sha256(json.dumps(question).encode()).hexdigest())
    if file.exists():
        return json.loads(file.read_text())
    answer = ask()
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as new:
        json.dump(answer, new)
    os.replace(new.name, file)  # a file that exists is complete
    return answer
