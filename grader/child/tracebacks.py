"""Tracebacks without the reference's lines: a learner must not read the solution there."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import TracebackType


def hide(folder: Path) -> None:
    """From now on an uncaught exception is shown without the frames that run files of this folder."""

    def show(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        summary = traceback.TracebackException(kind, error, frames)
        part: traceback.TracebackException | None = summary
        while part:
            shown = [frame for frame in part.stack if not Path(frame.filename).is_relative_to(folder)]
            part.stack = traceback.StackSummary.from_list(shown)
            part = part.__cause__ or part.__context__
        print("".join(summary.format()), end="", file=sys.stderr)

    sys.excepthook = show
