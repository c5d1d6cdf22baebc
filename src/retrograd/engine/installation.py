"""What is said where an engine cannot be loaded: none of that name, not built, built from another table."""

from __future__ import annotations

from ..errors import EngineChoiceError, NativeMismatchError

__all__ = ["free_threaded", "native_absent", "native_mismatch", "native_missing", "unknown_engine"]


def unknown_engine(name: str) -> EngineChoiceError:
    """RETROGRAD_ENGINE is ``name``, which is not an engine."""
    return EngineChoiceError(f"RETROGRAD_ENGINE is {name!r}: set it to 'native' (the default) or 'reference'.")


def native_missing(reason: object) -> NativeMismatchError:
    """The native module cannot be imported."""
    return NativeMismatchError(
        f"the native engine cannot be loaded ({reason}): build it with 'pip install .', "
        "or set RETROGRAD_ENGINE=reference to use the slow engine in plain Python."
    )


def native_absent() -> str:
    """No engine was asked for, and this installation has no native module: the pure wheel, or a checkout not built."""
    return (
        "retrograd runs on its reference engine, in plain Python, because no native module is installed here: the "
        "numbers are the same, slowly. To build it, run 'pip install .' in a checkout, where there is a C++ compiler; "
        "RETROGRAD_ENGINE=reference in the environment chooses this engine without this warning."
    )


def native_mismatch(built: str, table: str) -> NativeMismatchError:
    """The native module was built from another op table than the one in src/retrograd/ops/table.py."""
    return NativeMismatchError(
        f"the native engine was built from another op table (digest {built}; src/retrograd/ops/table.py has {table}): "
        "build it again with 'pip install .'."
    )


def free_threaded() -> NativeMismatchError:
    """This Python runs without the GIL."""
    return NativeMismatchError(
        "retrograd needs the GIL, because it keeps one tape for each thread, and this is a free-threaded Python: "
        "use an ordinary build of Python 3.11 or newer."
    )
