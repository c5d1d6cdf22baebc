"""Machine code for this processor from LLVM IR: the only module that imports llvmlite."""

from __future__ import annotations

import functools
import importlib.util
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ....errors import MissingExtraError

__all__ = ["MachineCode", "available", "has_avx512", "load", "object_of", "processor", "require", "vector_width"]

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


def processor() -> str:
    """What LLVM makes code for, and which LLVM that is."""
    import llvmlite

    binding = require()
    features = binding.get_host_cpu_features().flatten()
    llvm = ".".join(map(str, binding.llvm_version_info))
    return f"{llvmlite.__version__} {llvm} {binding.get_default_triple()} {binding.get_host_cpu_name()} {features}"


@functools.cache
def has_avx512() -> bool:
    """Whether this processor has vector registers of 512 bits, and their instructions."""
    return bool(require().get_host_cpu_features().get("avx512f"))


def vector_width() -> int:
    """How many doubles a vector register of this processor holds."""
    return 8 if has_avx512() else 4


def object_of(module: str, passes: bool = False, scalar: bool = False, level: int = 1) -> bytes:
    """Compile a module to an object file for this processor. llvmlite releases the GIL while LLVM works.

    Args:
        module: LLVM IR.
        passes: run LLVM's own passes, its vectorizer among them, before instructions are selected.
        scalar: its loops, which take the time, have no vectors. Then instructions of AVX512 are avoided: with them,
            LLVM selects a number by a mask register, which takes longer than a blend, and a simulation waits for one
            selection after another.
        level: how much those passes do: 1 is enough for straight loops, 2 inlines functions, too.
    """
    binding = require()
    parsed, machine = binding.parse_assembly(module), _target_machine(scalar)
    parsed.verify()  # raises where compiling a wrong module would abort the process
    if passes:
        options = binding.create_pipeline_tuning_options(speed_level=level)
        options.loop_vectorization = True
        builder = binding.create_pass_builder(machine, options)
        builder.getModulePassManager().run(parsed, builder)
    code: bytes = machine.emit_object(parsed)
    return code


def load(code: bytes, names: Iterable[str], called: Mapping[str, int] | None = None) -> MachineCode:
    """Load an object file that ``object_of`` has made, and look up the functions ``names``.

    Args:
        code: the object file.
        names: of its functions.
        called: the addresses of functions that it may call besides those of C's library, by symbol.
    """
    binding = require()
    for symbol, address in (called or {}).items():
        binding.add_symbol(symbol, address)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return MachineCode({name: engine.get_function_address(name) for name in names}, engine)


def _target_machine(scalar: bool = False) -> Any:
    """A new one, since an execution engine takes ownership of its own."""
    binding = require()
    target, known = binding.Target.from_default_triple(), binding.get_host_cpu_features()
    if scalar:
        known.update({name: False for name in known if name.startswith("avx512")})
    features = known.flatten()
    return target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=2, jit=True)
