"""Failure messages that teach: the call, the expected result, the actual result, and the reason for the expectation.

calling(promote, float16, bfloat16).returns(float16, because="real Triton's fp16 + bf16 is fp16")
calling(TensorType, (4, 3), F32).raises(ValueError, "element 1")
calling(getattr, F32, "width").returns(32)
"""

import re
from bdb import BdbQuit
from collections.abc import Callable
from numbers import Integral
from typing import Any, NoReturn

from hypothesis import settings

_ADDRESS = " object at 0x"
_NUMPY_INTEGER = re.compile(r"\bnp\.u?int\d+\((-?\d+)\)")
NO_ANSWER = (NotImplementedError, ImportError, MemoryError, BdbQuit)  # these have their own verdicts


def one_in(share: int) -> settings:
    """Settings for a property with slow examples: the usual number divided by `share`, but at least one."""
    return settings(max_examples=max(1, settings().max_examples // share))


def _alike(got: Any, expected: Any) -> bool:
    if type(expected) is int and isinstance(got, Integral) and not isinstance(got, int):
        return bool(got == expected)
    texts = repr(got), _NUMPY_INTEGER.sub(r"\1", repr(got))
    return type(got) is type(expected) and bool(got == expected) and repr(expected) in texts


class calling:
    """A call to the code under test, and the requirements on it. An error or failure stores the call as `call`."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        self.function = function
        self.arguments = arguments
        self.options = options

    def __call__(self) -> Any:
        __tracebackhide__ = True
        try:
            return self.function(*self.arguments, **self.options)
        except BaseException as error:
            vars(error)["call"] = self
            raise

    def __repr__(self) -> str:
        if self.function is getattr:
            subject, name = self.arguments
            return f"{self.shown(subject)}.{name}"
        options = [f"{name}={self.shown(value)}" for name, value in self.options.items()]
        return f"{self.function.__qualname__}({', '.join([*map(self.shown, self.arguments), *options])})"

    def shown(self, value: Any) -> str:
        """An argument or a result, formatted for a failure."""
        text, type = repr(value), getattr(value, "type", None)
        return f"{text} of type {type}" if _ADDRESS in text and type is not None else text

    def succeeds(self, expected: str = "no error", because: str = "") -> Any:
        """The call's result, unchecked. An error of the call fails the test."""
        __tracebackhide__ = True
        try:
            return self()
        except NO_ANSWER:
            raise
        except Exception as error:
            self.fail(expected, error, because)

    def returns(self, expected: Any, because: str = "") -> None:
        """Require a result that equals `expected`, with its type and `repr`: a list is not a tuple, [4.0] is not [4].

        Integers of NumPy may stand for Python's, as in the shape (np.int64(4), 2).
        """
        __tracebackhide__ = True
        got = self.succeeds(self.shown(expected), because)
        if not _alike(got, expected):
            self._fail(self.shown(expected), got, self._told(got), because)

    def raises(self, error: type[Exception], *names: str, because: str = "") -> None:
        """Require an error of this class or of a subclass, whose message contains all `names`."""
        __tracebackhide__ = True
        contents = " and ".join(map(repr, names))
        expected = f"{error.__name__} whose message contains {contents}" if names else error.__name__
        try:
            got = self()
        except NO_ANSWER:
            raise
        except Exception as raised:
            if not isinstance(raised, error) or not all(name in str(raised) for name in names):
                self.fail(expected, raised, because)
        else:
            self.fail(expected, got, because)

    def fail(self, expected: str, got: Any, because: str = "") -> NoReturn:
        """Fail because of a wrong result. If `got` is a `str`, it describes the result in words, as `expected` does."""
        __tracebackhide__ = True
        in_words = isinstance(got, str) and not expected.startswith(("'", '"'))
        self._fail(expected, got, got if in_words else self._told(got), because)

    def _told(self, got: Any) -> str:
        return f"{type(got).__name__}: {got}" if isinstance(got, Exception) else self.shown(got)

    def _fail(self, expected: str, got: Any, shown: str, because: str) -> NoReturn:
        __tracebackhide__ = True
        if shown == expected:
            shown += f", of type {type(got).__qualname__}"
        lines = [str(self), f"  expected  {expected}", f"  got       {shown}"]
        failure = AssertionError("\n".join(lines + [f"  because   {because}"] * bool(because)))
        vars(failure)["call"] = self
        # With the traceback of an unexpected error, the failure still points into the code under test.
        raise failure.with_traceback(got.__traceback__ if isinstance(got, Exception) else None) from None


class described(calling):
    """A call with a given description, for arguments whose `repr` is not informative."""

    def __init__(self, words: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        super().__init__(function, *arguments, **options)
        self.words = words

    def __repr__(self) -> str:
        return self.words
