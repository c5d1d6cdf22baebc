"""A compiled function: a scalar Python function, traced once and run as a short list of vector instructions."""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any, Generic, ParamSpec

from .. import engine, habits
from ..autodiff.active import is_differentiating, transform_of
from .calls.argument_order import taking_by_position, with_first
from .calls.batching import backward_batch, backward_batch_eagerly, mapped, thread_count
from .calls.dispatch import Dispatcher, no_first_argument
from .calls.eager import EagerRunner, Method
from .reports.inspection import Inspection, inspected, program_after
from .reports.reasons import Cause, Reason
from .reports.stages import Pass, check_pass
from .reports.statistics import Statistics, gathered
from .request import Options
from .tracing.recorder import active_recorder

if TYPE_CHECKING:
    from .backends.c import CFunction
    from .backends.jax import JaxFunction

__all__ = ["Compiled"]

P = ParamSpec("P")


class Compiled(Generic[P]):
    """A function that :func:`retrograd.compile` made fast. It takes the function's own arguments.

    Calling it, or one of ``backward``, ``backward_batch`` and ``value_and_grad``, runs a program that was compiled for
    arguments of this structure (a *specialization*), after checking that it is valid for the call. Without a valid one
    the function is traced and compiled first. What cannot be compiled runs eagerly, with the same result;
    ``stats()`` says how often, and why. At most 256 specializations are kept, the most recently used ones.

    ``tier``, ``stats``, ``guards``, ``program`` and ``inspect`` look inside: where most calls went to a derivative of
    the function, into that one. ``clear`` forgets every specialization. Pickles and copies start without any.
    """

    def __init__(self, function: Callable[P, Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        self._function: Callable[..., Any] = function
        self._options, self._calls = options, 0
        self._causes: Counter[Cause] = Counter()
        self._eager = EagerRunner(function, self._causes)
        self._variants: dict[Any, Compiled[...]] = {}  # by the keywords of a call, or the arguments to differentiate
        self._derivatives: dict[Any, Compiled[...]] = {}
        self._matrices: dict[str, Callable[..., Any]] = {}  # what gives sparse derivatives, kept by the transforms
        self._methods: dict[int, tuple[weakref.ref[Any], Compiled[...]]] = {}  # by the id of an instance
        # compile(grad(f)) is grad(compile(f)): the backward pass of one program, not the program of a backward pass.
        self._primal: Compiled[...] | None = None
        if (transform := transform_of(function)) is not None:
            primal = transform.function
            self._primal = primal if isinstance(primal, Compiled) else Compiled(primal, options)
            self._gradient = transform.remade(self._primal)
        self._uncompiled = None if engine.ENGINE == "native" else Cause(Reason.REFERENCE_ENGINE)  # why nothing compiles
        if not self._uncompiled:
            self._dispatcher = Dispatcher(function, options, self._eager, self._causes, self._without_keywords)
            self._cache = self._dispatcher.cache
            if not options.verify:
                # The native methods themselves, so that a call costs no Python frame.
                self.backward = self._cache.backward  # type: ignore[method-assign, assignment]
                self.value_and_grad = self._cache.gradients  # type: ignore[method-assign]
                self._gradients_of_numbers = self._cache.gradients_of_numbers

    # --- calls ----------------------------------------------------------------------------------------

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """What the function returns.

        A Value that the program computed is one node on the tape, whose local derivatives are the program's. Inside a
        transform, such as ``rg.hessian``, the function itself runs.

        Args:
            *args: The arguments of the function.
            **kwargs: Its keyword arguments.

        Returns:
            What the function returns: a Value if it is one, a float if the function computes with floats alone, or
            any structure of them.

        Raises:
            VerificationError: With ``verify``, if the program does not give what the function gives.
            Exception: What the function raises.

        Example:
            >>> import retrograd as rg
            >>> square = rg.compile(lambda x: x * x)
            >>> square(3.0)
            9.0
        """
        if active_recorder() is not None or is_differentiating():
            return self._function(*args, **kwargs)  # operation by operation, so that any derivative can be taken
        if self._primal is not None:
            return self._gradient(*args, **kwargs)
        if kwargs:
            target, args = self._without_keywords(args, kwargs)  # type: ignore[assignment]
            return target(*args)
        if self._uncompiled:
            return self._eager.answer(Method.CALL, args, self._uncompiled)
        self._verify(Method.CALL, args)
        return self._dispatcher.finished(self._cache.call(*args), args)

    def backward(self, *args: P.args, **kwargs: P.kwargs) -> float:
        """Run the function forward and backward, as ``function(*args).backward()`` does.

        Adds the derivative with respect to each leaf to its ``.grad``: of the Values among the arguments, and of the
        parameters that the function reads. Gradients accumulate until they are set to zero.

        Args:
            *args: The arguments of the function.
            **kwargs: Its keyword arguments.

        Returns:
            The function's value, a float.

        Raises:
            TypeError: If the function returns something else than a Value or a number.
            VerificationError: With ``verify``, if the program does not give what the function gives.
            Exception: What the function raises.

        Example:
            >>> import retrograd as rg
            >>> w = rg.Value(2.0)
            >>> loss = rg.compile(lambda x: (w * x - 1.0) ** 2)
            >>> loss.backward(3.0), w.grad
            (25.0, 30.0)
        """
        if kwargs:
            target, args = self._without_keywords(args, kwargs)  # type: ignore[assignment]
            return target.backward(*args)
        if self._uncompiled:
            return self._eager.answer(Method.BACKWARD, args, self._uncompiled)  # type: ignore[no-any-return]
        self._verify(Method.BACKWARD, args)
        return self._cache.backward(*args)

    def value_and_grad(self, *args: P.args, **kwargs: P.kwargs) -> tuple[float, Any]:
        """The function's value, and its derivatives with respect to the first argument. No ``.grad`` changes.

        Args:
            *args: The arguments of the function. The first one is a number, a Value, a nested list, tuple, dict or
                dataclass of them, a float64 array, or a module with parameters.
            **kwargs: Its keyword arguments.

        Returns:
            The value, a float, and the gradient: floats in the structure of the first argument, as
            :func:`retrograd.value_and_grad` has it: each number is a variable of its own, also where one Value stands
            twice. The gradient of a module is a list in the order of its ``parameters()``.

        Raises:
            TypeError: Without a positional argument, or for a first argument of another kind.
            VerificationError: With ``verify``, if the program does not give what the function gives.
            Exception: What the function raises.

        Example:
            >>> import retrograd as rg
            >>> product = rg.compile(lambda p: p["a"] * p["b"])
            >>> product.value_and_grad({"a": 3.0, "b": 4.0})
            (12.0, {'a': 4.0, 'b': 3.0})
        """
        if kwargs:
            target, args = self._without_keywords(args, kwargs)  # type: ignore[assignment]
            return target.value_and_grad(*args)
        if not args:
            raise no_first_argument()
        if self._uncompiled:
            return self._eager.answer(Method.GRADIENTS, args, self._uncompiled)  # type: ignore[no-any-return]
        self._verify(Method.GRADIENTS, args)
        return self._cache.gradients(*args)

    def backward_batch(self, members: Sequence[tuple[Any, ...]], *, threads: int | None = None) -> float:
        """The mean of the function over many calls, whose gradient is added to ``.grad``.

        Members of the same structure run together, whatever their order. If one of them raises, no gradient has
        changed. Value and gradients have the same bits on any number of threads.

        Args:
            members: A tuple of arguments for each call: ``[(x0,), (x1,), …]``.
            threads: On how many threads the members run, at most; None for this one alone. What runs eagerly or in
                exact mode, and a batch that takes some 0.2 ms, stays on this one.

        Returns:
            The mean of the values, a float.

        Raises:
            ValueError: If there are no members, or ``threads`` is less than 1.
            TypeError: If a member is not a tuple, or ``threads`` no whole number.
            VerificationError: With ``verify``, if the program does not give what the function gives.
            Exception: What the function raises.

        Example:
            >>> import retrograd as rg
            >>> w = rg.Value(2.0)
            >>> loss = rg.compile(lambda x: w * x)
            >>> loss.backward_batch([(1.0,), (3.0,)]), w.grad
            (4.0, 2.0)
        """
        batch = list(members)
        if not batch:
            raise ValueError("backward_batch takes at least one member, a tuple of arguments.")
        count = thread_count(threads, "backward_batch")
        recorder = active_recorder()
        if recorder is not None:
            recorder.untraceable(f"calls {self._function.__name__}.backward_batch()")
            return backward_batch_eagerly(self._eager, batch, Cause(Reason.INSIDE_TRACE))
        if self._uncompiled:
            return backward_batch_eagerly(self._eager, batch, self._uncompiled)
        self._verify(Method.BACKWARD, batch[0])
        return backward_batch(self._dispatcher, self._eager, batch, count)

    def call_batch(self, members: Sequence[tuple[Any, ...]], *, threads: int | None = None) -> list[Any]:
        """What the function returns for each of many calls, as ``[f(*member) for member in members]`` gives it.

        Members of the same structure run together, whatever their order. Each result has the same bits on any number
        of threads. :func:`retrograd.vmap` of the function calls this.

        Args:
            members: A tuple of arguments for each call: ``[(x0,), (x1,), …]``.
            threads: On how many threads the members run, at most. What depends on a Value, runs eagerly or in exact
                mode, and a batch that takes some 0.2 ms, stays on this one.

        Returns:
            The results, in the order of the members.

        Raises:
            ValueError: If ``threads`` is less than 1.
            TypeError: If a member is not a tuple, or ``threads`` no whole number.
            Exception: What the function raises.

        Example:
            >>> import retrograd as rg
            >>> square = rg.compile(lambda x: x * x)
            >>> square.call_batch([(2.0,), (3.0,)])
            [4.0, 9.0]
        """
        count = thread_count(threads, "call_batch")
        call: Callable[..., Any] = self
        if self._primal is not None and (gradient := transform_of(self._gradient)) is not None:
            found = gradient.of_many(list(members), threads)
            return [call(*member) for member in members] if found is None else found
        return self._mapped(Method.CALL, call, members, count)

    def value_and_grad_batch(
        self, members: Sequence[tuple[Any, ...]], *, threads: int | None = None
    ) -> list[tuple[float, Any]]:
        """What :meth:`value_and_grad` returns for each of many calls.

        ``rg.vmap(rg.value_and_grad(f))`` calls this, and ``rg.vmap(rg.grad(f))``.

        Args:
            members: A tuple of arguments for each call: ``[(x0,), (x1,), …]``.
            threads: On how many threads the members run, at most; see :meth:`call_batch`.

        Returns:
            The pairs of value and gradient, in the order of the members.

        Raises:
            ValueError: If ``threads`` is less than 1.
            TypeError: If a member is not a tuple, or ``threads`` no whole number.
            Exception: What the function raises.

        Example:
            >>> import retrograd as rg
            >>> square = rg.compile(lambda x: x * x)
            >>> square.value_and_grad_batch([(2.0,), (3.0,)])
            [(4.0, 4.0), (9.0, 6.0)]
        """
        count = thread_count(threads, "value_and_grad_batch")
        return self._mapped(Method.GRADIENTS, self.value_and_grad, members, count)

    def _mapped(
        self, method: Method, call: Callable[..., Any], members: Sequence[tuple[Any, ...]], threads: int
    ) -> list[Any]:
        if self._uncompiled or self._options.verify or active_recorder() is not None or is_differentiating():
            return [call(*member) for member in members]
        return mapped(self._dispatcher, method, call, list(members), threads)

    def _verify(self, method: Method, args: tuple[Any, ...]) -> None:
        """Before each ``verify``-th answer: compare it with that of the function itself."""
        if not self._options.verify:
            return
        self._calls += 1
        if self._calls % self._options.verify == 0 and active_recorder() is None:
            self._dispatcher.specializer.verify(method, args)

    def to_jax(self, *args: Any, parameters: Any = None) -> JaxFunction:
        """The function as a JAX function ``g(parameters, *inputs)``, to jit, differentiate, map and shard.

        The function is traced once, with ``args``. What it reads besides its arguments and parameters stays as it is
        now: nothing checks later whether captured state has changed.

        Args:
            *args: An example of the arguments. Later calls may differ from it in floats, Values and Indexes only.
            parameters: A Module, or nested lists of Values, that fixes the order of the parameter vector. By default
                the vector holds every leaf that the function depends on, in the order of the compiled program.

        Returns:
            The JAX function; :class:`retrograd.compiler.backends.jax.JaxFunction` says how to call it.

        Raises:
            MissingExtraError: If JAX is not installed.
            NotTraceableError: If the recorded call would not be valid for others, or ``parameters`` lacks a leaf that
                the function depends on.

        Example:
            Not run here, since it needs JAX::

                g = rg.compile(loss).to_jax(x, parameters=model)
                slopes = jax.jit(jax.grad(g))(g.parameters, *g.inputs(x))
        """
        from .backends.jax import to_jax

        return to_jax(self._function, args, parameters, lambda: self._dispatcher.specializer.conversions)

    def to_c(
        self,
        path: str | os.PathLike[str],
        *args: Any,
        name: str = "",
        argnums: int | Sequence[int] | None = None,
        derivatives: Sequence[str] = (),
    ) -> CFunction:
        """Write the function as one C99 file: its value, and its gradient by the arguments and by the Values it holds.

        Several results fill an array. The function is traced once, with ``args``; what it reads besides its arguments
        and Values stays as it is now. Comments name its lines. An ``if`` whose arms only compute is written as ``? :``.
        Another comparison that decides otherwise, and an operation outside its domain, makes the C return NAN.

        Args:
            path: The file to write.
            *args: An example of the arguments. Other calls may differ from it in floats, Values and Indexes only.
            name: What the names of the C functions begin with; the function's own name by default.
            argnums: By which arguments the gradient is taken, by their positions; all by default.
            derivatives: What to write besides: ``"jacobian"`` and ``"hessian"``, by the first argument, row by row, or
                ``"sparse jacobian"`` and ``"sparse hessian"``, as compressed rows whose places are constants.

        Returns:
            The file's path and names, and the numbers to call it with: ``inputs(*args)`` and ``parameters``.

        Raises:
            NotTraceableError: If the recorded call would not be valid for others, or has an operation that C lacks.
            ValueError: If the name is no identifier of C, or there is no such derivative or argument.

        Example:
            Not run here, since it writes a file, of which ``gcc -O3 -shared -fPIC f.c -o f.so -lm`` makes a library::

                rg.compile(loss).to_c("f.c", parameters, data, argnums=0).inputs(parameters, data)  # x, in order
        """
        from .backends.c import to_c

        extra = ((what.split()[-1], self._matrix(what, args)) for what in derivatives)  # made once args are checked
        return to_c(self._function, path, args, name, extra, argnums, lambda: self._dispatcher.specializer.conversions)

    def _matrix(self, what: str, args: tuple[Any, ...]) -> Callable[..., Any]:
        """A function that gives a matrix of derivatives, or of a sparse one the entries."""
        from ..autodiff.transforms import hessian, jacobian

        transform = {"jacobian": jacobian, "hessian": hessian}.get(what.removeprefix("sparse "))
        if transform is None:
            raise ValueError(f"to_c: derivatives are 'jacobian', 'hessian', or 'sparse …' of them, not {what!r}.")
        sparse = what.startswith("sparse ")
        transform(self, sparse=sparse)(*args)  # compiles it, and compares it with a plain run
        return self._derivatives[(transform.__name__, sparse), 0].scalar_function

    def derivative(self, key: Any, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Compiled[...]:
        """A derivative of the function, compiled and kept: what the transforms run instead of the function itself.

        Args:
            key: What tells it from the function's other derivatives.
            make: Makes the derivative of the plain function, where there is none yet.

        Returns:
            The compiled derivative.

        Example:
            >>> import retrograd as rg
            >>> cube = rg.compile(lambda x: x**3)
            >>> cube.derivative("slope", rg.grad)(2.0)
            12.0
        """
        if key not in self._derivatives:
            self._derivatives[key] = Compiled(make(self._function), self._options)
        return self._derivatives[key]

    def differentiated_by(self, positions: Sequence[int], several: bool) -> Compiled[...]:
        """The function with the arguments at ``positions`` first, as ``value_and_grad`` differentiates the first one.

        Args:
            positions: Which arguments.
            several: They are a tuple, which is the first argument; else there is one.

        Returns:
            A compiled function of that argument and of all the others, in their order.

        Example:
            >>> import retrograd as rg
            >>> power = rg.compile(lambda x, y: x * x * y)
            >>> power.differentiated_by([1], False).value_and_grad(5.0, 3.0)
            (45.0, 9.0)
        """
        key = (*positions, several)
        if key not in self._variants:
            self._variants[key] = Compiled(with_first(self._function, positions, several), self._options)
        return self._variants[key]

    def _as_matrices(self, finish: Callable[[Any], Any]) -> Callable[..., Any]:
        """The function, which returns the entries of a sparse matrix, as one that gives what ``finish`` makes."""
        if self._uncompiled or self._options.verify:
            return lambda *arguments: finish(self(*arguments))  # type: ignore[call-arg]
        return self._dispatcher.as_matrices(self, finish)

    # --- looking inside ---------------------------------------------------------------------------------

    @property
    def scalar_function(self) -> Callable[..., Any]:
        """The function that was compiled, on Values: what ``explain`` and ``explore`` show."""
        return self._function

    @property
    def tier(self) -> str:
        """What runs the program that answered the last call, which is made now if the graph was interpreted.

        ``"vm"``: kernels of the virtual machine; ``"llvm"``: machine code; ``"interpreter"``: node by node;
        ``"taped"``, if most went there: code with the function's own branches. ``"eager"``, if nearly all ran so.
        """
        if (other := self._answering()) is not self:
            return other.tier
        return "eager" if self._uncompiled else self._dispatcher.tier()

    def stats(self) -> Statistics:
        """What was compiled, how long each pass took, and how calls were answered.

        Programs that are not made yet, because the function has run a few times only, are made now.

        Returns:
            The statistics at this moment; ``print(f.stats())`` shows them as text.

        Example:
            >>> import retrograd as rg
            >>> square = rg.compile(lambda x: x * x)
            >>> square(3.0), square(4.0)
            (9.0, 16.0)
            >>> square.stats().traces, square.stats().hits
            (1, 2)
        """
        if (other := self._answering()) is not self:
            return other.stats()
        return gathered(None, self._causes) if self._uncompiled else self._dispatcher.statistics()

    def program(self, after: Pass = "reroll") -> str:
        """The program that was used last, as text.

        Args:
            after: After which pass of the compiler. ``"lift"``, the graph of the traced call; ``"expand"``, with
                formulas in place of ``mean`` or ``softmax``; ``"reductions"``, with chains of additions as sums and dot
                products; ``"pack"``, the groups that run together; ``"reroll"``, the vector program; ``"lower"``, its
                kernel calls; ``"loops"``, the code with loops that a recurrence becomes instead, as C: ``L`` has the
                leaves, ``G`` their gradients, ``W`` what the forward pass keeps, ``B`` the gradients of that.

        Returns:
            One instruction a line, with the user's line beside it; or a sentence that says why there is none.

        Raises:
            ValueError: If there is no such pass.

        Example:
            >>> import retrograd as rg
            >>> square_sum = rg.compile(lambda x, y: x * x + y * y)
            >>> square_sum.value_and_grad(2.0, 3.0)[0]
            13.0
            >>> square_sum.program(after="reductions").split("  ")[0]
            't0 = in1[0] * in1[0] + in0[0] * in0[0]'
        """
        check_pass(after)
        if (other := self._answering()) is not self:
            return other.program(after)
        if self._uncompiled:
            return f"There is no program: {self._uncompiled}."
        facts = self._cache.facts()
        example = self._dispatcher.specializer.example(facts[0]["number"]) if facts else None
        if example is None:
            return "There is no program yet: the first call makes one."
        return program_after(after, self._function, example, self._options, self._dispatcher.specializer)

    def guards(self) -> str:
        """What the compiled programs take for granted, and each call checks.

        Returns:
            For each program the structure of its arguments and the outcomes of comparisons, with the user's line; the
            captured state that is compared; and data that is too large to be compared.

        Example:
            >>> import retrograd as rg
            >>> bent = rg.compile(lambda x: x if x > 0.0 else 0.1 * x)
            >>> bent(2.0)
            2.0
            >>> print(bent.guards().splitlines()[1])
              its arguments are: a float
        """
        if (other := self._answering()) is not self:
            return other.guards()
        if self._uncompiled:
            return f"There are no guards: {self._uncompiled}."
        return self._dispatcher.specializer.guards()

    def inspect(self, *args: P.args, **kwargs: P.kwargs) -> Inspection:
        """The scalar graph of one call beside its vector program: which instruction computes which node.

        The function is traced again, with source lines. Nothing is kept or counted.

        Args:
            *args: The arguments of the function.
            **kwargs: Its keyword arguments.

        Returns:
            The program, and the function's result as a Value, for ``rg.explain`` and ``rg.explore``.

        Raises:
            ValueError: If the call cannot be compiled; the message says why.

        Example:
            >>> import retrograd as rg
            >>> square = rg.compile(lambda x: x * x)
            >>> print(square.inspect(3.0).program.splitlines()[1].split("#")[0].strip())
            0  v2 = in0 * in0
        """
        if kwargs:
            target, args = self._without_keywords(args, kwargs)  # type: ignore[assignment]
            return target.inspect(*args)
        found = self._uncompiled or inspected(self._function, args, False, self._options)
        if isinstance(found, Cause):
            raise ValueError(f"inspect: there is no program for this call, {found}.")
        return found

    def clear(self) -> None:
        """Forget every specialization: the next call traces the function again.

        Call it after changing something that the function reads and that no call compares; see :func:`compile`.
        """
        self._derivatives.clear()
        self._matrices.clear()
        self._variants.clear()
        if self._primal is not None:
            self._primal.clear()
        if not self._uncompiled:
            self._dispatcher.forget()

    def __reduce__(self) -> str | tuple[Any, ...]:
        """A copy or a pickle starts without specializations; a function of a module is pickled by its name."""
        name = getattr(self, "__qualname__", "")
        if getattr(sys.modules.get(getattr(self, "__module__", "")), name, None) is self:
            return name
        return Compiled, (self._function, self._options)

    def __repr__(self) -> str:
        return f"<compiled {getattr(self._function, '__qualname__', self._function)!s}>"

    def _answering(self) -> Compiled[...]:
        """Who tells of the calls: the function, its gradient's or the variant of it that most of them went to."""
        own = self if self._primal is None else self._primal._answering()
        made = [own, *(one._answering() for one in (*self._variants.values(), *self._derivatives.values()))]
        return max(made, key=Compiled._calls_answered)

    def _calls_answered(self) -> int:
        answered = 0 if self._uncompiled else self._dispatcher.answered()
        return answered + gathered(None, self._causes).eager

    # --- keywords and methods ----------------------------------------------------------------------------

    def _without_keywords(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Compiled[...], tuple[Any, ...]]:
        """A compiled function that takes all arguments of this call by position, and those arguments."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            self._function(*args, **kwargs)  # raises it in Python's own words
            raise
        if not bound.kwargs:
            return self, bound.args
        names = tuple(bound.kwargs)
        if names not in self._variants:
            self._variants[names] = Compiled(taking_by_position(self._function, names), self._options)
        return self._variants[names], (*bound.args, *bound.kwargs.values())

    @functools.cached_property
    def _signature(self) -> Signature:
        return signature(self._function)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """As a method, the compiled function is bound to each instance, and compiled for it."""
        if instance is None:
            return self
        known = self._methods.get(id(instance))
        if known is not None and known[0]() is instance:
            return known[1]
        method = Compiled(self._function.__get__(instance, owner), self._options)
        try:
            gone = functools.partial(_forget, weakref.ref(self), id(instance))
            self._methods[id(instance)] = weakref.ref(instance, gone), method
        except TypeError:  # instances with __slots__ may have no weak references: compiled at each access
            pass
        return method


def _forget(function: weakref.ref[Compiled[...]], number: int, _: object) -> None:
    """An instance whose method was compiled is gone."""
    compiled = function()
    if compiled is not None:
        compiled._methods.pop(number, None)


if not TYPE_CHECKING:
    habits.refuse_on(Compiled, habits.COMPILED)
