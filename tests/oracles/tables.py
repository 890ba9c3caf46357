"""Tables of real Triton's answers in `records/`. A module of this package asks for a table and reads it.

tables.load("tiles")["answers"]         # [["sm_80", "fp16", 128, 256, 64, 3, 8, 98304], ...]
tables.record("tiles", answers=ask())   # the command `python -m tests.oracles.tiles [--check]`
"""

import argparse
import functools
import json
from collections.abc import Sequence
from typing import Any

from tests import oracles
from tests.oracles import records, triton


@functools.cache
def load(name: str) -> dict[str, Any]:
    """The tables of a file: lists of rows, by name."""
    recorded = json.loads(records.FOLDER.joinpath(f"{name}.json").read_text(encoding="utf-8"))
    oracles.note("triton", f"records {recorded['version']}")
    return recorded


def record(name: str, **tables: Sequence[Any]) -> int:
    """Write tables to a file, with one line for each row.

    With `--check` on the command line, only print the rows that are not in the file. Returns 1 if there are any.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tests.oracles.{name}", description="Record real Triton.")
    parser.add_argument("--check", action="store_true", help="change nothing, report what differs")
    lines = {table: [json.dumps(row) for row in rows] for table, rows in tables.items()}
    if parser.parse_args().check:
        recorded = load(name)
        differing = [line for table in lines for line in lines[table] if json.loads(line) not in recorded[table]]
        print("\n".join(differing) or "the same")
        return 1 if differing else 0
    parts = [f' "{table}": [\n' + ",\n".join(f"  {line}" for line in rows) + "\n ]" for table, rows in lines.items()]
    text = "{\n" + ",\n".join([f' "version": "{triton.version()}"', *parts]) + "\n}\n"
    records.FOLDER.joinpath(f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{name}.json: {', '.join(f'{len(rows)} {table}' for table, rows in lines.items())}")
    return 0
