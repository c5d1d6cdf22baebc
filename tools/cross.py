"""Would it compile elsewhere? Every C++ file, read by Clang for other systems: ``make cross``.

Zig's package on PyPI (ziglang) brings Clang with the headers of other systems. Nothing is linked and no machine code
is made: types and warnings are what differs between systems, such as an int64_t that is ``long long``. Python's headers
are those of this Python; what they say of the platform (pyconfig.h) is this one's, too, which is nearly right for macOS
and musl, and is replaced for Windows by the few lines below. That the wheels' workflow finds out, which compiles, links
and runs on the systems themselves.

    python tools/cross.py            every target
    python tools/cross.py TARGET…    some of them
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "native"
#: As Zig names them: a processor, a system, an interface.
TARGETS = (
    "aarch64-macos-none",
    "x86_64-macos-none",
    "x86_64-linux-gnu.2.28",
    "x86_64-linux-musl",
    "aarch64-linux-gnu.2.28",
    "x86_64-windows-gnu",
)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-sign-conversion", "-Wshadow", "-Werror")
#: The kernels of one instruction set each; their vectors are wider than what some processors pass in registers.
KERNELS = {
    "portable.cpp": ("-Wno-psabi", "-Wno-conversion"),
    "avx2.cpp": ("-Wno-psabi", "-Wno-conversion", "-mavx2", "-mfma"),
    "avx512.cpp": ("-Wno-psabi", "-Wno-conversion", "-mavx512f", "-mavx512dq", "-mavx512vl", "-mfma"),
}
X86_ONLY = ("avx2.cpp", "avx512.cpp")
#: What Python's pyconfig.h says on 64-bit Windows, where it differs in a way that the headers notice.
WINDOWS = """
#define Py_PYCONFIG_H
#define MS_WIN32
#define MS_WINDOWS
#define MS_WIN64
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_ERRNO_H 1
#define HAVE_PY_SSIZE_T 1
#define WITH_THREAD 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_MAX_ALIGN_T 16
#define PY_SSIZE_T_MAX 9223372036854775807LL
typedef long long Py_ssize_t;
"""


def zig(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ziglang", *arguments], capture_output=True, text=True, cwd=ROOT)


def headers(target: str, folder: Path) -> list[str]:
    """The options with which Zig has Clang read C++ for a target: its triple, its headers, its definitions."""
    empty = folder / f"{target}.cpp"
    empty.write_text(f"// {time.time_ns()}\n", encoding="utf-8")  # Zig remembers what it compiled, and is silent then
    said = zig("c++", "-target", target, "-c", "-v", str(empty), "-o", str(folder / f"{target}.o")).stderr
    found = next((line for line in said.splitlines() if " -cc1 " in line), None)
    if found is None:
        sys.exit(f"Zig does not say how it calls Clang for {target}:\n{said}")
    words = [word.strip('"') for word in found.split()]
    kept = [f"--target={words[words.index('-triple') + 1]}", "-nostdinc", "-nostdinc++"]
    for option, value in itertools.pairwise(words):
        if option in ("-isystem", "-D"):
            kept += [option, value]
    return kept


def sources(target: str) -> list[Path]:
    """What is built for this target."""
    x86 = target.startswith("x86_64")
    return sorted(file for file in NATIVE.rglob("*.cpp") if x86 or file.name not in X86_ONLY)


def python_headers(target: str, folder: Path) -> list[str]:
    include = sysconfig.get_path("include")
    if "windows" not in target:
        return ["-isystem", include]
    config = folder / "pyconfig.h"
    config.write_text(WINDOWS, encoding="utf-8")
    return ["-include", str(config), "-isystem", include]


def check(target: str, folder: Path) -> tuple[int, str]:
    """Read every file for a target. Returns how many there are, and what Clang says."""
    common = [*headers(target, folder), *python_headers(target, folder), "-DPy_LIMITED_API=0x030b0000"]
    if target.startswith("x86_64"):
        common.append("-DRETROGRAD_X86")
    groups: dict[tuple[str, ...], list[str]] = {}
    for file in sources(target):
        groups.setdefault(KERNELS.get(file.name, ()), []).append(str(file.relative_to(ROOT)))
    said = ""
    for options, files in groups.items():
        driver = ("clang", "--driver-mode=g++", "-fsyntax-only", "-std=c++20", "-fno-math-errno", "-I", "native")
        done = zig(*driver, *common, *WARNINGS, *options, *files)
        said += done.stdout + done.stderr if done.returncode else ""
    return sum(map(len, groups.values())), said


def main() -> int:
    """Check every target; the exit status is 1 when one of them has an error."""
    wanted = tuple(sys.argv[1:]) or TARGETS
    began, failed = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {target: pool.submit(check, target, Path(name)) for target in wanted}
        for target, job in jobs.items():
            files, said = job.result()
            errors = len(re.findall(r" error: ", said))
            print(f"{target:24} {files} files, {errors} errors", flush=True)
            if said:
                print(said)
                failed = 1
    print(f"{time.monotonic() - began:.0f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
