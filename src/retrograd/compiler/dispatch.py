"""Dispatch: the native cache answers a call with a matching specialization, and asks here when it has none."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from .. import engine
from ..index import Index
from .eager import EagerRunner, Method, answer
from .reasons import Cause, Reason
from .recorder import active_recorder
from .request import Options
from .specializer import Specializer

__all__ = ["Dispatcher"]


class _Retrying(threading.local):
    """Whether this thread is calling the cache again, after a specialization was made for the call."""

    active = False


class Dispatcher:
    """The cache of one compiled function, and what happens to the calls that it cannot answer."""

    def __init__(
        self, function: Callable[..., Any], options: Options, eager: EagerRunner, causes: Counter[Cause]
    ) -> None:
        self._name = getattr(function, "__name__", "the function")
        self._eager = eager
        self._retrying = _Retrying()
        self.cache = engine.SpecializationCache(self._missed, Index, Reason)
        self.specializer = Specializer(function, self.cache, options, eager, causes)

    def _missed(self, kind: str, arguments: tuple[Any, ...], reason: Reason) -> Any:
        """No specialization answered a call of the cache: answer it, with a new specialization where possible."""
        method = Method(kind)
        if reason is Reason.INSIDE_TRACE:
            recorder = active_recorder()
            assert recorder is not None
            recorder.untraceable(f"calls {self._name}.{kind}()")
        if not reason.traces:
            return self._eager.answer(method, arguments, Cause(reason))
        if self._retrying.active:
            return self._eager.answer(method, arguments, Cause(Reason.INVALIDATED))
        result = self.specializer.specialize(method.differentiates_first, arguments, reason)
        if result is not None:
            return answer(method, result)
        self._retrying.active = True
        try:
            return getattr(self.cache, kind)(*arguments)
        finally:
            self._retrying.active = False
