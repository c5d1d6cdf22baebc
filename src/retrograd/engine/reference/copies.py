"""How Python copies and pickles a Value of the reference engine: see :mod:`retrograd.engine.pickling`."""

from __future__ import annotations

import sys
from typing import Any

from .. import pickling

__all__ = ["Copies"]

_engine = sys.modules[__name__.rpartition(".")[0]]


class Copies:
    """The copying protocol, for ``copy.copy``, ``copy.deepcopy`` and ``pickle``."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return pickling.shallow(_engine, self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return pickling.deep(_engine, self, memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickling.reduce(_engine, self)
