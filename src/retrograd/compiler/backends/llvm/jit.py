"""Machine code for this processor, of LLVM IR: the only module that imports llvmlite."""

from __future__ import annotations

import importlib.util
import threading
from dataclasses import dataclass
from typing import Any

from ....errors import MissingExtraError

__all__ = ["Code", "available", "compiled", "require", "vector_width"]

_MISSING = 'tier="llvm" needs llvmlite: pip install "retrograd[llvm]"'

_starting = threading.Lock()
_started = False


def available() -> bool:
    """Whether llvmlite is there; it is not imported for that."""
    try:
        return importlib.util.find_spec("llvmlite") is not None
    except ValueError:  # hidden from import
        return False


@dataclass(frozen=True, slots=True)
class Code:
    """Functions by their names, and what must live as long as they."""

    addresses: dict[str, int]
    engine: Any


def require() -> Any:
    """llvmlite's binding, ready for this processor. Raises MissingExtraError without llvmlite."""
    global _started
    try:
        from llvmlite import binding
    except ImportError:
        raise MissingExtraError(_MISSING) from None
    with _starting:
        if not _started:
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            _started = True
    return binding


def vector_width() -> int:
    """How many doubles the processor's vectors have."""
    return 8 if require().get_host_cpu_features().get("avx512f") else 4


def compiled(module: str, names: list[str]) -> Code:
    """Compiles a module. The interpreter's lock is not held meanwhile."""
    binding = require()
    parsed = binding.parse_assembly(module)
    # An engine owns its target machine: each gets its own.
    target = binding.Target.from_default_triple()
    features = binding.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=2, jit=True)
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return Code({name: engine.get_function_address(name) for name in names}, engine)
