"""The compiler: from a scalar function, traced once, to a short list of vector instructions.

In the order in which a call passes:

* ``decorator`` and ``compiled``: :func:`compile` and :class:`Compiled`, what users call; ``eager`` runs the function on
  the engine, ``batching`` many calls at once, ``inspection`` and ``printer`` show a program, ``statistics`` counts;
* ``dispatch``: the native cache answers a call, or reports a ``reasons.Reason`` why it cannot;
* ``specializer``: traces the call, compiles it, compares it with the engine, and keeps the specialization;
* ``signature``, ``recorder``, ``float_tracer``, ``recording``: the arguments become tracers, the run a recording;
* ``request``: the record that the native compiler gets; from there on, see ``native/compiler``;
* ``guards``: captured state that must not change; ``tier_up`` and ``backends``: machine code, and JAX.
"""

from .compiled import Compiled
from .decorator import Tier, compile  # noqa: A004  (named like the field names it)

__all__ = ["Compiled", "Tier", "compile"]
