"""A very small course in a folder of its own, with its stubs and tests, and reports made by hand."""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course import stubs
from grader.course.curriculum import Curriculum, load
from grader.parent.grading import Grading, Settings
from grader.report.verdicts import MilestoneResult, ModuleOrigin, Report, TaskResult, TestResult, Verdict

MEMORY = 400 << 20


def _declaration(milestone: str, *tasks: str) -> str:
    lines = [milestone, 'title = "Title"', 'summary = "A summary."', "timeout = 2"]
    for task in tasks:
        lines += ["[[task]]", task, "minutes = 10", 'built = "It counts."', 'hints = ["Ask.", "Tell.", "Show."]']
    return "\n".join([*lines, ""])


CONSTANTS = load().scratch / "hypothesis"  # of the grader's files; reading them again takes a quarter of a grading
FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
    "grader/curriculum/m01_numbers.toml": _declaration(
        'number = 1\nkey = "numbers"\nmodules = ["tiny", "tiny.number", "tiny.text"]',
        'id = "1.1"\ntitle = "Add"\npoints = 2',
        'id = "1.2"\ntitle = "Double"\npoints = 1',
        'id = "1.3"\ntitle = "Shout"\npoints = 1',
    ),
    "grader/curriculum/m02_chains.toml": _declaration(
        'number = 2\nkey = "chains"\nmodules = ["tiny.chain"]',
        'id = "2.1"\ntitle = "Sum"\npoints = 3\nrequires = ["1.1"]',
    ),
    "grader/routes.toml": """
        [[route]]
        key = "short"
        title = "A short way"
        tasks = ["all"]
        without = ["1.2", "1.3"]
        finale = "short"

        [[route]]
        key = "long"
        title = "A long way"
        tasks = ["1.1", "1.2", "2"]
        finale = "m02_chains"
        """,
    "solutions/tiny/__init__.py": '"""A tiny package."""\n',
    "solutions/tiny/number.py": '''
        """Numbers."""


        def add(a: int, b: int) -> int:
            """The sum."""
            # [task 1.1] Add them.
            # Both are integers.
            return a + b
            # [end]


        def double(a: int) -> int:
            """Twice the number."""
            # [task 1.2] Multiply.
            return 2 * a
            # [end]
        ''',
    "solutions/tiny/text.py": '''
        """Text."""


        def shout(text: str) -> str:
            """In capitals, with a mark."""
            # [task 1.3] Capitals first.
            return text.upper() + "!"
            # [end]
        ''',
    "solutions/tiny/chain.py": '''
        """Chains."""

        from tiny.number import add


        def total(numbers: list[int]) -> int:
            """The sum of all."""
            # [task 2.1] Use add.
            result = 0
            for number in numbers:
                result = add(result, number)
            return result
            # [end]
        ''',
    "tests/__init__.py": "",
    "tests/conftest.py": """
        from grader.child.plugin import pytest_addoption, pytest_collection_modifyitems, pytest_configure
        """,
    "tests/m01_numbers/__init__.py": "",
    "tests/m01_numbers/test_1_1_add.py": """
        import pytest
        from hypothesis import given, strategies as st

        from tiny.number import add

        @given(a=st.integers(), b=st.integers())
        def test_property(a, b):
            assert add(a, b) == a + b

        @pytest.mark.parametrize("a, b, result", [(1, 2, 3), (5, 5, 10), (0, -1, -1)])
        def test_cases(a, b, result):
            assert add(a, b) == result, f"{a} and {b} make {result}"
        """,
    "tests/m01_numbers/test_1_2_double.py": """
        from tiny.number import double

        def test_double():
            assert double(4) == 8

        def test_zero():
            assert double(0) == 0
        """,
    "tests/m01_numbers/test_1_3_shout.py": """
        from tiny.text import shout

        def test_shout():
            assert shout("hey") == "HEY!"
        """,
    "tests/m02_chains/__init__.py": "",
    "tests/m02_chains/test_2_1_total.py": """
        from hypothesis import given, strategies as st

        from tiny.chain import total

        @given(numbers=st.lists(st.integers()))
        def test_total(numbers):
            assert total(numbers) == sum(numbers)

        def test_nothing():
            assert total([]) == 0
        """,
}


@dataclass(frozen=True)
class Course:
    """The course in `root`; the learner's tree starts as the stubs."""

    root: Path

    @property
    def curriculum(self) -> Curriculum:
        return load(self.root)

    def write(self, path: str, text: str) -> Path:
        """Write a file of the course."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return file

    def solve(self) -> None:
        """Give the learner the reference's code."""
        for path in (self.root / "solutions").rglob("*.py"):
            copy = self.root / "exercises" / path.relative_to(self.root / "solutions")
            copy.write_bytes(path.read_bytes())

    def edit(self, module: str, old: str, new: str, tree: str = "exercises") -> None:
        """Replace a passage of one of the learner's files."""
        path = self.root / tree / module
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    def grade(self, milestone: int = 1, **settings: object) -> dict[str, TestResult]:
        """Results by the tests' short names: `test_property`."""
        defaults: dict[str, object] = {"memory": MEMORY, "import_limit": 1.0}
        grading = self.grading(milestone, **defaults | settings)
        grading.run()
        return {name.partition("::")[2]: result for name, result in grading.results.items()}

    def grading(self, milestone: int = 1, **settings: object) -> Grading:
        """A grading that has not run yet."""
        curriculum = self.curriculum
        tasks = list(curriculum.milestone(milestone).tasks)
        return Grading(curriculum, tasks, Settings(**settings))  # type: ignore[arg-type]


def make(root: Path) -> Course:
    """Write the course into an empty folder."""
    course = Course(root)
    for path, text in FILES.items():
        course.write(path, text)
    stubs.write(course.curriculum)
    CONSTANTS.mkdir(parents=True, exist_ok=True)
    course.curriculum.scratch.mkdir(exist_ok=True)
    (course.curriculum.scratch / "hypothesis").symlink_to(CONSTANTS)
    return course


def verdicts(results: dict[str, TestResult]) -> dict[str, Verdict]:
    """Only the verdicts."""
    return {name: result.verdict for name, result in results.items()}


def result(task: str, verdict: Verdict, message: str = "", name: str = "works", **facts: Any) -> TestResult:
    """One test's outcome."""
    file = f"tests/m01_numbers/test_{task.replace('.', '_')}_case.py"
    return TestResult(f"{file}::test_{name}", verdict, message, seconds=0.25, **facts)


TASKS = {"1.1": ("Add", 2), "1.2": ("Double", 1), "1.3": ("Shout", 1), "2.1": ("Sum", 3)}


def report(*tasks: tuple[str, list[TestResult]], impl: str = "learner") -> Report:
    """A report on the first milestone."""
    results = [TaskResult(id, *TASKS[id], tests) for id, tests in tasks]
    return Report(
        target=["milestone1"],
        impl=impl,
        fill="reference",
        device="cpu",
        seed=0,
        oracles={"triton": "records 3.7.1"},
        milestones=[MilestoneResult("milestone1", "numbers", results)],
        modules=[ModuleOrigin("tiny.number", "learner", "exercises/tiny/number.py", "ab" * 32)],
        seconds=1.5,
    )
