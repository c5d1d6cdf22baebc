"""The lesson: where people come to understand backpropagation, and where a Value class of their own is examined."""

from typing import TYPE_CHECKING

from ..trace import rich_import as rich_import  # before anything that imports rich

if TYPE_CHECKING:
    from .asking import check, figure

__all__ = ["check", "figure"]


def __getattr__(name: str) -> object:
    """``check`` and ``figure``, which need the whole course, when they are asked for."""
    if name in __all__:
        from . import asking

        return getattr(asking, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
