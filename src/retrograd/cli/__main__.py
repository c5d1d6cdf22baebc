"""``python -m retrograd.cli``."""

from . import main

main()
