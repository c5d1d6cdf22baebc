"""The reference engine: automatic differentiation in plain Python, to be read and to be compared with.

Start with :mod:`retrograd.reference.value`; :mod:`.rules` turns the op table into Python functions.
"""

from . import calls, value
from .calls import *  # noqa: F403  (the engine interface, listed there)
from .value import *  # noqa: F403

__all__ = [*calls.__all__, *value.__all__]
