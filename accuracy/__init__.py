"""How right the engine is: the accuracy table, its mutants, and the conventions beside other libraries'.

``python -m accuracy`` runs it and writes ``docs/trust.md`` and ``docs/conventions.md``. Nothing else imports this part.
"""
