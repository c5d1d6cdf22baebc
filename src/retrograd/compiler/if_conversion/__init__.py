"""If-conversion: an ``if`` that data decides anew in each call becomes a selection, as ``rg.where`` would write it."""
