"""The lesson: where people come to understand backpropagation, and where a Value class of their own is examined."""

from ..trace import rich_import as rich_import  # before anything that imports rich
