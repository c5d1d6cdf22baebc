"""Dispatch: the native cache answers a call with a matching specialization, and asks here when it has none."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from ... import engine
from ...autodiff.sparse import Entries
from ...engine import Value, unrecorded
from ...index import Index
from ..reports.reasons import Cause, Reason
from ..reports.statistics import Statistics, gathered
from ..request import Options
from ..specializer import Specializer
from ..taped.taped_calls import TapedCalls
from ..tracing.recorder import active_recorder
from .eager import EagerRunner, Method, Result, answer
from .fused_node import FusedCall, FusedOperation
from .outputs import Outputs
from .overhead import Overhead, now
from .signature import Signature

__all__ = ["Dispatcher", "no_first_argument"]

#: Where so many times as many calls ran eagerly as were answered, programs are not what runs.
_MOST_EAGER = 4

_BACKING_OFF = Cause(Reason.BACKING_OFF)


def no_first_argument() -> TypeError:
    """``value_and_grad`` was called without a positional argument."""
    return TypeError("value_and_grad differentiates with respect to the first argument, and there is none.")


class _Retrying(threading.local):
    """Whether this thread is calling the cache again, after a specialization was made for the call."""

    active = False


class Dispatcher:
    """The cache of one compiled function, and what happens to the calls that it cannot answer."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options,
        eager: EagerRunner,
        causes: Counter[Cause],
        without_keywords: Callable[..., tuple[Any, tuple[Any, ...]]],
    ) -> None:
        self._function, self._without_keywords = function, without_keywords
        self._name = getattr(function, "__name__", "the function")
        self._operation = getattr(function, "__name__", "compiled")
        self._eager, self._causes = eager, causes
        self._retrying = _Retrying()
        self.cache: engine.SpecializationCache = engine.SpecializationCache(self._missed, Index, Reason)
        self.taped: TapedCalls = TapedCalls(function, options, eager, self.cache)
        self.specializer: Specializer = Specializer(function, self.cache, options, eager, causes, self.taped)
        self._overhead = Overhead(self.cache.calls, self.specializer.pause)
        eager.overhead = self._overhead

    def forget(self) -> None:
        """Drop all programs and code."""
        self.specializer.forget()
        self.taped.forget()
        self._overhead.forget()

    def answered(self) -> int:
        """How many calls programs and code have answered."""
        return sum(hits for _, _, hits in self.cache.inventory()) + self.taped.hits

    def tier(self) -> str:
        """What answered the last call; taped code if that has answered most, nothing where nearly all ran eagerly."""
        answered = self.answered()
        if 2 * self.taped.hits > answered:
            return "taped"
        ran_eagerly = sum(count for cause, count in list(self._causes.items()) if cause.reason.runs_eagerly)
        return "eager" if ran_eagerly > _MOST_EAGER * answered else self.cache.tier()

    def statistics(self) -> Statistics:
        """How calls were answered."""
        return gathered(self.cache, self._causes, self.taped.hits)

    def _missed(self, kind: str, arguments: tuple[Any, ...], reason: Reason | None) -> Any:
        """No specialization answered a call of the cache: answer it, with a new specialization where possible."""
        if reason is None:  # the arguments are a tuple and a dict
            target, arguments = self._without_keywords(*arguments)
            return getattr(target, kind)(*arguments)
        if (taped := self.taped.answer(kind, arguments, reason)) is not None:
            return taped if kind == "call" else taped[0]
        if reason is _BACKING_OFF.reason:
            return self._plainly(kind, arguments)
        method = Method(kind)
        if method is Method.GRADIENTS and not arguments:
            raise no_first_argument()
        began = now()
        found = self._answered(method, arguments, reason)  # nothing after it may fail: gradients have been added
        self._overhead.missed(began)
        return [found] if method is Method.CALL else found

    def _plainly(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """The function itself, with as little besides as can be: it may run so in nearly every call."""
        if kind == "gradients":
            return self._eager.answer(Method.GRADIENTS, arguments, _BACKING_OFF)
        self._causes[_BACKING_OFF] += 1
        root = self._function(*arguments)
        if kind == "call":
            return [root]
        if type(root) is not Value:
            return answer(Method.BACKWARD, Result(root, Signature()))
        value = root.data
        root.backward()
        return value

    def _answered(self, method: Method, arguments: tuple[Any, ...], reason: Reason) -> Any:
        if reason is Reason.INSIDE_TRACE:
            recorder = active_recorder()
            if recorder is not None:  # else it is a plain run whose effects are noted
                recorder.untraceable(f"calls {self._name}.{method.value}()")
        if not reason.traces and reason is not Reason.UNCOMPARED:
            return self._eager.answer(method, arguments, Cause(reason))
        if self._retrying.active:
            return self._eager.answer(method, arguments, Cause(Reason.INVALIDATED))
        if reason is Reason.NEW_ARGUMENTS and self.specializer.awaits_another(method.differentiates_first, arguments):
            return self._eager.answer(method, arguments, Cause(Reason.AWAITS_ANOTHER))
        result = self._specialize(method, arguments, reason)
        if result is not None:
            return answer(method, result)
        again, is_call = getattr(self.cache, method.value), method is Method.CALL
        self._retrying.active = True
        try:
            found = again(*arguments)  # where it adds gradients, nothing after it may fail
            return self.finished(found, arguments) if is_call else found
        finally:
            self._retrying.active = False

    def finished(self, found: Any, arguments: tuple[Any, ...]) -> Any:
        """What a call returns, from what the native cache's ``call`` gave."""
        if type(found) is list:  # the function ran
            return found[0]
        number, data, dependencies = found
        example = self.specializer.example(number)
        if example is None:  # clear() was called meanwhile, by another thread or a signal handler
            return self._eager.answer(Method.CALL, arguments, Cause(Reason.INVALIDATED))
        if dependencies is None and example.hands_on:  # inside no_grad, where a Value as it is keeps its gradient
            return self._function(*arguments)
        if example.outputs is not None:
            return self._several(example.outputs, data, dependencies, arguments)
        if example.number is not None:
            return data if example.number is float else example.number(data)
        if dependencies is None:
            value = unrecorded(data)
        else:
            operation = FusedOperation(self._operation, self._function, arguments, data)
            value = self.cache.node(data, operation, dependencies)
        if example.label:
            value.label = example.label
        return value

    def as_matrices(self, function: Callable[..., Any], finish: Callable[[Entries], Any]) -> Callable[..., Any]:
        """The compiled function, which returns the entries of a matrix, as one that gives what ``finish`` makes.

        The native cache makes the matrix itself where it has been told how: by the first call that a program answers.
        """

        def arranged(found: Any, arguments: tuple[Any, ...]) -> Any:
            if found is None:  # inside a trace
                return finish(function(*arguments))
            entries = self.finished(found, arguments)
            if type(found) is tuple:
                self._present(found[0], finish)
            return finish(entries)

        self.cache.arrange_by(arranged)
        return self.cache.matrix

    def _present(self, number: int, finish: Callable[[Entries], Any]) -> None:
        example = self.specializer.example(number)
        how = example.outputs.matrix(finish) if example is not None and example.outputs is not None else None
        if how is not None:
            self.cache.present(number, *how)

    def finished_batch(self, number: int, found: list[Any]) -> list[Any]:
        """What calls return that depend on no Value; nothing where the function itself must run for that."""
        example = self.specializer.example(number)
        if example is None:
            return []
        if example.outputs is not None:
            return [example.outputs.collect(numbers) for numbers in found]
        if example.number is None:
            return []
        return found if example.number is float else list(map(example.number, found))

    def _several(self, outputs: Outputs, numbers: Any, dependencies: Any, arguments: tuple[Any, ...]) -> Any:
        if dependencies is None:
            return outputs.collect(numbers)
        if outputs.inner:  # a pass would bring them gradients from inside the call, where the program has no nodes
            return self._function(*arguments)
        call = FusedCall(self._operation, self._function, arguments, outputs)
        return outputs.collect(numbers, call.results(self.cache, dependencies, numbers))

    def _specialize(self, method: Method, arguments: tuple[Any, ...], reason: Reason) -> Result | None:
        # Recording is on even inside no_grad: a program is compared with the gradients of a plain run.
        recording = engine.set_recording(True)
        try:
            calls = method is Method.CALL
            recorded = recording or not calls
            if reason is Reason.UNCOMPARED:
                return self.specializer.compare(method, arguments, recorded)
            return self.specializer.specialize(method.differentiates_first, arguments, reason, calls, recorded)
        finally:
            engine.set_recording(recording)
