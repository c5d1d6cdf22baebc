"""The compiler: from a scalar function, traced once, to a short list of vector instructions.

In the order in which a call passes:

* ``decorator`` and ``compiled``: :func:`compile` and :class:`Compiled`, what users call;
* ``calls``: how arguments are described, which program answers, and what the call gives;
* ``specializer``: traces a call that no program answers, compiles it, and keeps the specialization in ``examples``;
  ``comparison``: with the engine, at once and in later calls; ``varying_arguments``: what each call brings;
* ``tracing``: the arguments become tracers, the run a recording; ``if_conversion``: what decides becomes a selection;
* ``request``: the record that the native compiler gets; from there on, see ``native/compiler``;
* ``guards``: captured state that must not change; ``backoff``, ``structures`` and ``storm_watch``: calls that would be
  traced in vain;
* ``tier_up``, ``compile_threads`` and ``backends``: machine code, C and JAX; ``reports``: what users are told.
"""

from .compiled import Compiled
from .decorator import Tier, compile  # noqa: A004  (named like the field names it)

__all__ = ["Compiled", "Tier", "compile"]
