"""Functions of a text: tables of what they give for each text that the program had seen when its code was made.

With another text, the function itself answers the call.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import struct
from collections.abc import Callable
from typing import Any

from ...constants import constant_of
from ...frame import Frame, Program, split
from ...ir.arithmetic import Typed
from ...types import BOOL, FLOAT, INT, TEXT, UNKNOWN, NotTypedError, Tuple, Type

__all__ = ["formatted", "item_of_text", "joined", "letter", "of_text", "sliced_text", "tables_of", "text_method"]

#: So many texts have tables; functions are taken of what functions gave so often.
_MOST, _GENERATIONS = 2048, 3

_METHODS: dict[str, Type] = {
    **dict.fromkeys(("endswith", "startswith", "isalnum", "isalpha", "isdecimal", "isdigit"), BOOL),
    **dict.fromkeys(("islower", "isnumeric", "isspace", "istitle", "isupper"), BOOL),
    **dict.fromkeys(("count", "find", "rfind"), INT),
    **dict.fromkeys(("capitalize", "casefold", "lower", "lstrip", "removeprefix", "removesuffix", "replace"), TEXT),
    **dict.fromkeys(("rstrip", "strip", "swapcase", "title", "upper", "zfill"), TEXT),
}


def of_text(f: Frame, text: Typed, name: Any, function: Callable[[str], Any], kind: Type) -> Typed:
    """What a function gives for a text.

    Args:
        f: The frame.
        text: The text.
        name: What tells the function from others.
        function: The function, which depends on the text alone.
        kind: The type of what it gives.
    """
    if isinstance(text.known, str):
        try:
            return constant_of(f.program, function(text.known))
        except (ValueError, IndexError, TypeError):  # which the function itself raises
            f.w.bail()
            return Typed(UNKNOWN)
    tables = f.program.text_tables
    number = [*tables].index(name) if name in tables else len(tables)
    tables.setdefault(name, (function, kind))
    f.w.bail_if(f.w.emit(f"xor i1 {f.w.emit(f'call i1 @text_has_{number}(i64 {text.number})')}, true"))
    found = f.w.emit(f"call i64 @text_gets_{number}(i64 {text.number})")
    if kind is BOOL:
        found = f.w.emit(f"icmp ne i64 {found}, 0")
    return Typed(kind, (f.w.emit(f"bitcast i64 {found} to double") if kind is FLOAT else found,))


def text_method(f: Frame, node: ast.Call, of: Typed) -> Typed:
    """A method of a text, with constants as arguments."""
    assert isinstance(node.func, ast.Attribute)
    name, arguments = node.func.attr, [_known(f.evaluated(one)) for one in node.args]
    if name not in _METHODS or node.keywords or None in arguments:
        raise NotTypedError(f"it calls .{name}() of a str")
    return of_text(f, of, (name, *arguments), lambda text: getattr(text, name)(*arguments), _METHODS[name])


def _known(value: Typed) -> Any:
    """A text, an int, or a tuple of them, that is known when the code is made; None of anything else."""
    if not isinstance(value.kind, Tuple):
        return value.known
    items = tuple(map(_known, split(value)))
    return None if None in items else items


def item_of_text(f: Frame, of: Typed, index: Typed) -> Typed:
    """``text[i]``."""
    at = index.known
    if not isinstance(at, int):
        return letter(f, of, f.math.integer(index).number)
    return of_text(f, of, ("item", at), lambda text: text[at], TEXT)


def letter(f: Frame, text: Typed, at: str) -> Typed:
    """A letter of a text, by an index that is computed."""
    f.program.has_letters = True
    found = f.w.emit(f"call i64 @text_letter(i64 {text.number}, i64 {at})")
    f.w.bail_if(f.w.emit(f"icmp eq i64 {found}, -1"))
    return Typed(TEXT, (found,))


def sliced_text(f: Frame, of: Typed, bounds: list[Typed | None]) -> Typed:
    """``text[from:to:step]``."""
    known = [None if one is None else one.known for one in bounds]
    if any(one is not None and not isinstance(mine, int) for one, mine in zip(bounds, known, strict=True)):
        raise NotTypedError("it slices a str by bounds that are computed")
    return of_text(f, of, ("slice", *known), lambda text: text[slice(*known)], TEXT)


def joined(f: Frame, one: Typed, other: Typed) -> Typed:
    """``one + other``, of which one is a constant."""
    before, after = one.known, other.known
    if isinstance(after, str):
        return of_text(f, one, ("before", after), lambda text: text + after, TEXT)
    if isinstance(before, str):
        return of_text(f, other, ("after", before), lambda text: before + text, TEXT)
    raise NotTypedError("it joins two texts")


def formatted(f: Frame, node: ast.JoinedStr) -> Typed:
    """``f"{kind} rate"``, of one text and constants."""
    parts = [_shown(f, part) for part in node.values]
    others = [one for one in parts if not isinstance(one.known, str)]
    if len(others) > 1:
        raise NotTypedError("it joins two texts")
    at = parts.index(others[0]) if others else len(parts)
    before, after = ("".join(one.known for one in some) for some in (parts[:at], parts[at + 1 :]))
    if not others:
        return constant_of(f.program, before)
    return of_text(f, others[0], ("around", before, after), lambda text: before + text + after, TEXT)


def _shown(f: Frame, part: ast.expr) -> Typed:
    if not isinstance(part, ast.FormattedValue):
        return f.evaluated(part)
    value = f.evaluated(part.value)
    if part.format_spec or part.conversion != -1:
        raise NotTypedError("it formats a text")
    if value.kind is INT and type(value.known) is int:
        return constant_of(f.program, str(value.known))
    if value.kind is not TEXT:
        raise NotTypedError(f"it makes a text of {value.kind}")
    return value


def tables_of(program: Program) -> str:
    """The tables as functions of a text's number, and its place in the order of all; of one that is not known, -1."""
    _add_texts(program)
    texts = [*program.texts]
    places = {text: place for place, text in enumerate(sorted(texts))}
    count = max(len(texts), 1)
    written = [_rank(len(texts), count, [places[text] for text in texts] or [0])]
    if program.has_letters:
        written.append(_letters(program, texts or [""]))
    for number, (function, kind) in enumerate(program.text_tables.values()):
        rows = [_bits(program, function, kind, text) for text in texts] or [None]
        written.append(_table(number, len(texts), count, rows))
    return "\n".join(written)


def _add_texts(program: Program) -> None:
    """Number what functions of texts give, what they give for that, and so on; another text is not known."""
    for one in [*program.texts] if program.has_letters else []:
        for each in one[: _MOST - len(program.texts)]:
            program.text(each)
    makers = [function for function, kind in program.text_tables.values() if kind is TEXT]
    seen = 0
    for _ in range(_GENERATIONS):
        new, seen = [*program.texts][seen:], len(program.texts)
        for function, text in itertools.product(makers, new):
            if len(program.texts) < _MOST:
                with contextlib.suppress(ValueError, IndexError, TypeError):
                    program.text(function(text))


def _bits(program: Program, function: Callable[[str], Any], kind: Type, text: str) -> int | None:
    """What a function gives for a text, as a word; None where it raises."""
    try:
        found = function(text)
    except (ValueError, IndexError, TypeError):
        return None
    if kind is TEXT:
        return program.texts.get(found)
    if kind is FLOAT:
        return int(struct.unpack("<q", struct.pack("<d", found))[0])
    return int(found) if abs(found) < 1 << 62 else None


def _words(values: list[int]) -> str:
    return ", ".join(f"i64 {one}" for one in values)


def _rank(known: int, count: int, places: list[int]) -> str:
    return f"""
@text_ranks = internal constant [{count} x i64] [{_words(places)}]
define internal i64 @text_rank(i64 %text) {{
  %is_known = icmp ult i64 %text, {known}
  %at = select i1 %is_known, i64 %text, i64 0
  %place = getelementptr i64, ptr @text_ranks, i64 %at
  %rank = load i64, ptr %place, align 8
  %found = select i1 %is_known, i64 %rank, i64 -1
  ret i64 %found
}}"""


def _letters(program: Program, texts: list[str]) -> str:
    """A function of a text's number and an index, which gives a letter's number; -1 if it is not known."""
    counts = [*map(len, texts)]
    begins = [*itertools.accumulate(counts, initial=0)]
    letters = [program.texts.get(each, -1) for text in texts for each in text]
    return f"""
@letter_counts = internal constant [{len(texts)} x i64] [{_words(counts)}]
@letter_begins = internal constant [{len(begins)} x i64] [{_words(begins)}]
@letters = internal constant [{len(letters) + 1} x i64] [{_words([*letters, -1])}]
define internal i64 @text_letter(i64 %text, i64 %index) {{
  %is_known = icmp ult i64 %text, {len(texts)}
  %at = select i1 %is_known, i64 %text, i64 0
  %count.at = getelementptr i64, ptr @letter_counts, i64 %at
  %count = load i64, ptr %count.at, align 8
  %is_from_end = icmp slt i64 %index, 0
  %moved = add i64 %index, %count
  %place = select i1 %is_from_end, i64 %moved, i64 %index
  %is_inside = icmp ult i64 %place, %count
  %is_there = and i1 %is_known, %is_inside
  %begin.at = getelementptr i64, ptr @letter_begins, i64 %at
  %begin = load i64, ptr %begin.at, align 8
  %behind = select i1 %is_there, i64 %place, i64 0
  %letter = add i64 %begin, %behind
  %letter.at = getelementptr i64, ptr @letters, i64 %letter
  %number = load i64, ptr %letter.at, align 8
  %found = select i1 %is_there, i64 %number, i64 -1
  ret i64 %found
}}"""


def _table(number: int, known: int, count: int, rows: list[int | None]) -> str:
    has = ", ".join(f"i8 {int(one is not None)}" for one in rows)
    return f"""
@text_known_{number} = internal constant [{count} x i8] [{has}]
@text_words_{number} = internal constant [{count} x i64] [{_words([one or 0 for one in rows])}]
define internal i1 @text_has_{number}(i64 %text) {{
  %is_known = icmp ult i64 %text, {known}
  %at = select i1 %is_known, i64 %text, i64 0
  %place = getelementptr i8, ptr @text_known_{number}, i64 %at
  %row = load i8, ptr %place, align 1
  %is_there = icmp ne i8 %row, 0
  %found = and i1 %is_known, %is_there
  ret i1 %found
}}
define internal i64 @text_gets_{number}(i64 %text) {{
  %place = getelementptr i64, ptr @text_words_{number}, i64 %text
  %found = load i64, ptr %place, align 8
  ret i64 %found
}}"""
