"""Machine code for this processor, of LLVM IR: the only module that imports llvmlite."""

from __future__ import annotations

import importlib.util
import threading
from dataclasses import dataclass
from typing import Any

from ...errors import MissingExtraError

__all__ = ["Code", "available", "compiled", "vector_width"]

_MISSING = 'tier="llvm" needs llvmlite: pip install "retrograd[llvm]"'

_machine: Any = None
_starting = threading.Lock()


def available() -> bool:
    return importlib.util.find_spec("llvmlite") is not None


@dataclass(frozen=True, slots=True)
class Code:
    """Functions by their names, and what must live as long as they."""

    addresses: dict[str, int]
    engine: Any


def _target() -> Any:
    """The target machine. Raises MissingExtraError without llvmlite."""
    global _machine
    try:
        from llvmlite import binding
    except ImportError:
        raise MissingExtraError(_MISSING) from None
    with _starting:
        if _machine is None:
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            target = binding.Target.from_default_triple()
            features = binding.get_host_cpu_features().flatten()
            _machine = target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=2, jit=True)
    return _machine


def vector_width() -> int:
    """How many doubles the processor's vectors have."""
    _target()
    from llvmlite import binding

    return 8 if binding.get_host_cpu_features().get("avx512f") else 4


def compiled(module: str, names: list[str]) -> Code:
    """Compiles a module. The interpreter's lock is not held meanwhile."""
    machine = _target()
    from llvmlite import binding

    parsed = binding.parse_assembly(module)
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return Code({name: engine.get_function_address(name) for name in names}, engine)
