"""What writes each kind of statement and expression, and each kind of call."""

from __future__ import annotations

import ast

from ..frame import Language
from .calls import applied, called, called_function, of_closure
from .comparisons import compared, compared_in_a_row
from .expressions import EXPRESSIONS
from .loops import generated, keyed, list_of, listed
from .statements import STATEMENTS, stored

__all__ = ["PYTHON"]

PYTHON = Language(
    statements=STATEMENTS,
    expressions=EXPRESSIONS
    | {ast.Call: called, ast.Compare: compared_in_a_row, ast.GeneratorExp: generated, ast.Dict: keyed, ast.List: listed}
    | dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp), list_of),
    call=called_function,
    call_closure=of_closure,
    apply=applied,
    compare=compared,
    store_at=stored,
)
