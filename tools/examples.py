"""The examples in the pages and the notebook: found, run, and (as ``make examples``) written with what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks/README.md"]
)
NOTEBOOK = ROOT / "examples" / "backward_pass.ipynb"
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^\$ ", re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [match["code"] for match in BLOCK.finditer(page.read_text()) if match["language"] == language]


def sessions(block: str) -> Iterator[tuple[str, str]]:
    """Each ``$ command`` of a console block with the output shown below it."""
    for part in PROMPT.split(block)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def runs_here(command: str) -> bool:
    """Whether an example is one of our own commands; ``make …`` and ``pip …`` are what brought the reader here."""
    return command.startswith("retrograd ")


def run(command: str, directory: Path) -> str:
    """What one of our commands prints, in a terminal of 80 columns without colours.

    Raises subprocess.CalledProcessError when it fails.
    """
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    words = [sys.executable, "-m", "retrograd", *shlex.split(command)[1:]]
    done = subprocess.run(
        words, cwd=directory, env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout


def refreshed(page: str, directory: Path) -> str:
    """The text of a page with the output of its commands as they print it now."""

    def renew(match: re.Match[str]) -> str:
        if match["language"] != "console":
            return match[0]
        parts = [
            f"$ {command}\n{run(command, directory) if runs_here(command) else output}"
            for command, output in sessions(match["code"])
        ]
        return f"```console\n{''.join(parts)}```"

    return BLOCK.sub(renew, page)


def main() -> None:
    import nbclient
    import nbformat

    with tempfile.TemporaryDirectory() as directory:
        for page in PAGES:
            page.write_text(refreshed(page.read_text(), Path(directory)))
    notebook = nbformat.read(NOTEBOOK, 4)
    nbclient.NotebookClient(notebook, timeout=300, store_widget_state=False, record_timing=False).execute()
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
