"""The reference engine: automatic differentiation in plain Python, to be read and to be compared with.

Start with :mod:`retrograd.engine.reference.value`; :mod:`.rules` turns the op table into Python functions.
"""

from . import calls, modes, value
from .calls import *  # noqa: F403  (the engine interface, listed there)
from .modes import *  # noqa: F403
from .value import *  # noqa: F403

__all__ = [*calls.__all__, *modes.__all__, *value.__all__]
