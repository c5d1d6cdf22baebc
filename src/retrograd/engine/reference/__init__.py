"""The reference engine: automatic differentiation in plain Python, written to be read.

The tests compare the native engine with it, bit for bit. Start with :mod:`retrograd.engine.reference.value`.
"""

from . import calls, modes, nary, nodes, steps, value
from .calls import *  # noqa: F403  (the engine interface, listed there)
from .modes import *  # noqa: F403
from .nary import *  # noqa: F403
from .nodes import *  # noqa: F403
from .steps import *  # noqa: F403
from .value import *  # noqa: F403

__all__ = [*calls.__all__, *modes.__all__, *nary.__all__, *nodes.__all__, *steps.__all__, *value.__all__]
