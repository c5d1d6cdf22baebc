"""A trace as a diagram for other programs: Graphviz's DOT, and Mermaid, which Markdown pages show."""

from __future__ import annotations

from .trace import Node, Trace

__all__ = ["to_dot", "to_mermaid"]


def to_dot(trace: Trace) -> str:
    """The graph in Graphviz's language, from left to right: ``dot -Tsvg`` draws it.

    Args:
        trace: What ``rg.explain(…).trace`` is.

    Returns:
        The text of a directed graph.

    Example:
        >>> import retrograd as rg
        >>> print(rg.explain("a * b", a=2, b=3).to_dot())
        digraph L {
          rankdir=LR;
          node [shape=record, fontname="monospace"];
          n0 [label="{a | data 2.0 | grad 3.0}"];
          n1 [label="{b | data 3.0 | grad 2.0}"];
          n2 [label="{L = * | data 6.0 | grad 1.0}"];
          n0 -> n2 [label="3.0"];
          n1 -> n2 [label="2.0"];
        }
        <BLANKLINE>
    """
    lines = ["digraph L {", "  rankdir=LR;", '  node [shape=record, fontname="monospace"];']
    for node in trace.nodes:
        fields = " | ".join(_escaped(text, r'\{}|<>"') for text in _fields(node))
        lines.append(f'  n{node.id} [label="{{{fields}}}"];')
    for edge in trace.edges:
        label = "" if edge.local is None else f' [label="{edge.local!r}"]'
        lines.append(f"  n{edge.operand} -> n{edge.result}{label};")
    return "\n".join([*lines, "}", ""])


def to_mermaid(trace: Trace) -> str:
    """The graph as a flowchart of Mermaid, which GitHub, GitLab and notebooks show in Markdown.

    Args:
        trace: What ``rg.explain(…).trace`` is.

    Returns:
        The text of a flowchart, to be put into a block of the language ``mermaid``.

    Example:
        >>> import retrograd as rg
        >>> print(rg.explain("a * b", a=2, b=3).to_mermaid())
        flowchart LR
          n0["a<br/>data 2.0<br/>grad 3.0"]
          n1["b<br/>data 3.0<br/>grad 2.0"]
          n2["L = *<br/>data 6.0<br/>grad 1.0"]
          n0 -- "3.0" --> n2
          n1 -- "2.0" --> n2
        <BLANKLINE>
    """
    lines = ["flowchart LR"]
    for node in trace.nodes:
        lines.append(f'  n{node.id}["{"<br/>".join(_entities(text) for text in _fields(node))}"]')
    for edge in trace.edges:
        arrow = "-->" if edge.local is None else f'-- "{edge.local!r}" -->'
        lines.append(f"  n{edge.operand} {arrow} n{edge.result}")
    return "\n".join([*lines, ""])


def _fields(node: Node) -> list[str]:
    if node.kind == "constant":
        return [repr(node.data)]
    name = f"{node.name} = {node.op}" if node.kind == "operation" else node.name
    return [name, f"data {node.data!r}", f"grad {node.grad!r}"]


def _escaped(text: str, special: str) -> str:
    return "".join(f"\\{c}" if c in special else c for c in text)


def _entities(text: str) -> str:
    """Mermaid's own escapes: a hash, the number of the character, a semicolon."""
    return "".join(c if c.isalnum() or c in " .=_+-*/" else f"#{ord(c)};" for c in text)
