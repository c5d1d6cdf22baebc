"""The trace of one forward and one backward pass: plain data, its JSON, and its rendering as text."""

from . import rich_import as rich_import  # before anything that imports rich
from .trace import Addition, Edge, Node, Step, Trace, TraceError

__all__ = ["Addition", "Edge", "Node", "Step", "Trace", "TraceError"]
