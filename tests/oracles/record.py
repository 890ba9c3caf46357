"""Record real Triton's answers, or check that the records still equal its answers.

python -m tests.oracles.record                         merge the installed Triton's answers with other versions'
python -m tests.oracles.record --versions PYTHON …     record the answers of the Tritons of these interpreters
python -m tests.oracles.record --check                 compare the records with the installed Triton
python -m tests.oracles.record --corpus [--check]      record the TTIR of real kernels, for parsers and back ends
python -m tests.oracles.record --values [--to FOLDER]  record the results of kernels on this machine's GPU
python -m tests.oracles.record --threads               record the elements of each thread on this machine's GPU
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.oracles import questions, records
from tests.oracles.process import Server

SECONDS = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 1 if a check finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.record", description="Record real Triton.")
    parser.add_argument("--check", action="store_true", help="change nothing, report what differs")
    parser.add_argument("--corpus", action="store_true", help="the TTIR of real kernels instead")
    parser.add_argument("--values", action="store_true", help="the results of kernels on a GPU instead")
    parser.add_argument("--threads", action="store_true", help="the elements of each thread on a GPU instead")
    parser.add_argument("--to", type=Path, default=records.FOLDER, metavar="FOLDER", help="the folder for the values")
    parser.add_argument("--versions", nargs="+", metavar="PYTHON", default=[sys.executable])
    options = parser.parse_args(arguments)
    if options.corpus:
        from tests.oracles import modules

        differences = modules.check() if options.check else modules.write()
    elif options.values:
        from tests.oracles import values

        differences = values.write(options.to)
    elif options.threads:
        from tests.oracles.server import threads

        differences = threads.record(options.to)
    elif options.check:
        differences = [difference for python in options.versions for difference in check(python)]
    else:
        differences = []
        for family in questions.FAMILIES:
            write(family, [ask(family, python) for python in options.versions])
    print(*differences, sep="\n", end="\n" if differences else "")
    return 1 if differences else 0


def ask(family: str, python: str = sys.executable) -> tuple[str, dict[str, Any]]:
    """The version of this interpreter's Triton, and its answers by key."""
    server = Server(python)
    asked = questions.FAMILIES[family]
    requests = [{"do": "probes.ask", "question": family, "arguments": parts} for parts in asked]
    version, *answers = server.ask([{"do": "frontend.version"}, *requests], SECONDS)
    server.close()
    refused = [answer for answer in (version, *answers) if not answer["ok"]]
    if refused:
        raise RuntimeError(f"{python} could not answer: {refused[0]['diagnostic']}")
    keys = [questions.key(*parts) for parts in asked]
    return version["version"], dict(zip(keys, (answer["answer"] for answer in answers), strict=True))


def check(python: str = sys.executable) -> list[str]:
    """The questions whose answers by this interpreter's Triton differ from the records.

    A version that is not recorded must give the answers on which all recorded versions agree.
    """
    differences = []
    for family in questions.FAMILIES:
        version, answers = ask(family, python)
        file = records.load(family)
        for key, answer in answers.items():
            recorded = records.by_version(file["answers"][key], file["versions"])
            known = recorded.get(version, next(iter(recorded.values())))
            comparable = version in recorded or all(other == known for other in recorded.values())
            if comparable and answer != known:
                said = f"recorded {json.dumps(known)}, Triton {version} says {json.dumps(answer)}"
                differences.append(f"{family}: {key}: {said}")
    return differences


def write(family: str, answered: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Merge the answers of some versions into a family's file, which has one line for each entry."""
    path = records.FOLDER / f"{family}.json"
    old = json.loads(path.read_text()) if path.exists() else {"versions": [], "answers": {}}
    versions = sorted({*old["versions"], *(version for version, _ in answered)}, key=_numbers)
    lines = []
    for parts in questions.FAMILIES[family]:
        key = questions.key(*parts)
        known = records.by_version(old["answers"][key], old["versions"]) if key in old["answers"] else {}
        known = known | {version: answers[key] for version, answers in answered}
        lines.append(f"  {json.dumps(key)}: {json.dumps(_merge(known, versions))}")
    head = f'{{\n "versions": {json.dumps(versions)},\n "answers": {{\n'
    path.write_text(head + ",\n".join(lines) + "\n }\n}\n")
    print(f"{path.name}: {len(lines)} answers of Triton {', '.join(versions)}")


def _merge(answers: dict[str, Any], versions: Sequence[str]) -> Any:
    groups: list[tuple[list[str], Any]] = []
    for version in versions:
        if version in answers:
            same = next((group for group, answer in groups if answer == answers[version]), None)
            if same is None:
                groups.append(([version], answers[version]))
            else:
                same.append(version)
    if len(groups) == 1 and groups[0][0] == list(versions):
        return groups[0][1]
    return {"by_version": {" ".join(group): answer for group, answer in groups}}


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")[:3]]


if __name__ == "__main__":
    sys.exit(main())
