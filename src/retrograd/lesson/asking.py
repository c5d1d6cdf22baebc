"""In a notebook: ``check("chapter/question", answer)`` judges an answer, and ``figure`` shows what Python computed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from .course.build import Built, load

if TYPE_CHECKING:
    from ..explorer import Explorer

__all__ = ["check", "figure"]


def check(question: str, answer: Any) -> None:
    """Judge an answer to a question of the lesson, and print what it means.

    Args:
        question: ``"chapter/question"``, as the notebook has it.
        answer: A number; for a choice, its number from 1; for several numbers, a dictionary; for an order, a
            dictionary of lists of names. None, or None inside, stands for no answer yet: the others are judged.

    Raises:
        DataError: There is no such question.

    Example:
        >>> from retrograd.lesson import check
        >>> check("walk-it-backward/walk-a", 10)
        Right. Along the path f → e → a: 1 · 10 · 1 = 10.
    """
    built, name = _found(question)
    own = built.questions.get(name)
    if own is None:
        raise built.chapter.place.error(f"there is no question {name}; there are {', '.join(built.questions)}.")
    if _empty(answer):
        print("No answer yet: put it in place of None (or of the empty lists), and run the cell again.")
        return
    try:
        verdict = own.judge(answer)
    except ValueError as error:
        print(f"This is no answer yet: {error}")
        return
    print("Right." if verdict.right else "Not yet.", built.text.markdown(verdict.says, own.source.place))


def figure(name: str) -> Explorer:
    """A figure of the lesson that a Python program made, such as the graph of its GPT.

    Args:
        name: ``"chapter/figure"``, as the notebook has it.

    Returns:
        The explorer on its graph, which a notebook shows.

    Raises:
        DataError: There is no such figure.

    Example:
        >>> from retrograd.lesson import figure
        >>> figure("the-plus-equals-trap/twice")
        <retrograd explorer of a = 3; L = a + a: 1 operation; .open() shows it in the browser>
    """
    from .. import engine
    from ..explorer.explorer import Explorer

    built, own = _found(name)
    found = built.figures.get(own)
    if found is None:
        raise built.chapter.place.error(f"there is no figure {own}; there are {', '.join(built.figures)}.")
    return Explorer(found.title, len(engine.interior(found.root)), found.packed())


@cache
def _built(chapter: str) -> Built:
    course = load()
    return course.build(course.find(chapter))


def _found(question: str) -> tuple[Built, str]:
    chapter, _, name = question.partition("/")
    return _built(chapter), name


def _empty(answer: Any) -> bool:
    if isinstance(answer, Mapping):
        return all(_empty(own) for own in answer.values())
    return answer is None or answer == []
