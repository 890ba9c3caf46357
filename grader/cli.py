"""The command line, `python -m grader …`. Without a command, it grades the last targets, or the next open task."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import traceback
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.course.curriculum import ROOT, Curriculum, CurriculumError, Task, UnknownTarget, load
from grader.course.problems import UsageError
from grader.learner import way
from grader.report.live import Live
from grader.report.progress import Progress
from grader.report.terminal import show, wrap
from grader.teaching import instructors

OK, LOST, USAGE, BROKEN = 0, 1, 2, 3

_TARGETS = "TARGET is a milestone (milestone3, m3, 3 or its key: builder), a task (3.2) or all."
_ROUTES = "weekend, half, gpu, threads, tensor or whole"
_OTHERS = """\


for those who teach the course (docs/instructors.md):
  export        write a repository for learners, without solutions
  class         grade every submission of a folder: gradebook and feedback

for those who maintain the course:
  stubs         generate exercises/ from solutions/
  check         do the course's rules hold?
  mistakes      do the tests catch learners' known misconceptions?
  mutants       do the tests catch small changes to the reference?
  alternatives  do right solutions in other styles pass?
  order         does each task pass while the later ones are stubs?
  cheats        does anything earn points without solving a task?
"""


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run one command and return its exit code: 0 all points, 1 points lost, 2 usage, 3 the grader failed."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        curriculum = load(root)
    except CurriculumError as error:
        print(f"The course's declaration has an error: {error}", file=sys.stderr)
        return BROKEN
    parser, commands = _parser(curriculum.has_solutions)
    named = bool(words) and words[0] in (*commands, "-h", "--help")
    options = parser.parse_args(words if named else ["grade", *words])
    try:
        return options.run(curriculum, options)
    except (UsageError, UnknownTarget) as error:
        print("\n".join(wrap(str(error))), file=sys.stderr)
        if not named and isinstance(error, UnknownTarget):
            print("`python -m grader --help` lists the commands.", file=sys.stderr)
        return USAGE
    except BrokenPipeError:  # the reader has closed the pipe, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return BROKEN
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        print(f"The grader itself failed: {type(error).__name__}: {first_line}", file=sys.stderr)
        print(f"This is not a fault in your code. The traceback is in {_save_traceback()}", file=sys.stderr)
        return BROKEN


def _grade(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.learner import doctor, finale
    from grader.parent import runner, submissions
    from grader.report import counterexamples, junit, screen, shrink

    if missing := doctor.missing_core():
        install = screen.command("-m pip", "install", "-c", "constraints.txt", *missing)
        raise UsageError(f"This Python lacks {', '.join(missing)}. Run `nox -s grade`, or: {install}")
    if options.json == options.junit == "-":
        raise UsageError("Only one report can go to standard output; name a file for the other.")
    history = _progress(curriculum)
    if options.submission and not options.submission.exists():
        raise UsageError(f"There is no submission {options.submission}.")
    if options.submission and options.impl != "learner":
        raise UsageError("A submission is always a learner's: omit --impl.")
    read_only = not curriculum.scratch.is_relative_to(curriculum.root)
    own = options.impl == "learner" and not options.submission and not read_only
    targets = options.target or way.resume(curriculum, history)
    tasks = curriculum.resolve(targets)  # report a wrong name before anything runs
    how = {name: getattr(options, name) for name in ("fill", "device", "examples")}
    with Live(sys.stderr, curriculum, tasks, history.seconds()) as live:
        how |= {"on_event": live.note, "curriculum": curriculum}
        if options.submission:
            seed = secrets.randbelow(1 << 32) if options.seed is None else options.seed
            report = submissions.grade(targets, options.submission, seed=seed, **how)
        else:
            first = history.failed() if own else ()
            report = runner.grade(targets, impl=options.impl, seed=options.seed or 0, first=first, **how)
    course, before = (report.score, report.max_score), history.tasks()
    if own:
        counterexamples.write(report, curriculum.scratch / "counterexamples")
        history.record(report, way.is_underway(curriculum, history))  # marks the earlier passes that still count
        course = _course(curriculum, history)
    stream = sys.stderr if options.json == "-" else sys.stdout
    following = way.following(curriculum, history, tasks) if own else None
    ends = way.completed(curriculum, history, tasks, before) if own else ()
    ending = [line for end in ends for line in finale.finale_lines(curriculum, end)]
    lines = screen.report_lines(
        report, course, options.verbose, options.modules, following, compares=curriculum.has_solutions, ending=ending
    )
    show(lines, stream)
    data = report.to_json()
    if options.submission and not options.verbose:
        data = shrink.shrink(data)
        report = type(report).from_json(data)
    if options.json:
        _write(options.json, shrink.to_text(data))
    if options.junit:
        _write(options.junit, junit.to_junit(report))
    return OK if report.score == report.max_score else LOST


def _watch(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from importlib.util import find_spec

    from grader.learner import doctor
    from grader.learner.watch import Watch
    from grader.report import screen

    if missing := [*doctor.missing_core(), *(["watchfiles"] if not find_spec("watchfiles") else [])]:
        install = screen.command("-m pip", "install", "-c", "constraints.txt", *missing)
        raise UsageError(f"This Python lacks {', '.join(missing)}. Either `nox -s grade -- watch`, or: {install}")
    history = _progress(curriculum)
    tasks = curriculum.resolve(options.target or way.resume(curriculum, history))
    if not options.target:
        tasks = way.since(tasks[0], way.ahead(curriculum, history))
    how = {name: getattr(options, name) for name in ("fill", "device", "examples")}
    return OK if Watch(curriculum, history, tasks, how).run() else LOST


def _list(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.report import screen

    history = _progress(curriculum)
    if options.route:
        show(screen.route_lines(curriculum, curriculum.route(options.route), history.tasks()), sys.stdout)
        return OK
    unfolded = {task.milestone for task in curriculum.resolve(options.target or way.resume(curriculum, history)[:1])}
    show(screen.course_lines(curriculum, history.tasks(), unfolded), sys.stdout)
    return OK


def _follow(curriculum: Curriculum, options: argparse.Namespace) -> int:
    history, route = _progress(curriculum), curriculum.route(options.route)
    history.follow(route.key)
    task = way.first_open(curriculum.along(route).tasks, history)
    print(f"`grader` and `grader watch` now follow {route.key}; the first open task is {task.id}, {task.title}.")
    return OK


def _hint(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.report import screen

    history = _progress(curriculum)
    task = way.first_open(
        curriculum.resolve([options.target] if options.target else way.resume(curriculum, history)), history
    )
    known = history.task(task.id).hints_seen
    number = history.take_hint(task.id, len(task.hints))
    passed = bool(history.task(task.id).first_pass)
    show(screen.hint_lines(task, number, known, passed, curriculum.has_solutions), sys.stdout)
    return OK


def _solution(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.course import workspace

    task = _asked(curriculum, options)
    _earned(task, curriculum, options)
    print(workspace.solution(curriculum, task), end="")
    return OK


def _diff(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.course import workspace

    task = _asked(curriculum, options)
    _earned(task, curriculum, options)
    try:
        print(workspace.diff(curriculum, task) or "Your code is the reference's.\n", end="")
    except workspace.Untold as error:
        raise UsageError(error) from None
    return OK


def _reset(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.course import workspace

    if options.target.endswith(".py"):
        places = Path(options.target).resolve(), curriculum.exercises / options.target
        done = next(filter(None, (workspace.reset_file(curriculum, place) for place in places)), None)
        if not done:
            raise UsageError(f"{options.target} is not a file in exercises/ that the course provides.")
    else:
        tasks = curriculum.resolve([options.target])
        try:
            done = workspace.reset(curriculum, tasks)
        except workspace.Untold as error:
            raise UsageError(error) from None
        _progress(curriculum).reopen(task.id for task in tasks)
    print("\n".join(done))
    return OK


def _python(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.learner import python

    words = options.what if options.module is None else ["-m", *options.module]
    targets = words[:1] if words and words[0] != "-m" and not words[0].endswith(".py") else []
    program = words[len(targets) :]
    if program == ["-m"]:
        raise UsageError("Name a module after -m.")
    if program and program[0] == "-c":
        raise UsageError("`python` runs a file or, with -m, a module. Without either, it starts a prompt.")
    if program and program[0] != "-m" and not Path(program[0]).is_file():
        raise UsageError(f"There is no file {program[0]}.")
    tasks = curriculum.resolve(targets or way.resume(curriculum, _progress(curriculum)))
    return OK if python.run(curriculum, {task.milestone for task in tasks}, program) else LOST


def _finale(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.learner import finale

    if options.target in (route.key for route in curriculum.routes):
        return OK if finale.run_route(curriculum, curriculum.route(options.target)) else LOST
    milestone = curriculum.milestone(curriculum.resolve([options.target])[-1].milestone)
    if not finale.file_of(curriculum, milestone).is_file():
        raise UsageError(f"{milestone.id} has no finale.")
    return OK if finale.run(curriculum, milestone) else LOST


def _doctor(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.learner import doctor

    show(doctor.doctor_lines(curriculum), sys.stdout)
    return OK


def _stubs(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.course import stubs

    try:
        if options.check:
            problems = stubs.check(curriculum)
            return _problems(problems, "exercises/ agrees with solutions/.")
        changed = stubs.write(curriculum, force=options.force)
    except stubs.BadMarkers as error:
        return _problems(error.problems, "")
    except stubs.WouldOverwrite as refusal:
        names = "".join(f"\n  {path.relative_to(curriculum.root)}" for path in refusal.paths)
        raise UsageError(
            f"Nothing was written. These files hold work that would be lost:{names}\n"
            "Use --force to replace them; copies are kept under .kata/backups/."
        ) from None
    print("\n".join(str(path.relative_to(curriculum.root)) for path in changed) or "Nothing has changed.")
    return OK


def _check(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.upkeep import check

    return _problems(check.check(curriculum), "Every rule of the course holds.")


def _mistakes(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.upkeep import mistakes

    return OK if mistakes.run(options.target or ["all"], options.sample, options.seed, options.trust) else LOST


def _mutants(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.upkeep import mutants

    targets = options.target or ["all"]
    return OK if mutants.run(targets, options.sample, options.seed, options.trust, options.json) else LOST


def _alternatives(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.upkeep import alternatives, together

    if options.together:
        return OK if together.run() else LOST
    targets = options.target or ["all"]
    return OK if alternatives.run(targets, options.examples, options.sample, options.seed) else LOST


def _order(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.upkeep import order

    targets = options.target or ["all"]
    return OK if order.run(targets, options.examples, options.route, options.sample, options.seed) else LOST


def _cheats(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.upkeep import cheats

    return OK if cheats.run(options.word, options.sample, options.seed) else LOST


def _problems(problems: Sequence[object], none: str) -> int:
    print("\n".join(map(str, problems)) or none)
    return LOST if problems else OK


def _progress(curriculum: Curriculum) -> Progress:
    return Progress(curriculum.scratch / "progress.db")


def _course(curriculum: Curriculum, history: Progress) -> tuple[int, int]:
    """The learner's points so far, and all points."""
    tasks = history.tasks()
    reached = sum(task.points for task in curriculum.tasks if task.id in tasks and tasks[task.id].passes)
    return reached, sum(task.points for task in curriculum.tasks)


def _asked(curriculum: Curriculum, options: argparse.Namespace) -> Task:
    """The named task, or else the task that passed last."""
    if options.task:
        return curriculum.task(options.task)
    known = _progress(curriculum).tasks()
    passed = [task for task in curriculum.tasks if task.id in known and known[task.id].first_pass]
    if not passed:
        raise UsageError(f"Name a task, as in `{options.command} 1.1`: no task has passed yet.")
    return max(passed, key=lambda task: known[task.id].first_pass)


def _earned(task: Task, curriculum: Curriculum, options: argparse.Namespace) -> None:
    if not curriculum.has_solutions:
        raise UsageError("This copy of the course has no solutions.")
    if not options.anyway and not _progress(curriculum).task(task.id).first_pass:
        raise UsageError(
            f"The solution to {task.id} is shown once you have passed the task. "
            f"Until then: `hint {task.id}`, or `{options.command} {task.id} --anyway`."
        )


def _write(path: str, text: str) -> None:
    try:
        if path == "-":
            sys.stdout.write(text)
        else:
            Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"The report could not be written to {path}: {error.strerror}.") from None


def _save_traceback() -> Path:
    name = f"mini_triton-grader-{datetime.now():%Y-%m-%d_%H-%M-%S}.txt"
    path = Path(tempfile.gettempdir()) / name
    path.write_text(traceback.format_exc(), encoding="utf-8")
    return path


def _parser(has_solutions: bool) -> tuple[argparse.ArgumentParser, Collection[str]]:
    """The parser, and the names of its commands. Its help names only what works in a copy without solutions."""

    def full(text: str) -> dict[str, Any]:
        return {"help": text if has_solutions else argparse.SUPPRESS}

    def shown(text: str) -> dict[str, Any]:
        return {"help": text} if has_solutions else {}

    parser = argparse.ArgumentParser(
        prog="python -m grader",
        description="Grades the mini_triton kata. `grader 1.3` means `grader grade 1.3`; `grader` resumes your work.",
        epilog=_TARGETS + (_OTHERS if has_solutions else ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    grade = commands.add_parser("grade", help="judge your code")
    grade.set_defaults(run=_grade)
    grade.add_argument("target", nargs="*", metavar="TARGET", help="milestone, task or all")
    implementations = ("learner", "reference")
    grade.add_argument("--impl", choices=implementations, default="learner", **full("whose code to grade (learner)"))
    grade.add_argument(
        "--fill",
        choices=implementations,
        default="reference",
        **full("whose code to use for earlier milestones (reference)"),
    )
    grade.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where kernels run (auto)")
    grade.add_argument("--seed", type=int, help="seed of the random cases (0; for each submission, a new one)")
    grade.add_argument("--examples", type=_positive, default=100, metavar="N", help="random cases per test (100)")
    grade.add_argument(
        "--submission",
        type=Path,
        metavar="PATH",
        **full("grade a learner's folder, fork, zip or tar; record nothing"),
    )
    grade.add_argument("--json", metavar="FILE", help="write the report as JSON; - means standard output")
    grade.add_argument("--junit", metavar="FILE", help="write the report as JUnit XML")
    grade.add_argument("--verbose", action="store_true", help="show every failing task in detail")
    grade.add_argument("--modules", action="store_true", help="list every module that ran, with its hash")

    watch = commands.add_parser("watch", help="grade the current task after each save; continue when it passes")
    watch.set_defaults(run=_watch)
    watch.add_argument("target", nargs="*", metavar="TARGET", help="milestone, task or all (where you are)")
    watch.add_argument("--fill", choices=implementations, default="reference", **full("as for grade"))
    watch.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="as for grade")
    watch.add_argument("--examples", type=_positive, default=100, metavar="N", help="as for grade")

    progress = commands.add_parser("list", help="show your progress")
    progress.set_defaults(run=_list)
    progress.add_argument("target", nargs="*", metavar="TARGET", help="milestones to expand, or all")
    progress.add_argument("--route", metavar="ROUTE", **full(f"{_ROUTES}: its tasks and hours"))
    follow = commands.add_parser("follow", **shown("choose a route; `grader` and `watch` follow it"))
    follow.set_defaults(run=_follow)
    follow.add_argument("route", metavar="ROUTE", help=_ROUTES)
    hint = commands.add_parser("hint", help="show the next of a task's three hints")
    hint.set_defaults(run=_hint)
    hint.add_argument("target", nargs="?", metavar="TARGET", help="task; for a milestone, its first open task")
    for name, run, text in (
        ("solution", _solution, "show the reference's code for a task you have passed"),
        ("diff", _diff, "compare your code with the reference's for a task you have passed"),
    ):
        command = commands.add_parser(name, **shown(text))
        command.set_defaults(run=run)
        command.add_argument("task", nargs="?", metavar="TASK", help="by default, the task that passed last")
        command.add_argument("--anyway", action="store_true", help="show it even if the task has not passed yet")
    earlier = " and the reference's earlier milestones" * has_solutions
    python = commands.add_parser("python", help=f"run Python with your code{earlier}")
    python.set_defaults(run=_python)
    python.usage = f"{python.prog} [-h] [MILESTONE] [FILE | -m MODULE] [ARGUMENT ...]"
    python.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="module to run, such as mini_triton")
    python.add_argument(
        "what", nargs=argparse.REMAINDER, metavar="MILESTONE FILE", help="milestone whose code is yours; file to run"
    )
    finale = commands.add_parser("finale", help="show what your code can do at the end of a milestone")
    finale.set_defaults(run=_finale)
    ends = "a milestone that you have completed" + ", or a route" * has_solutions
    finale.add_argument("target", metavar="MILESTONE", help=ends)
    reset = commands.add_parser("reset", help="restore the stub; your version is kept")
    reset.set_defaults(run=_reset)
    reset.add_argument("target", metavar="TARGET", help="milestone, task, all, or a file in exercises/")
    commands.add_parser("doctor", help="show what this machine has and what to install").set_defaults(run=_doctor)

    # Without a `help`, these are not listed among the learner's commands; `_OTHERS` has them.
    stubs = commands.add_parser("stubs", description="Generate exercises/ from solutions/.")
    stubs.set_defaults(run=_stubs)
    stubs.add_argument("--check", action="store_true", help="only report what differs")
    stubs.add_argument("--force", action="store_true", help="replace edited files too, after a backup")
    commands.add_parser("check", description="Do the course's rules hold?").set_defaults(run=_check)
    sampled = argparse.ArgumentParser(add_help=False)
    sampled.add_argument("target", nargs="*", metavar="TARGET", help="all if left out")
    sampled.add_argument("--sample", type=_positive, metavar="N", help="only this many, from all tasks")
    sampled.add_argument("--seed", type=int, default=0, help="seed of the sample (0)")
    trials = argparse.ArgumentParser(add_help=False, parents=[sampled])
    trials.add_argument("--trust", action="store_true", help="skip grading the reference, which is known to pass")
    mistakes = commands.add_parser("mistakes", parents=[trials], description="Do the tests catch known mistakes?")
    mistakes.set_defaults(run=_mistakes)
    mutants = commands.add_parser(
        "mutants", parents=[trials], description="Do the tests catch small changes to the reference?"
    )
    mutants.set_defaults(run=_mutants)
    mutants.add_argument("--json", type=Path, metavar="FILE", help="write the survivors as JSON")
    alternatives = commands.add_parser(
        "alternatives", parents=[sampled], description="Do right solutions in other styles pass?"
    )
    alternatives.set_defaults(run=_alternatives)
    alternatives.add_argument("--examples", type=_positive, default=100, metavar="N", help="cases per test (100)")
    alternatives.add_argument("--together", action="store_true", help="whole courses in one style instead")
    order = commands.add_parser(
        "order", parents=[sampled], description="Does each task pass while the later ones are stubs?"
    )
    order.set_defaults(run=_order)
    order.add_argument("--route", default="", metavar="ROUTE", help="with only this route's earlier tasks solved")
    order.add_argument("--examples", type=_positive, default=10, metavar="N", help="cases per test (10)")
    cheats = commands.add_parser("cheats", description="Does anything earn points without solving a task?")
    cheats.set_defaults(run=_cheats)
    cheats.add_argument("word", nargs="*", metavar="WORD", help="only cheats whose names contain one of these words")
    cheats.add_argument("--sample", type=_positive, metavar="N", help="only this many")
    cheats.add_argument("--seed", type=int, default=0, help="seed of the sample (0)")
    instructors.add_commands(commands)
    return parser, commands.choices


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)
