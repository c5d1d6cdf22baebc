"""The folding of a large graph: a tree of groups, so that no view has to show more than a few dozen things at once.

Operations are grouped by the calls that recorded them (see :mod:`.callgraph`); inside a call by unit, a set of
operations connected with each other, such as one row of a matrix product or one head of an attention; where no
calls were recorded, by what is computed for one use alone, such as a neuron; leaves by their names,
``layers[0].attn_wq.weight[3][5]``; and groups that are still too large, by order of creation. Every group of
operations is a contiguous range of them, so that folded groups never depend on each other in a circle.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..errors import counted
from .callgraph import Calls
from .graph import Graph
from .units import NodeRange, connected, trees

__all__ = ["MOST", "Group", "Grouping", "grouped"]

#: The most children that a group has.
MOST = 64
#: Up to this many leaves are shown beside the groups; more get groups of their own.
_LEAVES = 24

#: At most this many of the last nodes of a large tree are taken off, so that the trees below can be divided.
_PEELED = 3
#: Stands between the first and the last name in the label of a part.
_TO = " … "
#: From this many on, the nodes between two groups of a large group become a group.
_RUN = 4

Kind = Literal["program", "module", "call", "unit", "inputs", "part"]


@dataclass(slots=True)
class Group:
    """A part of the graph that can be shown as one thing."""

    parent: int | None  #: position in ``Grouping.groups``, smaller than its own; None for the whole graph
    kind: Kind
    label: str  #: unique among the children of its parent
    path: str  #: where a module, a unit of it, or parameters are in the model: ``layers[0].attn_wq[3]``


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups, parents first, and the group of every node."""

    groups: list[Group]
    owner: list[int]


@dataclass(slots=True, eq=False)
class _Branch:
    """A group while the tree is built."""

    kind: Kind
    label: str
    path: str = ""
    branches: list[_Branch] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    first: int = 0  #: the smallest node number inside


def grouped(graph: Graph, calls: Calls | None, title: str = "") -> Grouping:
    """Group every node of ``graph``; without ``calls``, by names and order of creation only."""
    root = _Branch("program", title)
    _add_operations(root, graph, calls or Calls())
    _add_leaves(root, graph)
    _add_constants(root, graph)
    _TreeBalancer(graph).balance(root)
    return _flat(root, len(graph.values))


# --- operations -----------------------------------------------------------------------------------


def _add_operations(root: _Branch, graph: Graph, calls: Calls) -> None:
    """A branch for each contiguous range of operations that one call recorded, its own calls included.

    A call that was resumed, as generators are, has several ranges: a group that is one contiguous range never makes
    a cycle with the others when it is folded.
    """
    paths = _Paths(calls)
    opened: list[tuple[int, _Branch]] = [(0, root)]
    branches = []
    for node in graph.interior:
        path = paths.of(calls.of.get(node, 0))
        shared = 0
        while shared < min(len(path), len(opened)) and path[shared] == opened[shared][0]:
            shared += 1
        del opened[shared:]
        for number in path[shared:]:
            call = calls.calls[number]
            branch = _Branch(call.kind, call.label, call.path, first=graph.ids[node])
            opened[-1][1].branches.append(branch)
            opened.append((number, branch))
            branches.append(branch)
        opened[-1][1].nodes.append(graph.ids[node])
    units = _Units(graph)
    for branch in [root, *branches]:
        units.add(branch)


class _Paths:
    """The calls around each call, the outermost first."""

    def __init__(self, calls: Calls) -> None:
        self.calls, self.known = calls.calls, {0: [0]}

    def of(self, number: int) -> list[int]:
        if number not in self.known:
            self.known[number] = [*self.of(self.calls[number].parent or 0), number]
        return self.known[number]


class _Units:
    """Divides the operations of one call; calls made in the middle of a unit become part of that unit."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.inputs = {graph.ids[node]: graph.inputs[node] for node in graph.interior}
        self.uses: dict[int, list[int]] = {}
        for node, operands in self.inputs.items():
            for operand in operands:
                self.uses.setdefault(operand, []).append(node)

    def add(self, branch: _Branch) -> None:
        """Divide a branch into its connected components; a large one that is all connected, into trees."""
        components = connected(branch.nodes, self.inputs)
        if len(components) > 1 and branch.kind != "program":
            units = []
            for index, component in enumerate(components):
                path = f"{branch.path}[{index}]" if branch.path else ""
                units.append([self.unit(branch, component, f"[{index}]", path)])
            self.replace(branch, units)
        elif len(branch.nodes) > MOST:
            rows = trees(branch.nodes, self.inputs, self.uses)
            if len(rows) > 1:
                units = [[self.unit(branch, tree) for tree in row] for row in rows]
                self.replace(branch, units)
                for unit in [unit for row in units for unit in row if len(unit.nodes) > MOST]:
                    self.divide(unit)

    def divide(self, unit: _Branch) -> None:
        """Divide a large tree into the trees below its last nodes, unless one of those is almost all of it."""
        for peeled in range(1, _PEELED + 1):
            inner, tops = unit.nodes[:-peeled], unit.nodes[-peeled:]
            rows = trees(inner, self.inputs, self.uses)
            if 2 * max(tree.last - tree.first for row in rows for tree in row) < len(unit.nodes):
                unit.nodes = inner
                self.replace(unit, [[self.unit(unit, tree) for tree in row] for row in rows])
                unit.nodes += tops
                return

    def unit(self, branch: _Branch, nodes: NodeRange, label: str = "", path: str = "") -> _Branch:
        """A range of a branch's nodes as a branch of its own, named after its last node unless it has a label."""
        own = branch.nodes[bisect_left(branch.nodes, nodes.first) : bisect(branch.nodes, nodes.last)]
        inside = [call for call in branch.branches if nodes.first < call.first < nodes.last]
        return _Branch("unit", label or self.described(own[-1]), path, inside, own, nodes.first)

    def described(self, node: int) -> str:
        """``v17: ReLU``."""
        value = self.graph.values[node]
        return f"{self.graph.about[node].name}: {'' if value is None else value._op}"

    def replace(self, branch: _Branch, rows: list[list[_Branch]]) -> None:
        """Replace a branch's nodes by units: a single node stands for itself, a row of several units is a part."""
        placed = {id(call) for row in rows for unit in row for call in unit.branches}
        branch.branches = [call for call in branch.branches if id(call) not in placed]
        branch.nodes = []
        for row in rows:
            units = [unit for unit in row if len(unit.nodes) > 1]
            branch.nodes += [unit.nodes[0] for unit in row if len(unit.nodes) == 1]
            if len(units) > 1:
                label = f"{units[0].label}{_TO}{units[-1].label}"
                branch.branches.append(_Branch("part", label, branch.path, units, [], units[0].first))
            else:
                branch.branches += units


# --- leaves and constants -------------------------------------------------------------------------

_PARTS = re.compile(r"\[[^\]]*\]|\.?[^.\[\]]+")


def _add_leaves(root: _Branch, graph: Graph) -> None:
    """Few leaves stand for themselves; many are grouped by the parts of their names, but for the last."""
    numbers = [graph.ids[leaf] for leaf in graph.leaves]
    if len(numbers) <= _LEAVES:
        root.nodes += numbers
        return
    inputs = _Branch("inputs", "inputs")
    root.branches.append(inputs)
    known: dict[str, _Branch] = {"": inputs}
    for number in numbers:
        path, branch = "", inputs
        for part in _PARTS.findall(graph.about[number].name)[:-1]:
            path += part
            if path not in known:
                known[path] = _Branch("inputs", part.removeprefix("."), path)
                branch.branches.append(known[path])
            branch = known[path]
        branch.nodes.append(number)
    for branch in inputs.branches:
        _join_single(branch)


def _join_single(branch: _Branch) -> None:
    """A group whose only child is a group becomes one with it: ``layers`` and ``[0]`` make ``layers[0]``."""
    while len(branch.branches) == 1 and not branch.nodes:
        only = branch.branches[0]
        stem = "" if only.label.startswith("[") else "."
        branch.label, branch.path = f"{branch.label}{stem}{only.label}", only.path
        branch.branches, branch.nodes = only.branches, only.nodes
    for inner in branch.branches:
        _join_single(inner)


def _add_constants(root: _Branch, graph: Graph) -> None:
    """A constant goes with the operation that uses it, which comes next in the numbering."""
    branch_of: dict[int, _Branch] = {}
    pending = [root]
    while pending:
        branch = pending.pop()
        branch_of.update(dict.fromkeys(branch.nodes, branch))
        pending += branch.branches
    waiting: list[int] = []
    for number, value in enumerate(graph.values):
        if value is None:
            waiting.append(number)
        elif waiting:
            branch_of[number].nodes += waiting
            waiting = []


# --- balancing ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _TreeBalancer:
    """From the bottom up: drop empty groups, put children in order of creation, split groups that are too large."""

    graph: Graph

    def balance(self, root: _Branch) -> None:
        order, pending = [], [root]
        while pending:
            branch = pending.pop()
            order.append(branch)
            pending += branch.branches
        for branch in reversed(order):
            branch.branches = sorted((b for b in branch.branches if b.branches or b.nodes), key=lambda b: b.first)
            branch.nodes.sort()
            branch.first = min([*branch.nodes[:1], *(inner.first for inner in branch.branches[:1])], default=0)
            if len(branch.branches) + len(branch.nodes) > MOST and branch.branches:
                self.gather(branch)
            while len(branch.branches) + len(branch.nodes) > MOST:
                self.split(branch)
            _number_labels(branch.branches)

    def gather(self, branch: _Branch) -> None:
        """Put the nodes between two groups into a group of their own."""
        runs: dict[int, list[int]] = {}
        starts = [inner.first for inner in branch.branches]
        for node in branch.nodes:
            runs.setdefault(bisect(starts, node), []).append(node)
        branch.nodes = [node for run in runs.values() if len(run) < _RUN for node in run]
        for run in runs.values():
            if len(run) >= _RUN:
                part = _Branch("part", self.described(run), branch.path, nodes=run, first=run[0])
                while len(part.nodes) + len(part.branches) > MOST:
                    self.split(part)
                branch.branches.append(part)
        branch.branches.sort(key=lambda inner: inner.first)

    def described(self, nodes: Sequence[int]) -> str:
        """What a run of nodes is: ``ReLU (64)``, or only how many."""
        values = [self.graph.values[node] for node in nodes]
        labels = {"" if value is None else value._op for value in values}
        return (
            f"{labels.pop()} ({len(nodes)})" if len(labels) == 1 and "" not in labels else counted(len(nodes), "node")
        )

    def split(self, branch: _Branch) -> None:
        """Put a branch's children, in order, into parts of at most MOST, called by their first and last."""
        _number_labels(branch.branches)
        children: list[tuple[int, _Branch | None]] = [(node, None) for node in branch.nodes]
        children += [(inner.first, inner) for inner in branch.branches]
        children.sort(key=lambda child: child[0])
        size = -(-len(children) // -(-len(children) // MOST))
        parts: list[_Branch] = []
        for start in range(0, len(children), size):
            some = children[start : start + size]
            first, last = (inner.label if inner else self.graph.about[node].name for node, inner in (some[0], some[-1]))
            part = _Branch("part", f"{first.split(_TO)[0]}{_TO}{last.split(_TO)[-1]}", branch.path, first=some[0][0])
            part.nodes = [node for node, inner in some if inner is None]
            part.branches = [inner for _, inner in some if inner is not None]
            parts.append(part)
        branch.branches, branch.nodes = parts, []


def _number_labels(branches: Iterable[_Branch]) -> None:
    """Tell siblings of one name apart: ``norm``, ``norm #2``."""
    counts: dict[str, int] = {}
    for branch in branches:
        counts[branch.label] = counts.get(branch.label, 0) + 1
        if counts[branch.label] > 1:
            branch.label = f"{branch.label} #{counts[branch.label]}"


def _flat(root: _Branch, count: int) -> Grouping:
    groups: list[Group] = []
    owner = [0] * count
    pending: list[tuple[_Branch, int | None]] = [(root, None)]
    while pending:
        branch, parent = pending.pop()
        number = len(groups)
        groups.append(Group(parent, branch.kind, branch.label, branch.path))
        for node in branch.nodes:
            owner[node] = number
        pending += [(inner, number) for inner in reversed(branch.branches)]
    return Grouping(groups, owner)
