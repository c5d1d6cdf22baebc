"""Builds everything that a release has for this machine into ``dist/``, and tries it: ``make dist``.

* the sdist, which must hold every file that a build reads;
* the wheel with the native engine, with the tag that auditwheel finds (PyPI refuses plain ``linux``);
* the pure wheel, on the reference engine, made from the sdist, as a packager would, with neither compiler nor Node.

Each is looked at by twine, check-wheel-contents and abi3audit, and each wheel is installed into an environment of its
own in which no compiler is on the PATH, and runs tools/smoke.py there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
#: What a build, its tests or its documentation read; the rest of the repository is in no sdist.
NOT_IN_SDIST = (".github/",)
SCRIPTS = sysconfig.get_path("scripts")


def tell(text: str) -> None:
    print(text, flush=True)


def call(*command: str | Path, cwd: Path = ROOT, environment: Mapping[str, str] = MappingProxyType({})) -> str:
    """Run a command and return what it said. Raises SystemExit, with that, when it fails."""
    path = os.pathsep.join([SCRIPTS, os.environ.get("PATH", "")])
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PATH": path, **environment},
        text=True,
        encoding="utf-8",
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def build(
    *options: str, source: Path = ROOT, into: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> Path:
    """Run the build frontend and return the file that it made."""
    began, before = time.monotonic(), set(into.iterdir())
    call(sys.executable, "-m", "build", *options, "--outdir", into, source, environment=environment)
    (made,) = set(into.iterdir()) - before
    tell(f"built {made.name}, {made.stat().st_size / 1e6:.2f} MB, in {time.monotonic() - began:.0f} s")
    return made


def check_sdist(sdist: Path, folder: Path) -> Path:
    """Unpack the sdist, and compare it with what the repository tracks. Returns the unpacked folder."""
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):  # since Python 3.11.4
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)
    (unpacked,) = folder.iterdir()
    if (ROOT / ".git").exists():
        tracked = call("git", "ls-files").splitlines()
        missing = [
            file
            for file in tracked
            if not file.startswith(NOT_IN_SDIST) and (ROOT / file).exists() and not (unpacked / file).exists()
        ]
        if missing:
            sys.exit(f"the sdist lacks {len(missing)} tracked files: {', '.join(missing[:10])}")
    if not (unpacked / "src" / "retrograd" / "explorer" / "bundle" / "explorer.js").exists():
        sys.exit("the sdist lacks the explorer's page")
    return unpacked


def tagged(wheel: Path) -> Path:
    """The wheel with the tag of the oldest C library that it runs on, in dist/."""
    if sys.platform != "linux":
        return Path(shutil.copy(wheel, DIST))
    shown = call("auditwheel", "show", wheel)
    tell(" ".join(line.strip() for line in shown.splitlines() if "manylinux" in line or "musllinux" in line)[:400])
    call("auditwheel", "repair", wheel, "--wheel-dir", DIST)
    (made,) = DIST.glob("*-abi3-*linux*.whl")
    return made


def try_out(wheel: Path, engine: str, folder: Path) -> None:
    """Install a wheel into an environment without a compiler, and run the main commands there."""
    call(sys.executable, "-m", "venv", folder)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    bare = {"PATH": str(scripts), "CC": "no-compiler", "CXX": "no-compiler"}
    began = time.monotonic()
    call(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel, environment=bare)
    installed = time.monotonic() - began
    began = time.monotonic()
    call(python, "-W", "ignore", "-c", "import retrograd", environment=bare)
    imported = time.monotonic() - began
    tell(f"{wheel.name}: installed in {installed:.1f} s; the first import, not yet byte-compiled, {imported:.2f} s")
    tell(call(python, ROOT / "tools" / "smoke.py", engine, environment=bare).rstrip())


def main() -> int:
    """Build, check and try everything."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    with tempfile.TemporaryDirectory() as temporary:
        places = {name: Path(temporary, name) for name in ("sdist", "wheel", "native", "reference")}
        for place in ("sdist", "wheel"):
            places[place].mkdir()
        unpacked = check_sdist(build("--sdist", into=DIST), places["sdist"])
        # From the checkout, with the flags of make test: what was compiled there is not compiled again.
        plain = build("--wheel", "-C", "cmake.define.RETROGRAD_WERROR=ON", into=places["wheel"])
        native = tagged(plain)
        pure = build("--wheel", source=unpacked, into=DIST, environment={"RETROGRAD_PURE": "1", "CXX": "no-compiler"})
        tell(call("abi3audit", "--strict", native).strip())
        files = sorted(DIST.iterdir())
        tell(call("twine", "check", "--strict", *files).strip())
        tell(call("check-wheel-contents", native, pure).strip())
        try_out(native, "native", places["native"])
        try_out(pure, "reference", places["reference"])
    tell("dist/ has " + ", ".join(f"{file.name} ({file.stat().st_size / 1e6:.2f} MB)" for file in files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
