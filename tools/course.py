"""Writes what follows from the chapters: the notebooks ``docs/course/*.ipynb``, the answers in ``docs/teachers.md``,
and the compiled program of chapter 9, which the reference engine cannot make.

python tools/course.py           write them
python tools/course.py --check   say which are stale, and exit 1 when one is
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrograd.lesson.course.build import Built
    from retrograd.lesson.course.questions import Question

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "course"
TEACHERS = ROOT / "docs" / "teachers.md"
BEGIN, END = "<!-- answers: written by tools/course.py -->", "<!-- end of the answers -->"


def written() -> dict[Path, str]:
    """Every file with its text as it should be."""
    from retrograd.lesson.course.build import load
    from retrograd.lesson.course.notebook import file_name, notebook
    from retrograd.lesson.course.programs.compiled import RECORD, compiled

    course = load()
    built = [course.build(number) for number in course.numbers.values()]
    page = TEACHERS.read_text(encoding="utf-8")
    before, after = page.partition(BEGIN)[0], page.partition(END)[2]
    answers = "".join(f"\n{line}\n" if line.startswith("#") else f"{line}\n" for own in built for line in answered(own))
    files = {FOLDER / file_name(own): notebook(course, own) for own in built}
    record = json.dumps(compiled(), indent=1, sort_keys=True) + "\n"
    return {**files, TEACHERS: f"{before}{BEGIN}\n{answers}\n{END}{after}", RECORD: record}


def answered(built: Built) -> list[str]:
    """The questions of a chapter in a few words, with their answers."""
    lines = [f"### {built.number} {built.chapter.head['title']}", ""]
    for number, own in enumerate(built.questions.values(), start=1):
        asked = built.text.markdown(own.source.prompt[-1], own.source.place)
        answer = built.text.markdown(_answer(own), own.source.place)
        lines.append(f"{number}. {asked} **{answer}**")
    return lines


def _answer(own: Question) -> str:
    """The right answer in a few words."""
    from retrograd.lesson.course.sums import shown

    match own.kind:
        case "choice":
            return next(choice.text for choice in own.choices if choice.right)
        case "order":
            return "; ".join(" ".join(reversed(figure.players)) for figure in own.orders)
        case "number":
            return shown(own.fields[0].answer)
        case "gradients":
            return ", ".join(f"{field.label} {shown(field.answer)}" for field in own.fields)
    return "the learner's own report"


def main() -> int:
    wanted = written()
    paths = {*FOLDER.glob("*.ipynb"), *wanted}
    there = {path: path.read_text(encoding="utf-8") for path in paths if path.exists()}
    stale = sorted(path.name for path in wanted.keys() | there.keys() if wanted.get(path) != there.get(path))
    if "--check" in sys.argv[1:]:
        if stale:
            print(f"stale: {', '.join(stale)}: run python tools/course.py")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in there.keys() - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
