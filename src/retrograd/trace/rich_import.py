"""Imports rich and leaves the user's random numbers as they were.

rich draws from the ``random`` module while it is imported. A script that calls ``random.seed`` and imports
retrograd only afterwards, as the scalar GPT does when its own Value is replaced, must get the weights that it
has with any other Value.
"""

from __future__ import annotations

import importlib
import random

_state = random.getstate()
importlib.import_module("rich.console")
random.setstate(_state)
