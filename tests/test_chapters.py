"""The book is correct: its examples run, its links work, and its generated parts are up to date."""

import doctest
import importlib.util
import itertools
import re
from pathlib import Path

import pytest

from docs import book
from docs.figures import compiled, ideas, loop, tensor_cores, threads, tuning
from docs.figures.drawing import FIGURES
from grader.course.curriculum import ROOT

DOCS = ROOT / "docs"
CHAPTERS = sorted(DOCS.glob("m[0-9][0-9]_*.md"))
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]
EXAMPLES = [page for page in PAGES if "\n>>> " in page.read_text(encoding="utf-8")]
LONGEST = 350  # the most lines of a chapter's file, for one sitting

LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as in links."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_examples(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if re.search(r"tests\.oracles|\.lower\(|import triton", text) and not importlib.util.find_spec("triton"):
        pytest.skip("its examples use real Triton, which is not installed")
    failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert not failed


@pytest.mark.parametrize("chapter", sorted(DOCS.glob("m02_*.md")), ids=lambda chapter: chapter.stem)
def test_examples_of_a_task_run_in_a_fresh_prompt(chapter: Path) -> None:
    """Learners start the prompt again after each edit of their code."""
    for section in re.split(r"^(?=## )", chapter.read_text(encoding="utf-8"), flags=re.MULTILINE):
        if title := re.match(r"## (\d+\.\d+ .*)", section):
            examples = doctest.DocTestParser().get_doctest(section, {}, title[1], str(chapter), 0)
            assert not doctest.DocTestRunner().run(examples).failed, title[1]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_a_chapter_is_short_and_says_what_it_is_for(chapter: Path) -> None:
    text = chapter.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    assert lines <= LONGEST, f"{chapter.name} has {lines} lines: split it by tasks, or shorten it"
    for said in ("| **At the end** |", "| **You need** |", "| **Time** |", "## Words", "## Key questions", "](images/"):
        assert said in text, f"{chapter.name} lacks {said}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_markdown_reads_as_meant(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for summary in re.findall(r"<summary>(.*?)</summary>", text, re.DOTALL):
        assert "`" not in summary, f"{page.name}: GitHub shows backticks literally in {summary!r}; write <code>"
    for above, line in itertools.pairwise(prose(page).splitlines()):
        starts = re.match(r"(\d+[.)]|[-+*]|#+|>) ", line)
        goes_on = above and not re.match(r"\s*(\d+[.)]|[-+*]|#+|>|\|) |  |<", above)
        assert not (starts and goes_on), f"{page.name}: {line!r} begins a list in the middle of a paragraph"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links(page: Path) -> None:
    for found in LINK.findall(prose(page)):
        target, _, anchor = "".join(found).partition("#")
        if re.match(r"\w+:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page.name} links to #{anchor} of {file.name}, which has no such heading"


def test_what_the_book_repeats_is_up_to_date() -> None:
    assert not book.main(["--check"]), "these pages differ from the curriculum: run `python -m docs.book`"


def test_figures_are_those_that_the_command_draws() -> None:
    """Figures that need real Triton or a graded task are compared only by `python -m docs.figures --check`."""
    files = (compiled, ideas, loop, tensor_cores, threads, tuning)
    assert {file.__name__ for file in files} == {draw.__module__ for draw in FIGURES.values()}
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name, draw in FIGURES.items():
        file = DOCS / "images" / f"{name}.svg"
        assert f"images/{name}.svg" in shown, f"no page shows {file.name}"
        if draw.__module__ in (ideas.__name__, tuning.__name__):
            assert file.read_text(encoding="utf-8") == draw().svg, f"{file.name} differs: run `python -m docs.figures`"


@pytest.mark.parametrize("picture", sorted((DOCS / "images").glob("*.svg")), ids=lambda picture: picture.stem)
def test_pictures_have_colors_outside_browsers(picture: Path) -> None:
    """Many renderers know no CSS variables, and paint a shape black if its color is one."""
    assert "var(" not in picture.read_text(encoding="utf-8")
