"""`python -m grader`."""

import signal
import sys

if sys.version_info < (3, 11):  # noqa: UP036 (older ones get here, too)
    print(f"The grader needs Python 3.11 or newer, and this is {sys.version.split()[0]}.", file=sys.stderr)
    sys.exit(2)

from grader.cli import main

for name in ("SIGTERM", "SIGHUP"):  # handled like Ctrl-C, so that child processes end as well
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:  # `nohup` ignores SIGHUP
        signal.signal(getattr(signal, name), signal.default_int_handler)
sys.exit(main())
