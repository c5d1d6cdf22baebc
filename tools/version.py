"""The version, which pyproject.toml has: do the other places say the same?

python tools/version.py              say where another version stands, and exit 1
python tools/version.py --set X.Y.Z  write it everywhere
python tools/version.py --tag vX.Y.Z also compare it with a tag, and want a chapter of CHANGELOG.md for it
python tools/version.py --changes    print that chapter
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NUMBER = r"[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?"
#: Where the version stands besides, each with what is before it.
PLACES = {
    "pyproject.toml": r'(?<=\nversion = ")',
    "CITATION.cff": r"(?<=\nversion: )",
    "web/package.json": r'(?<=\n  "version": ")',
    "web/package-lock.json": r'(?<=\n  "version": ")|(?<=\n      "name": "retrograd-explorer",\n      "version": ")',
}


def version() -> str:
    """The version in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def others() -> list[str]:
    """The places that do not say the same, each with what it says."""
    wanted, wrong = version(), []
    for name, before in PLACES.items():
        found = re.findall(f"(?:{before})({NUMBER})", (ROOT / name).read_text(encoding="utf-8"))
        wrong += [f"{name} says {number}" for number in found if number != wanted] or (
            [] if found else [f"{name} has no version"]
        )
    return wrong


def write(wanted: str) -> None:
    """Put this version everywhere."""
    for name, before in PLACES.items():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(f"(?:{before}){NUMBER}", wanted, text), encoding="utf-8")


def changes(wanted: str) -> str | None:
    """The chapter of CHANGELOG.md about a version, without its heading; None where there is none."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(wanted)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1].strip() if found else None


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--set", wanted] if re.fullmatch(NUMBER, wanted):
            write(wanted)
            return 0
        case ["--changes"]:
            print(changes(version()) or "")
            return 0
        case ["--tag", tag]:
            wrong = others()
            if tag != f"v{version()}":
                wrong.append(f"the tag is {tag}")
            if changes(version()) is None:
                wrong.append("CHANGELOG.md has no chapter for it")
        case []:
            wrong = others()
        case _:
            sys.exit(__doc__)
    if wrong:
        print(f"pyproject.toml says {version()}, but " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
