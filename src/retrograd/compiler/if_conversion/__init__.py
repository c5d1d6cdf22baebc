"""If-conversion: where each call takes another arm of an ``if``, the ``if`` becomes a selection, like ``rg.where``.

``conversions`` chooses the lines, and traces converted code, a ``trial``. ``rewriting`` makes that code of the
function's source. As it runs, it calls what is in ``selecting``; what it selects has stand-ins from ``tracers``.
"""
