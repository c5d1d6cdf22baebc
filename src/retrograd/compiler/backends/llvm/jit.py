"""Machine code for this processor from LLVM IR: the only module that imports llvmlite."""

from __future__ import annotations

import functools
import importlib.util
import sys
import threading
from dataclasses import dataclass
from typing import Any

from ....errors import MissingExtraError

__all__ = ["MachineCode", "available", "compile_module", "has_avx512", "require", "vector_width"]

_MISSING = 'tier="llvm" needs llvmlite: pip install "retrograd[llvm]"'

_initializing = threading.Lock()
_initialized = False


def available() -> bool:
    """Whether llvmlite is installed; this does not import it."""
    blocked = sys.modules.get("llvmlite", ...) is None
    return not blocked and _found()


@functools.cache
def _found() -> bool:
    return importlib.util.find_spec("llvmlite") is not None


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The addresses of compiled functions by name, and the execution engine that owns their memory."""

    addresses: dict[str, int]
    engine: Any


def require() -> Any:
    """llvmlite's binding, initialized for this processor.

    Raises:
        MissingExtraError: llvmlite is not installed.
    """
    global _initialized
    try:
        from llvmlite import binding
    except ImportError:
        raise MissingExtraError(_MISSING) from None
    with _initializing:
        if not _initialized:
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            _initialized = True
    return binding


@functools.cache
def has_avx512() -> bool:
    """Whether this processor has vector registers of 512 bits, and their instructions."""
    return bool(require().get_host_cpu_features().get("avx512f"))


def vector_width() -> int:
    """How many doubles a vector register of this processor holds."""
    return 8 if has_avx512() else 4


def compile_module(module: str, names: list[str], passes: bool = False) -> MachineCode:
    """Compile a module and look up the functions ``names``. llvmlite releases the GIL while LLVM works.

    Args:
        module: LLVM IR.
        names: the functions.
        passes: run LLVM's own passes, its vectorizer among them, before instructions are selected.
    """
    binding = require()
    parsed = binding.parse_assembly(module)
    # An execution engine takes ownership of its target machine, so each one gets a new one.
    target = binding.Target.from_default_triple()
    features = binding.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=2, jit=True)
    if passes:
        options = binding.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = True
        builder = binding.create_pass_builder(machine, options)
        builder.getModulePassManager().run(parsed, builder)
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return MachineCode({name: engine.get_function_address(name) for name in names}, engine)
