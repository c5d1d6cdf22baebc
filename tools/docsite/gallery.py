"""The gallery: each program of ``examples/gallery`` run, with its picture, what it prints, and its text."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docsite.drawing import FIRST, FOURTH, SECOND, STYLE, THIRD, themed

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples" / "gallery"


def programs() -> list[Path]:
    """The programs, in the order of the alphabet."""
    return sorted(PROGRAMS.glob("*.py"))


def run(program: Path, picture: Path, style: Path | None = None) -> str:
    """Run a program, which draws its picture into a file, and return what it prints. It fails where a check fails."""
    environment = {**os.environ, "MPLBACKEND": "svg"}
    if style is not None:
        environment["MATPLOTLIBRC"] = str(style)
    words = [sys.executable, str(program), str(picture)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{program.name} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def pages() -> Iterator[tuple[str, str]]:
    """A page for each program, and the gallery's own."""
    cards = []
    with tempfile.TemporaryDirectory() as folder:
        style = Path(folder) / "matplotlibrc"
        style.write_text(settings())
        for program in programs():
            picture = Path(folder) / "picture.svg"
            printed = run(program, picture, style)
            title, says = head(program)
            drawn = picture.read_text()
            yield f"gallery/{program.stem}.md", page(program, title, says, themed(drawn, f"Picture: {title}"), printed)
            cards.append(
                f'<a class="card" href="{program.stem}.html"><div class="plot">\n{themed(drawn)}\n</div>'
                f"<strong>{title}</strong><span>{says.split('. ')[0].rstrip('.')}.</span></a>"
            )
    yield "gallery/index.md", index(cards)


def settings() -> str:
    """The style as a matplotlibrc."""

    def written(value: object) -> str:
        return str(value).removeprefix("#") if str(value).startswith("#") else str(value)

    cycle = ", ".join(f"'{colour.removeprefix('#')}'" for colour in (FIRST, SECOND, THIRD, FOURTH))
    lines = [f"{key}: {written(value)}" for key, value in STYLE.items()]
    return "\n".join([*lines, f"axes.prop_cycle: cycler('color', [{cycle}])"]) + "\n"


def head(program: Path) -> tuple[str, str]:
    """The title and the text of a program's docstring."""
    doc = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or program.stem
    title, _, says = doc.partition("\n")
    return title.rstrip("."), " ".join(says.split())


def page(program: Path, title: str, says: str, drawn: str, printed: str) -> str:
    code = program.read_text(encoding="utf-8")
    code = code[code.index('"""', 3) + 3 :].lstrip()
    return (
        f'# {title}\n\n{says}\n\n<div class="plot">\n{drawn}\n</div>\n\n'
        f"It prints\n\n```text\n{printed}```\n\nThe whole program, `examples/gallery/{program.name}`:\n\n"
        f"```python\n{code}```\n"
    )


def index(cards: list[str]) -> str:
    names = "\n".join(program.stem for program in programs())
    listed = f'<div class="cards">\n{chr(10).join(cards)}\n</div>\n\n```{{toctree}}\n:hidden:\n{names}\n```'
    return (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8").replace("<!-- programs -->", listed)
