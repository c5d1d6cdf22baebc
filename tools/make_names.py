"""Makes src/retrograd/training/data/names.txt, the list of given names that ships with the package.

    pip install names
    python tools/make_names.py > src/retrograd/training/data/names.txt

The source is the U.S. Census Bureau's *Frequently Occurring Surnames from Census 1990 - Names Files*
(``dist.female.first`` and ``dist.male.first``), a work of the United States government and so in the
public domain. The PyPI package ``names`` carries both files unchanged; a folder that holds them may be
given as the argument instead.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

FILES = ("dist.female.first", "dist.male.first")
#: Per cent of the women, or of the men, who bear the name; rarer names are left out, which gives about 28 KB.
RAREST = 0.002


def folder(arguments: list[str]) -> Path:
    """The folder of the census files: the argument, or where the package ``names`` is installed."""
    if arguments:
        return Path(arguments[0])
    package = importlib.util.find_spec("names")
    if package is None or package.origin is None:
        sys.exit("The package 'names' is not installed: pip install names, or give the folder of the census files.")
    return Path(package.origin).parent


def given_names(source: Path) -> list[str]:
    """The names of both files at least as frequent as RAREST, in lower case, each once, sorted."""
    names = set()
    for file in FILES:
        for line in (source / file).read_text(encoding="ascii").splitlines():
            name, per_cent, *_ = line.split()
            if float(per_cent) >= RAREST and name.isalpha():
                names.add(name.lower())
    return sorted(names)


if __name__ == "__main__":
    print("\n".join(given_names(folder(sys.argv[1:]))))
