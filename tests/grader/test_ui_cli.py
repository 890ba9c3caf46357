"""The commands: their output, refusals, history and exit codes."""

import contextlib
import itertools
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import grader.parent
from grader import cli
from grader.course.curriculum import ROOT, Curriculum, load
from grader.learner import way
from grader.report.progress import Progress, TaskProgress, is_open
from grader.report.verdicts import Report, Verdict
from tests.grader.small_course import TASKS, Course, report, result

Use = Callable[[Report | Exception], "Runner"]


@pytest.fixture
def curriculum(tiny: Course) -> Curriculum:
    return tiny.curriculum


class Runner:
    """A substitute for the module `grader.parent.runner` that gives prepared answers, and records the questions."""

    def __init__(self, answer: Report | Exception) -> None:
        self.answer = answer
        self.targets: list[str] = []

    def grade(self, targets: list[str], **options: object) -> Report:
        self.targets = targets
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Lets grading answer as told."""

    def install(answer: Report | Exception) -> Runner:
        runner = Runner(answer)
        monkeypatch.setattr(grader.parent, "runner", runner, raising=False)
        return runner

    return install


def passed() -> Report:
    return report(*((task, [result(task, Verdict.PASS)]) for task in TASKS))


def half_passed() -> Report:
    return report(
        ("1.1", [result("1.1", Verdict.PASS)]),
        ("1.2", [result("1.2", Verdict.FAIL, "no", counterexample="x=3")]),
    )


def run(curriculum: Curriculum, *arguments: str) -> int:
    return cli.main(arguments, curriculum.root)


def graded(*tasks: str, verdict: Verdict = Verdict.PASS, target: str = "") -> Report:
    whole = report(*((task, [result(task, verdict)]) for task in tasks))
    whole.target = [target] if target else list(tasks)
    return whole


@pytest.mark.parametrize(
    "runs, target",
    [
        ([], "milestone1"),
        ([half_passed()], "milestone1"),
        ([graded("1.2", verdict=Verdict.FAIL)], "1.2"),
        ([graded("1.2")], "1.3"),
        ([graded("1.3")], "1.1"),
        ([graded("2.1", verdict=Verdict.FAIL, target="chains")], "chains"),
        ([graded("1.1", "1.2", "1.3", target="m1")], "milestone2"),
        ([graded("2.1"), graded("1.1", "1.2", verdict=Verdict.FAIL)], "1.1 1.2"),
        ([graded("1.1", "1.2", "1.3", "2.1", target="all")], "all"),
        ([graded("1.1", target="milestone9")], "milestone1"),
        ([graded("1.1", verdict=Verdict.UNAVAILABLE)], "1.2"),
    ],
)
def test_the_bare_command_goes_on_where_the_learner_was(
    runs: list[Report], target: str, curriculum: Curriculum, use: Use
) -> None:
    for one in runs:
        Progress(curriculum.scratch / "progress.db").record(one)
    runner = use(half_passed())
    run(curriculum)
    assert runner.targets == target.split()


def test_a_task_that_the_course_no_longer_has(tiny: Course, use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    """Its result stays in the database. Every command goes on with the tasks that are left."""
    tiny.solve()
    progress = Progress(tiny.curriculum.scratch / "progress.db")
    progress.follow("long")
    for one in (graded("1.1"), graded("2.1")):
        progress.record(one)
    before = progress.task("2.1")
    for path in ("grader/curriculum/m02_chains.toml", "grader/routes.toml"):
        (tiny.root / path).unlink()
    runner = use(half_passed())
    for command, answer in {"list": "1.1", "hint": "1.2", "diff": "1.1", "grade": "1.2"}.items():
        run(tiny.curriculum, command)
        captured = capsys.readouterr()
        assert answer in captured.out and "2.1" not in captured.out + captured.err
    assert runner.targets == ["milestone1"] and progress.task("2.1") == before


def test_the_last_task_leads_to_the_next_milestone() -> None:
    course = load()
    for milestone, later in itertools.pairwise(course.milestones):
        order = way.since(milestone.tasks[-1], course)
        after = next(task for task in order if task.milestone != milestone.number)
        assert after == later.tasks[0], f"after milestone {milestone.number} comes {after.id}"


@pytest.mark.parametrize(
    "before, verdict, target",
    [
        (half_passed(), Verdict.NOT_IMPLEMENTED, "milestone1"),  # a look elsewhere
        (half_passed(), Verdict.FAIL, "m2"),
        (graded("1.1", "1.2", "1.3", target="m1"), Verdict.NOT_IMPLEMENTED, "m2"),  # milestone 1 is complete
    ],
)
def test_a_look_at_stubs_does_not_move_a_learner(
    before: Report, verdict: Verdict, target: str, curriculum: Curriculum, use: Use
) -> None:
    for one in (before, graded("2.1", verdict=verdict, target="m2")):
        use(one)
        run(curriculum, *one.target)
    runner = use(half_passed())
    run(curriculum)
    assert runner.targets == [target]


def test_a_target_alone_is_graded(curriculum: Curriculum, use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    for target in ("m1", "1.3", "numbers"):
        runner = use(passed())
        assert run(curriculum, target) == cli.OK
        assert runner.targets == [target]
    capsys.readouterr()
    assert run(curriculum, "gradee") == cli.USAGE
    assert "There is no milestone or task 'gradee'" in capsys.readouterr().err


def test_usage_errors_do_not_show_the_maintainers_commands(
    curriculum: Curriculum, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("gradee",), ("grade", "--nonsense"), ("hint", "--nonsense"), ("--nonsense",)):
        with contextlib.suppress(SystemExit):
            run(curriculum, *words)
        error = capsys.readouterr().err
        assert error and not any(name in error for name in ("mutants", "mistakes", "alternatives", "stubs")), error


def test_json_and_junit_go_to_the_named_files(
    curriculum: Curriculum, use: Use, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(half_passed())
    junit = tmp_path / "junit.xml"
    run(curriculum, "grade", "--json", "-", "--junit", str(junit))
    captured = capsys.readouterr()
    value = json.loads(captured.out)
    assert (value["schema"], value["score"], value["max_score"]) == ("mini-triton-kata/1", 2, 3)
    assert value["milestones"][0]["tasks"][1]["tests"][0]["reproduce"].startswith(".kata/counterexamples/")
    assert "1.2  Double" in captured.err, "the screen makes room for the JSON"
    assert junit.read_text().startswith("<?xml")


def test_only_the_learners_own_runs_are_recorded(curriculum: Curriculum, use: Use, tmp_path: Path) -> None:
    use(passed())
    (tmp_path / "fork" / "exercises" / "mini_triton").mkdir(parents=True)
    run(curriculum, "grade", "--impl", "reference")
    run(curriculum, "grade", "all", "--submission", str(tmp_path / "fork"))
    assert Progress(curriculum.scratch / "progress.db").tasks() == {}
    run(curriculum, "grade")
    assert Progress(curriculum.scratch / "progress.db").task("1.1").passes


def test_python_runs_a_file_on_the_learners_code(tiny: Course) -> None:
    """The reference's lines are not shown."""
    tiny.solve()
    file = tiny.write("try.py", "from tiny.chain import total\nprint(total([1, 2]))\ntotal([None])\n")
    done = run_python(tiny, "m2", str(file))
    assert (done.returncode, done.stdout) == (cli.LOST, "3\n")
    assert "exercises" in done.stderr and "TypeError" in done.stderr and "solutions" not in done.stderr


@pytest.mark.parametrize("milestone", [["m2"], []])
@pytest.mark.parametrize("program", [["try.py"], ["-m", "tiny.show"]])
def test_python_passes_arguments_on(program: list[str], milestone: list[str], tiny: Course) -> None:
    """To a file and to a module alike, with their exit code; both run on the learner's code."""
    tiny.solve()
    code = "import sys\nfrom tiny.number import add\nprint(__name__, add(1, 2), sys.argv[1:])\nsys.exit(7)\n"
    tiny.write("try.py", code)
    tiny.write("exercises/tiny/show.py", code)
    done = run_python(tiny, *milestone, *program, "m1", "-m", "--verbose", "x.py")
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout == "__main__ 3 ['m1', '-m', '--verbose', 'x.py']\n"


def run_python(course: Course, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The grader's `python`, in a process of its own, as the overlay stays."""
    code = "import pathlib, sys, grader.cli; sys.exit(grader.cli.main(sys.argv[1:], pathlib.Path.cwd()))"
    command = [sys.executable, "-c", code, "python", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=course.root, env=environment, capture_output=True, text=True)


def test_hints_advance(curriculum: Curriculum, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []
    for _ in range(3):
        assert run(curriculum, "hint", "1.2") == cli.OK
        seen.append(capsys.readouterr().out)
    assert "Hint 1 of 3, new\n  Ask." in seen[0] and "Tell." not in seen[0]
    assert "Hint 1 of 3\n  Ask." in seen[1] and "Hint 2 of 3, new\n  Tell." in seen[1]
    assert all(hint in seen[2] for hint in ("Ask.", "Tell.", "Show.", "solution 1.2 --anyway"))
    assert run(curriculum, "hint", "numbers") == cli.OK
    assert "1.1 Add" in capsys.readouterr().out, "its first open task"


@pytest.mark.parametrize("command", ["solution", "diff"])
def test_the_solution_is_earned(
    command: str, curriculum: Curriculum, use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(curriculum, command, "1.2") == cli.USAGE
    assert "once you have passed the task" in capsys.readouterr().err
    assert run(curriculum, command, "1.2", "--anyway") == cli.OK
    assert "return 2 * a" in capsys.readouterr().out
    use(passed())
    run(curriculum, "grade")
    assert run(curriculum, command, "1.2") == cli.OK


def test_a_file_to_reset_may_be_named_from_exercises(
    curriculum: Curriculum, capsys: pytest.CaptureFixture[str]
) -> None:
    file = curriculum.exercises / "tiny" / "number.py"
    stub = file.read_text()
    file.write_text("def broken(:\n")
    assert run(curriculum, "reset", "tiny/number.py") == cli.OK
    assert "the whole file" in capsys.readouterr().out and file.read_text() == stub


def test_a_reset_opens_the_task_again(curriculum: Curriculum, use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use(passed())
    run(curriculum, "grade")
    assert run(curriculum, "reset", "1.2") == cli.OK
    capsys.readouterr()
    run(curriculum, "list")
    text = capsys.readouterr().out
    assert "6 of 7 points" in text and "○ 1.2" in text and "✓ 1.1" in text


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("grade", "milestone9"), "milestone1 (numbers)"),
        (("hint", "7.7"), "There is no milestone or task '7.7'"),
        (("reset", "types.py"), "is not a file in exercises/"),
        (("python", "milestone1", "-c", "print(1)"), "`python` runs a file or, with -m, a module"),
        (("grade", "--submission", "nowhere"), "There is no submission nowhere"),
    ],
)
def test_wrong_names_are_reported_in_plain_words(
    arguments: tuple[str, ...],
    words: str,
    curriculum: Curriculum,
    use: Use,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(passed())
    assert run(curriculum, *arguments) == cli.USAGE
    captured = capsys.readouterr()
    assert words in " ".join(captured.err.split()) and "Traceback" not in captured.err


def test_a_failure_of_the_grader_is_short_and_kept(
    curriculum: Curriculum, use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    use(KeyError("lost"))
    assert run(curriculum, "grade", "m1") == cli.BROKEN
    text = capsys.readouterr().err
    assert "The grader itself failed: KeyError: 'lost'" in text and "not a fault in your code" in text
    saved = Path(text.rpartition(" ")[2].strip())
    assert "Traceback" in saved.read_text()
    saved.unlink()


def test_a_broken_declaration_is_not_the_learners_fault(
    curriculum: Curriculum, capsys: pytest.CaptureFixture[str]
) -> None:
    (curriculum.root / "grader" / "curriculum" / "m01_numbers.toml").write_text("number = [")
    assert run(curriculum, "list") == cli.BROKEN
    assert "m01_numbers.toml" in capsys.readouterr().err


def test_stubs_never_overwrite_work(curriculum: Curriculum, capsys: pytest.CaptureFixture[str]) -> None:
    file = curriculum.exercises / "tiny" / "number.py"
    file.write_text("mine = True\n")
    assert run(curriculum, "stubs", "--check") == cli.LOST
    assert run(curriculum, "stubs") == cli.USAGE
    assert "exercises/tiny/number.py" in capsys.readouterr().err
    assert file.read_text() == "mine = True\n"
    assert run(curriculum, "stubs", "--force") == cli.OK
    assert run(curriculum, "stubs", "--check") == cli.OK


def test_the_list_unfolds_started_milestones(
    curriculum: Curriculum, use: Use, capsys: pytest.CaptureFixture[str], long_python: None
) -> None:
    def shown(*targets: str) -> str:
        capsys.readouterr()
        assert run(curriculum, "list", *targets) == cli.OK
        return capsys.readouterr().out

    fresh = shown()
    assert "0 of 7 points\n" in fresh and "list --route short  or long\n" in fresh
    assert "Left    about 40 min of tasks" in fresh
    assert "1.1  Add" in fresh and "2.1  Sum" not in fresh and "1 task, about 10 min" in fresh
    assert max(map(len, fresh.splitlines())) <= 80
    assert "2.1  Sum" in shown("m2")
    use(graded("1.1", "1.2", "1.3", target="m1"))
    run(curriculum, "m1")
    then = shown()
    assert "all 3 passed" in then and "1.1  Add" not in then and "2.1  Sum" in then and "finale 1" in then
    use(graded("1.1", verdict=Verdict.FAIL))
    run(curriculum, "1.1")
    assert "✗ 1.1" in shown() and "2.1  Sum" not in shown()


def test_the_help_names_every_route() -> None:
    *keys, last = (route.key for route in load().routes)
    assert f"{', '.join(keys)} or {last}" == cli._ROUTES


def test_a_route_is_listed(curriculum: Curriculum, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(curriculum, "list", "--route", "short") == cli.OK
    text = capsys.readouterr().out
    assert "A short way: 2 of the course's 4 tasks\n" in text and "0 of 5 points" in text
    assert "1.1  Add" in text and "2.1  Sum" in text and "1.2" not in text
    assert "Left    about 20 min of tasks" in text and "follow short\n" in text
    for command in (("list", "--route"), ("follow",)):
        assert run(curriculum, *command, "scenic") == cli.USAGE
        assert "Routes: short, long." in capsys.readouterr().err
    run(curriculum, "list", "1")
    optional = [line for line in capsys.readouterr().out.splitlines() if "optional" in line]
    assert len(optional) == 1 and "1.3  Shout" in optional[0], "the task on no route"


@pytest.mark.parametrize(
    "route, runs, target",
    [
        ("short", [], "1.1"),
        ("short", [graded("1.1")], "2.1"),
        ("short", [graded("1.1", "1.2", target="m1")], "milestone2"),
        ("short", [graded("1.1"), graded("2.1")], "1.2"),
        ("long", [], "1.1 1.2"),
        ("long", [graded("1.1"), graded("1.2")], "2.1"),
        ("long", [graded("1.1"), graded("1.2"), graded("2.1")], "1.3"),
    ],
)
def test_the_bare_command_goes_along_the_route(
    route: str, runs: list[Report], target: str, curriculum: Curriculum, use: Use
) -> None:
    """When the route is complete, the other tasks follow."""
    assert run(curriculum, "follow", route) == cli.OK
    for one in runs:
        Progress(curriculum.scratch / "progress.db").record(one)
    runner = use(half_passed())
    run(curriculum)
    assert runner.targets == target.split()


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path / ".kata" / "progress.db")


def grade(progress: Progress, verdict: Verdict) -> None:
    progress.record(report(("1.2", [result("1.2", verdict)])))


def test_attempts_best_and_first_pass(progress: Progress) -> None:
    grade(progress, Verdict.NOT_IMPLEMENTED)
    assert progress.task("1.2") == TaskProgress(0, 0, "not_implemented", "not started")
    grade(progress, Verdict.FAIL)
    grade(progress, Verdict.PASS)
    first = progress.task("1.2")
    assert (first.attempts, first.best, first.passes) == (2, 1, True)
    grade(progress, Verdict.ERROR)
    assert progress.task("1.2") == TaskProgress(2, 1, "error", "could not run", first.first_pass)


def test_only_hints_before_the_first_pass_count(progress: Progress) -> None:
    assert progress.take_hint("1.2", 3) == 1
    grade(progress, Verdict.PASS)
    assert [progress.take_hint("1.2", 3) for _ in range(3)] == [2, 3, 3]
    past = progress.task("1.2")
    assert (past.hints, past.hints_seen) == (1, 3)


def seen(verdict: Verdict, fingerprint: str = "f", ran: bool = True) -> Report:
    whole = report(("1.2", [result("1.2", verdict, "real Triton is not installed" * (verdict != "pass"), ran=ran)]))
    whole.milestones[0].tasks[0].fingerprint = fingerprint
    return whole


def test_a_pass_stands_while_only_the_judge_is_missing(progress: Progress) -> None:
    (task,) = (without := seen(Verdict.UNAVAILABLE)).milestones[0].tasks
    progress.record(without)
    assert not task.stands and not progress.task("1.2").passes, "it has not passed yet"
    progress.record(seen(Verdict.PASS))
    progress.record(without)
    assert task.stands and progress.task("1.2").passes
    assert progress.task("1.2").state == "passed before, with Triton"
    progress.record(seen(Verdict.FAIL))
    assert not progress.task("1.2").passes, "a judgment"
    progress.record(seen(Verdict.PASS))
    progress.record(seen(Verdict.UNAVAILABLE, "g"))
    assert not progress.task("1.2").passes, "other code or tests"


def test_an_unjudged_task_is_open_once_its_judge_exists(progress: Progress, monkeypatch: pytest.MonkeyPatch) -> None:
    installed: set[str] = set()
    monkeypatch.setattr("grader.report.progress.find_spec", lambda package: package in installed or None)
    progress.record(seen(Verdict.UNAVAILABLE))
    assert not is_open("1.2", progress.tasks()), "a learner without Triton can go on"
    installed.add("triton")
    assert is_open("1.2", progress.tasks())
    progress.record(seen(Verdict.UNAVAILABLE))
    assert not is_open("1.2", progress.tasks()), "Triton is there, and something else is missing"
    progress.record(seen(Verdict.PASS))
    assert not is_open("1.2", progress.tasks())


def test_a_run_that_lacks_a_package_says_nothing_about_a_task(progress: Progress) -> None:
    progress.record(seen(Verdict.UNAVAILABLE, ran=False))
    assert progress.task("1.2") == TaskProgress() and is_open("1.2", progress.tasks())
    progress.record(seen(Verdict.PASS))
    progress.record(seen(Verdict.UNAVAILABLE, "g", ran=False))
    assert progress.task("1.2").passes


def test_a_damaged_database_is_set_aside(progress: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    progress.path.parent.mkdir()
    progress.path.write_bytes(b"this is no database" * 100)
    grade(progress, Verdict.FAIL)
    assert progress.task("1.2").attempts == 1
    assert "is damaged" in capsys.readouterr().err
    assert [path.read_bytes()[:7] for path in progress.path.parent.glob("*.broken-*")] == [b"this is"]


def test_a_foreign_schema_costs_history_but_no_verdict(progress: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    progress.path.parent.mkdir()
    with sqlite3.connect(progress.path) as db:
        db.execute("CREATE TABLE progress (id TEXT)")
    grade(progress, Verdict.PASS)
    assert "progress was not" in capsys.readouterr().err


def test_runs_at_the_same_time_all_count(progress: Progress) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: grade(progress, Verdict.FAIL), range(24)))
    assert progress.task("1.2").attempts == 24
