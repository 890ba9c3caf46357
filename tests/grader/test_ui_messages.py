"""The screen after a failed test: no essential line is cut, and `code` is the place to look."""

import io
import textwrap

import pytest
from mini_triton.errors import CompilationError

from grader.child import outcome
from grader.course.curriculum import ROOT
from grader.parent import runner
from grader.report import messages, screen, terminal
from grader.report.verdicts import Report, Verdict
from tests.checks import calling
from tests.grader.small_course import Course, report, result
from tests.oracles import triton
from tests.support.m05_frontend import compilation

KERNEL = "module {\n" + "".join(f"  %{i} = arith.addi %a, %b : i32\n" for i in range(60)) + "}"
CHECKS = "from tests.checks import calling\n"


def shown(whole: Report) -> str:
    stream = io.StringIO()
    terminal.show(screen.report_lines(whole, (0, 1)), stream)
    return stream.getvalue()


def screen_of(message: str, **facts: str) -> str:
    return shown(report(("1.1", [result("1.1", Verdict.FAIL, message, **facts)])))


def judged(course: Course, target: str = "1.1") -> str:
    """The screen after a task of the small course was graded."""
    return shown(runner.grade([target], curriculum=course.curriculum))


def test_expected_got_and_because_are_never_cut() -> None:
    reason = "a reason " * 30
    text = screen_of(
        f"f(x), where the module is\n{KERNEL}\n  expected  {'1, ' * 80}\n  got       2\n  because   {reason}"
    )
    assert text.count("1,") == 80 and "  got       2\n" in text and " ".join(text.split()).count("a reason") == 30
    assert "lines are not shown (--verbose shows all)" in text, "of the module"


def test_expected_and_got_that_are_modules_are_shortened_each_by_itself() -> None:
    text = screen_of(
        f"f(x)\n  expected  no change, from\n{KERNEL}\n  got       True, and\n{KERNEL}\n  because   it is so"
    )
    assert text.count("lines are not shown") == 2
    assert "expected  no change" in text and "got       True, and" in text and "because   it is so" in text


def test_long_modules_are_shown_where_they_differ() -> None:
    text = screen_of(
        f"f(x)\n  expected  \n{KERNEL}\n  got       \n{KERNEL.replace('%31 = arith.addi', '%31 = arith.subi')}"
    )
    assert "%31 = arith.addi" in text and "%31 = arith.subi" in text and "%5 =" not in text
    assert len(text.splitlines()) < 50


@pytest.mark.parametrize("told_about", ["f(x)\n  where     at the operation scf.if", "f(x)"])
def test_a_long_module_is_shown_around_the_operation_at_fault(told_about: str) -> None:
    """The one that the message names, or else the first with a region; a signature is cut."""
    signature = f"  tt.func public @kernel({', '.join(f'%p{i}: !tt.ptr<f32>' for i in range(12))}) {{"
    before = [f"    %{i} = arith.addi %a, %b : i32" for i in range(20)]
    branch = ["    %r = scf.if %c -> (i32) {", "      scf.yield %a : i32", "    }"]
    after = [f"    %{i} = arith.muli %a, %b : i32" for i in range(20, 30)]
    listing = "\n".join(["module {", signature, *before, *branch, *after, "    tt.return", "  }", "}"])
    head, _, rest = told_about.partition("\n")
    text = screen_of(f"{head}, where the module is\n{listing}\n{rest}")
    assert "%r = scf.if %c" in text and "%p7" not in text and len(text.splitlines()) < 45


def test_a_long_case_is_shortened_too() -> None:
    text = screen_of("wrong\n  expected  1\n  got       2", counterexample=f"f(module), where the module is\n{KERNEL}")
    assert len(text.splitlines()) < 45 and "expected  1" in text


@pytest.mark.parametrize("text", [f"f(x)\n  expected  {'word ' * 40}", "Word " * 40, f"  because   {'w ' * 90}"])
def test_no_line_is_wider_than_the_screen(text: str) -> None:
    lines = list(messages.message_lines(text, "    "))
    assert max(map(len, lines)) <= terminal.WIDTH
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())


def test_code_keeps_its_lines() -> None:
    text = "kernel\n  %0 = " + "arith.addi %a, %b " * 9
    assert list(messages.message_lines(text)) == text.splitlines()


def test_a_recipe_is_not_shown_where_the_message_tells_the_story() -> None:
    recipe = "steps=[(('before', 0), ['make', 'make'], 'leave')]"
    assert "('before'" not in screen_of("What was done:\n    with before(a):\n        make b", counterexample=recipe)
    assert "('before'" in screen_of("no story", counterexample=recipe)
    assert "pair=((), (2,))" in screen_of("f((), (2,))\n  expected  1", counterexample="pair=((), (2,))")


@pytest.mark.parametrize(
    "expected, got, line",
    [
        ("a value below 9", 1016, "got       1016"),
        ("5 runs", "1016 runs", "got       1016 runs"),
        ("'i1'", "i2", "got       'i2'"),
    ],
)
def test_values_keep_their_type_and_words_have_no_quotes(expected: str, got: object, line: str) -> None:
    with pytest.raises(AssertionError) as failure:
        calling(len, "abc").fail(expected, got)
    assert line in str(failure.value)


def test_objects_have_no_addresses() -> None:
    assert "got       <object>" in outcome.describe(AssertionError(f"f()\n  got       {object()!r}"))


def test_what_real_triton_refuses_is_shown_by_its_line() -> None:
    text = "module {\n  tt.func @k(%a: i32) {\n    %c = arith.addi %a, %q : i32\n  }\n}\n"
    refusal = triton.refusal("the sum", text, 'loc("module.ttir":3:25): error: use of undeclared SSA value name')
    assert refusal.splitlines()[:4] == [
        "real Triton refuses the sum, in line 3",
        "      %c = arith.addi %a, %q : i32",
        "                          ^",
        "  because   use of undeclared SSA value name",
    ]
    assert "dead" in triton.refusal("the sum", text, "dead") and text in triton.refusal("the sum", text, "dead")


# Where `code` points.


def replace(course: Course, function: str, body: str) -> None:
    """Let the learner's `function` of numbers.py do something else."""
    old = {"add": "    return a + b\n", "double": "    return 2 * a\n"}[function]
    course.edit("tiny/number.py", old, textwrap.indent(textwrap.dedent(body).strip() + "\n", "    "))


def test_a_wrong_value_is_blamed_on_the_line_that_returned_it(solved: Course) -> None:
    replace(solved, "add", "total = a - b\nreturn total")
    assert "code   exercises/tiny/number.py:9  add returned here" in judged(solved)


def test_a_decorator_is_never_blamed(solved: Course) -> None:
    solved.edit("tiny/number.py", '"""Numbers."""', '"""Numbers."""\n\n\ndef same(function):\n    return function')
    solved.edit("tiny/number.py", "def add", "@same\ndef add")
    replace(solved, "add", "return a - b")
    line = 1 + (solved.root / "exercises/tiny/number.py").read_text().splitlines().index("    return a - b")
    assert f"code   exercises/tiny/number.py:{line}  add returned here" in judged(solved)


def test_the_call_that_failed_is_blamed_not_the_last_one_of_the_test(solved: Course) -> None:
    replace(solved, "double", "return add(a, a) - 1")
    solved.write("tests/checks.py", (ROOT / "tests" / "checks.py").read_text())
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        CHECKS + "from tiny.number import add, double\n\n"
        "def test_double():\n    calling(add, 1, 2).returns(3)\n    calling(double, 4).returns(8)\n",
    )
    assert "double returned here" in judged(solved, "1.2")


def test_of_several_kernels_the_one_that_fails_is_compiled_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the report names only functions that ran for this kernel. Real Triton's error may have no message."""
    order = []

    def outcome(source: triton.Source) -> str | Exception:
        order.append(source.kernel)
        return "module {}" if source.kernel == "wrong" else CompilationError("no")

    monkeypatch.setattr(compilation, "outcome", outcome)
    monkeypatch.setattr(triton, "frontends", lambda sources: [triton.Made(False, "AssertionError")] * len(sources))
    kernels = [triton.Source(f"def {name}(): pass", name, {}) for name in ("right", "wrong", "other")]
    with pytest.raises(AssertionError, match=r"refuses: AssertionError: \(no message\)") as failure:
        compilation.judge(kernels)
    assert order == ["right", "wrong", "other", "wrong"] and vars(failure.value)["last_call"]


def test_tests_with_fixtures_are_watched(solved: Course) -> None:
    replace(solved, "double", "return 3 * a")
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "import pytest\nfrom tiny.number import double\n\n@pytest.fixture(autouse=True)\ndef always():\n    yield\n\n"
        "@pytest.mark.parametrize('a', [1])\ndef test_double(a, tmp_path):\n"
        "    assert tmp_path.is_dir()\n    assert double(a) == 2 * a\n",
    )
    assert "double returned here" in judged(solved, "1.2")


def test_a_test_that_draws_as_it_goes_names_the_function_too(solved: Course) -> None:
    replace(solved, "double", "return 3 * a")
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from hypothesis import given, strategies as st\nfrom tiny.number import double\n\n"
        "@given(st.data())\ndef test_double(data):\n    a = data.draw(st.integers())\n    assert double(a) == 2 * a\n",
    )
    assert "double returned here" in judged(solved, "1.2")


def test_where_several_functions_may_be_wrong_all_are_named(solved: Course) -> None:
    solved.edit("tiny/number.py", "return 2 * a\n", "return 3 * a\n")
    solved.edit("tiny/number.py", "def double", "def half(a):\n    return a // 2\n\n\ndef double")
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from tiny.number import double, half\n\n"
        "def test_double():\n    x = double(2)\n    y = half(4)\n    assert x == 2 * y\n",
    )
    assert "one of half, double" in judged(solved, "1.2")


def test_a_call_may_name_the_suspect(solved: Course) -> None:
    replace(solved, "double", "return triple(a)")
    solved.edit("tiny/number.py", "def double", "def triple(a):\n    return 3 * a\n\n\ndef double")
    solved.write("tests/checks.py", (ROOT / "tests" / "checks.py").read_text())
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        CHECKS + "from tiny.number import double, triple\n\n"
        "def test_double():\n    call = calling(double, 4)\n    call.suspect = triple\n    call.returns(8)\n",
    )
    assert "triple returned here" in judged(solved, "1.2")


def test_a_lambda_is_not_named(solved: Course) -> None:
    solved.edit("tiny/number.py", "return 2 * a\n", "return triple(a)\n")
    solved.edit("tiny/number.py", "def double", "triple = lambda a: 3 * a\n\n\ndef double")
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from tiny.number import double, triple\n\n"
        "def test_double():\n    x, y = triple(1), double(2)\n    assert x + y == 7\n",
    )
    text = judged(solved, "1.2")
    assert "double returned here" in text and "lambda" not in text.partition("code ")[2]


def test_a_function_that_caches_its_results_is_named(solved: Course) -> None:
    solved.edit("tiny/number.py", '"""Numbers."""', '"""Numbers."""\n\nimport functools')
    solved.edit("tiny/number.py", "def double", "def half(a):\n    return a // 2\n\n\n@functools.cache\ndef double")
    replace(solved, "double", "return 3 * a")
    solved.write("tests/checks.py", (ROOT / "tests" / "checks.py").read_text())
    for test in (
        "def test_double():\n    calling(half, 4).returns(2)\n    calling(double, 4).returns(8)\n",
        "@given(st.integers(-9, 9))\n"
        "def test_double(a):\n    calling(half, 4).returns(2)\n    calling(double, a).returns(2 * a)\n",
    ):
        solved.write(
            "tests/m01_numbers/test_1_2_double.py",
            f"{CHECKS}from hypothesis import given, strategies as st\nfrom tiny.number import double, half\n\n{test}",
        )
        assert "  double returned here" in judged(solved, "1.2")


def test_a_function_that_a_library_calls_is_named(solved: Course) -> None:
    replace(solved, "double", "return 3 * a")
    solved.edit("tiny/number.py", "def double", "def half(a):\n    return a // 2\n\n\ndef double")
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from functools import cached_property\nfrom tiny.number import double\n\n"
        "class Number(int):\n    doubled = cached_property(double)\n\n"
        "def test_double():\n    assert Number(2).doubled == 4\n",
    )
    assert "double returned here" in judged(solved, "1.2")


def test_a_line_that_an_error_names_comes_first(solved: Course) -> None:
    """A kernel is compiled: an access out of bounds, or an error of the compiler, names the kernel's line."""
    solved.write(
        "exercises/tiny/text.py",
        """
        class OutOfBounds(IndexError):
            place = f"{__file__}:1"

        def shout(text: str) -> str:
            try:
                raise OutOfBounds
            except OutOfBounds:
                raise RuntimeError("x[9] is outside its elements") from None
        """,
    )
    assert "code   exercises/tiny/text.py:1\n" in judged(solved, "1.3")


def test_the_launch_of_a_generated_kernel_is_not_blamed(solved: Course) -> None:
    replace(solved, "add", "error = IndexError('x[9] is out of bounds')\nerror.place = 'generated.py:3'\nraise error")
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from tiny.number import add, double\n\ndef test_double():\n    add(double(2), 1)\n",
    )
    assert "double returned here" in judged(solved, "1.2")


def test_given_code_is_not_blamed_for_a_wrong_result(solved: Course) -> None:
    """None of the task's functions ran as Python, as with kernels. Then they are named."""
    solved.edit("tiny/number.py", "def double", "def half(a):\n    return a // 2\n\n\ndef double")
    solved.write(
        "tests/m01_numbers/test_1_2_double.py",
        "from tiny.number import add\n\ndef test_double():\n    assert add(1, 2) == 4\n",
    )
    assert "code   exercises/tiny/number.py  the task's functions: half, double" in judged(solved, "1.2")


def test_an_exception_in_the_learners_code_names_the_operation(solved: Course) -> None:
    solved.write(
        "exercises/tiny/text.py",
        """
        class Operation:
            name = "arith.addi"

        def shout(text: str) -> str:
            operation = Operation()
            return text[99]
        """,
    )
    text = judged(solved, "1.3")
    assert "IndexError: string index out of range" in text and "at the operation arith.addi" in text
    assert "code   exercises/tiny/text.py:6" in text
