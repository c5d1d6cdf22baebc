"""If-conversion: where each call takes another arm of an ``if``, the ``if`` becomes a selection, like ``rg.where``."""
