"""The editor of chapter 6: Python in the page (Pyodide), with the grader. Fetched and packed when the site is built."""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
#: Python for the page, as its npm package has it; npm checks the digest of what it fetches.
PYODIDE = "314.0.7"
KEPT = ROOT / "build" / "pyodide"
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: What of the package the grader reads.
PARTS = ("errors.py", "habits", "ops", "engine", "autodiff", "trace", "lesson/grader")


def install(site: Path) -> bool:
    """Put the editor's files into the site. Returns False, and says why, where they cannot be fetched."""
    archive = fetched()
    if archive is None:
        print("Chapter 6 has no Python in the page: npm could not fetch pyodide. The rest of the site is whole.")
        return False
    live = site / "live"
    (live / "pyodide").mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed:
        for name in FILES:
            found = packed.extractfile(f"package/{name}")
            assert found is not None
            (live / "pyodide" / name).write_bytes(found.read())
    (live / "grader.zip").write_bytes(grader())
    shutil.copy(HERE / "worker.js", live / "classroom.js")
    return True


def fetched() -> Path | None:
    """The package of npm's registry, fetched once; None without npm or without a network."""
    archive = KEPT / f"pyodide-{PYODIDE}.tgz"
    if archive.exists():
        return archive
    sys.path.insert(0, str(ROOT / "tools"))
    from web import npm

    command = npm()
    if command is None:
        return None
    KEPT.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [*command, "pack", f"pyodide@{PYODIDE}"], cwd=KEPT, capture_output=True, text=True, check=False
    )
    return archive if done.returncode == 0 and archive.exists() else None


def grader() -> bytes:
    """The grader, what it needs of the package, and rich, as one zip."""
    package = ROOT / "src" / "retrograd"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for part in PARTS:
            path = package / part
            for file in [path] if path.is_file() else sorted(path.rglob("*")):
                if file.suffix in (".py", ".toml"):
                    packed.write(file, f"retrograd/{file.relative_to(package).as_posix()}")
        rich = importlib.util.find_spec("rich")
        assert rich is not None
        assert rich.origin is not None
        for file in sorted(Path(rich.origin).parent.rglob("*.py")):
            packed.write(file, file.relative_to(Path(rich.origin).parents[1]).as_posix())
        packed.write(HERE / "classroom.py", "classroom.py")
    return out.getvalue()
