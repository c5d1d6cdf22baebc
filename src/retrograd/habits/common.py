"""What the tables of habits share: the sentences that several names have in common."""

from __future__ import annotations

__all__ = [
    "ARRAYS",
    "COMPARE",
    "DRAW",
    "FINITE",
    "FREEZE",
    "GROUPS",
    "PARTS",
    "PLACE",
    "SHAPE",
    "SPREAD",
    "SUMS",
    "each",
]


def each(names: str, sentence: str) -> dict[str, str]:
    """The same sentence for several names; ``{}`` in it is the name."""
    return {name: sentence.replace("{}", name) for name in names.split()}


FREEZE = (
    "what moves is what the optimizer is given, such as optim.Adam(model.head); v.detach() cuts the gradient of one use"
)
GROUPS = (
    "make an optimizer for each group, head, body = optim.Adam(model.head, lr=1e-2), optim.Adam(model.body, lr=1e-4), "
    "and call step() of both; the settings of one are its attributes, optimizer.lr = 1e-3"
)
PLACE = "there is one place and one type, a float64 in memory: leave it out"
SHAPE = "a Value is one number: np.array(values) has the shapes of several"
PARTS = "a Value is one number: a list or a NumPy array of Values is indexed and cut as any other"
COMPARE = "Values compare by their numbers: Python's operators, max(values), min(values) and sorted(values) take them"
ARRAYS = "np.array(rows) of Values takes NumPy's @, np.outer and np.einsum; rg.dot(xs, ys) is one node"
SPREAD = "write rg.mean([(x - m) ** 2 for x in xs]) with m = rg.mean(xs), and rg.math.sqrt of it for the deviation"
SUMS = "itertools.accumulate(values) gives the sums, np.cumsum those of an array"
DRAW = "rg.explore(v) shows the graph, and rg.explain(v).to_dot() writes it for Graphviz"
FINITE = "math.{}(v.data) asks of the plain number, and rg.detect_anomaly() where a NaN comes from"
