"""The reference engine: automatic differentiation in plain Python, to be read and to be compared with.

Start with :mod:`retrograd.reference.value`; :mod:`.rules` turns the op table into Python functions.
"""

from .value import *  # noqa: F403  (the engine interface, listed there)
from .value import __all__ as __all__
