"""A name that a function assigns a second time becomes a variable of its own, which may be of another type.

``xs = [float(x) for x in xs]`` gives the name of a parameter to something else. Where a statement that is in no loop
and under no test assigns a name, what comes after it reads what that statement has given, and nothing else: so the
name is another one from there on. So it is in a loop that assigns to it, and in the rest of a block, where nothing
else reads what these give.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TypeGuard

__all__ = ["as_written", "with_versions"]

#: Between a name and its number, in what users do not write.
_MARK = "#"
#: The same with a number that no version has.
_UNLIKE = f"{_MARK}0"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
#: What has gone over a generator before the statement ends in which it is called.
_AT_ONCE = {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}


def as_written(text: str) -> str:
    """A text about a function, with the names that its source has."""
    parts = text.split(_MARK)
    return parts[0] + "".join(part.lstrip("0123456789") for part in parts[1:])


def with_versions(definition: ast.FunctionDef, shadowed: Collection[str]) -> set[str]:
    """Rename the variables of a function where it assigns them a second time.

    Args:
        definition: The function; it is changed in place.
        shadowed: The names outside of it that hold something else than Python's own functions.

    Returns:
        The names that are assigned once, by a statement that is in no loop and under no test; parameters that stay
        what they are among them.
    """
    kept = set(_kept(definition, shadowed))
    parameters = [one.arg for one in ast.walk(definition.args) if isinstance(one, ast.arg)]
    _rename_unread(definition, {*kept, *parameters})
    _rename_apart(definition, {*kept, *parameters})
    renamer = _Renamer(kept, parameters)
    for statement in definition.body:
        renamer.statement(statement)
    return renamer.once


def _rename_unread(definition: ast.FunctionDef, kept: Collection[str]) -> None:
    """Give a name that nothing reads another one in each place: ``_, size, _ = row``."""
    read, stored = {*kept}, dict[str, list[ast.Name]]()
    for node in ast.walk(definition):
        if _is_assigned(node):
            stored.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.Name):
            read.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read.add(node.target.id)
    for name in stored.keys() - read:
        for number, one in enumerate(stored[name][1:], 2):
            one.id = f"{name}{_UNLIKE}{number}"


def _rename_apart(definition: ast.FunctionDef, kept: Collection[str]) -> None:
    """Give a name another one where a loop, or the rest of a block, begins to use it for itself.

    ``for p in points: …`` and ``for p in pairs: …`` have two variables, unless a ``p`` is read after one of them.
    """
    regions: dict[str, list[list[ast.AST]]] = {}
    for targets, statement, rest in _regions(definition):
        for name in {one.id for target in targets for one in ast.walk(target) if _is_assigned(one)} - {*kept}:
            known = regions.setdefault(name, [])
            if not any(statement in region for region in known):  # which has begun before
                known.append([*targets, *rest])
    for name, found in regions.items():
        uses = [[*_uses(region, name)] for region in found]
        covered = [id(one) for many in uses for one in many]
        if len(found) < 2 or sorted(covered) != sorted(map(id, _uses([definition], name))):
            continue  # it is read elsewhere, or one of them is in another
        for number, many in enumerate(uses[1:], 2):
            for one in many:
                one.id = f"{name}{_UNLIKE}{number}"


def _regions(definition: ast.FunctionDef) -> Iterator[tuple[list[ast.expr], ast.stmt, list[ast.stmt]]]:
    """What a loop assigns to in each iteration, or a statement in a block of another one; and where it is read then."""
    for node in ast.walk(definition):
        if isinstance(node, ast.For):
            yield [node.target], node, node.body
        for name in ("body", "orelse", "finalbody") if node is not definition else ():
            block: list[ast.stmt] = getattr(node, name, [])
            for i, one in enumerate(block if isinstance(block, list) else ()):
                if isinstance(one, ast.Assign) and all(map(_are_names, one.targets)):
                    yield one.targets, one, block[i + 1 :]


def _uses(nodes: Sequence[ast.AST], name: str) -> Iterator[ast.Name]:
    """Where the variable of that name is, and not one of a comprehension."""
    rest = [*nodes]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Name) and node.id == name:
            yield node
        children = [*ast.iter_child_nodes(node)]
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            bound = {one.id for each in node.generators for one in ast.walk(each.target) if isinstance(one, ast.Name)}
            children = [node.generators[0].iter] if name in bound else children
        rest += children


def _is_assigned(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _kept(definition: ast.FunctionDef, shadowed: Collection[str]) -> Iterator[str]:
    """The names that are read later than where they stand, by functions in it and by generators, or are no own ones."""
    at_once: set[int] = set()
    pythons = _AT_ONCE - {one.id for one in ast.walk(definition) if _is_assigned(one)} - {*shadowed}
    for node in ast.walk(definition):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in pythons:
            at_once.update(id(one) for one in node.args)
    for node in ast.walk(definition):
        is_later = isinstance(node, ast.GeneratorExp) and id(node) not in at_once
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        elif isinstance(node, ast.Delete):
            yield from (one.id for one in node.targets if isinstance(one, ast.Name))
        elif is_later or (isinstance(node, _FUNCTIONS) and node is not definition):
            yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


class _Renamer(ast.NodeTransformer):
    """Gives names their versions, statement by statement."""

    def __init__(self, kept: set[str], parameters: Sequence[str]) -> None:
        self._kept = kept
        self._versions = dict.fromkeys(parameters, 1)
        self._now: dict[str, str] = {}
        self._hidden: list[set[str]] = []  # the names that the comprehensions bind around what is renamed
        self.once: set[str] = set(parameters)

    def statement(self, node: ast.stmt) -> None:
        """Rename in a statement of the function's own body."""
        if isinstance(node, ast.Assign) and all(map(_are_names, node.targets)):
            node.value = self.visit(node.value)
            for target in node.targets:
                self._begin(target)
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            node.value = self.visit(node.value)
            self._begin(node.target)
        else:
            self.visit(node)

    def _begin(self, target: ast.expr) -> None:
        """New versions of the names that are assigned."""
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                name, count = one.id, self._versions.get(one.id, 0) + 1
                self._versions[name] = count
                if count > 1 and name not in self._kept:
                    self._now[name] = one.id = f"{name}{_MARK}{count}"
                    self.once.add(one.id)
                elif count > 1:
                    self.once.discard(name)
                else:
                    self.once.add(name)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if not any(node.id in names for names in self._hidden):
            if isinstance(node.ctx, ast.Store):
                self._versions.setdefault(node.id, 1)
                self.once.discard(self._now.get(node.id, node.id))
            node.id = self._now.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self._versions.setdefault(node.name, 1)
        self.once.discard(node.name)
        return node  # the names that it uses are kept

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        """Its first iterable is outside of it; the names of its targets are its own."""
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        bound = {one.id for each in node.generators for one in ast.walk(each.target) if isinstance(one, ast.Name)}
        self._hidden.append(bound)
        for each in node.generators:
            if each is not first:
                each.iter = self.visit(each.iter)
            each.ifs = [self.visit(one) for one in each.ifs]
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(node, name, self.visit(getattr(node, name)))
        self._hidden.pop()
        return node


def _are_names(target: ast.expr) -> bool:
    """Whether an assignment to it gives names alone."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(_are_names, target.elts))
    return isinstance(target, ast.Name)
