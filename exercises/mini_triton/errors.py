"""The compiler's errors, and locations in a kernel's source. (Given.)"""

from __future__ import annotations

import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class Loc:
    """A location in the kernel's source.

    `line` counts from 1 and `column` from 0, as in Python's `ast`.
    """

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> str:
        """The source line with a caret below the column; empty if the file cannot be read."""
        source = linecache.getline(self.file, self.line).rstrip("\n")
        return f"{source}\n{' ' * self.column}^" if source else ""


class TritonError(Exception):
    """The base class of all errors of the compiler."""


class CompilationError(TritonError):
    """An error in the kernel, reported as `file:line:column`, the message, and the source line with a caret."""

    def __init__(self, message: str, loc: Loc | None = None) -> None:
        self.message = message
        self.loc = loc
        self.reason: BaseException | None = None  # the exception that the language or Python raised
        lines = [f"{loc}: {message}", loc.excerpt()] if loc else [message]
        super().__init__("\n".join(line for line in lines if line))

    @property
    def error_message(self) -> str:
        """The message without the location, under Triton's name."""
        return self.message


class VerificationError(CompilationError):
    """The IR is invalid. For example, an operation violates its type rule, or a block lacks a terminator."""


class UnsupportedLanguageConstruct(CompilationError):
    """A Python construct that kernels cannot use."""


class CompileTimeAssertionFailure(CompilationError):
    """A `tl.static_assert` that does not hold."""


class OutOfResources(TritonError):
    """The kernel needs more of a resource, such as shared memory, than the GPU has."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        super().__init__(
            f"out of resource: {name}, Required: {required}, Hardware limit: {limit}. "
            "Reducing block sizes or `num_stages` may help."
        )
        self.required, self.limit, self.name = required, limit, name

    def __reduce__(self) -> tuple[type[OutOfResources], tuple[int, int, str]]:
        return type(self), (self.required, self.limit, self.name)


class PTXASError(TritonError):
    """NVIDIA's assembler rejects the PTX of a kernel."""


class AutotunerError(TritonError):
    """None of an autotuned kernel's configurations can run."""
