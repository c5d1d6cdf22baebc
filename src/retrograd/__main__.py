"""``python -m retrograd``: the command line."""

from .cli import main

main()
