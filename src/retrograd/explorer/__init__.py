"""The explorer: one offline page that shows a forward and a backward pass, in the browser and in notebooks."""

from .explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
