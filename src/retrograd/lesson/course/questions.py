"""Questions with their right answers, computed from the figures, and with what each wrong answer would mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ...errors import DataError
from ...trace.trace import Edge, Node
from .figures import Figure
from .inline import Text
from .source import QuestionSource
from .sums import evaluate, shown

__all__ = ["Case", "Choice", "Field", "Question", "Verdict", "question"]

#: An answer may be this far off, relative to the right one, unless the question says otherwise.
TOLERANCE = 0.005

#: A wrong answer may be this far off from what it is taken for: two digits are enough.
ROUNDING = 0.02


@dataclass(frozen=True, slots=True)
class Case:
    """A number that people answer, and what it means when it is wrong."""

    value: float
    says: str


@dataclass(frozen=True, slots=True)
class Term:
    """One contribution to a gradient: a local derivative, and the gradient of the node that it comes from."""

    local: float
    upstream: str  #: as its field is labelled, whether it is asked for or not
    grad: float


@dataclass(frozen=True, slots=True)
class Field:
    """One number that is asked for."""

    label: str
    answer: float
    cases: tuple[Case, ...]
    terms: tuple[Term, ...] = ()
    follows: str = ""  #: what is said of a number that is right but for another answer

    def with_given(self, given: Mapping[str, float]) -> float:
        """What the number would be with the answers that were given for the nodes above."""
        return sum(term.local * given.get(term.upstream, term.grad) for term in self.terms)

    def near(self, given: float, tolerance: float) -> bool:
        """Whether a number is the right one, as nearly as it must be."""
        return _near(given, self.answer, tolerance)


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of a choice."""

    text: str
    right: bool
    says: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer is: right or not, and the sentence that belongs to it."""

    right: bool
    says: str


@dataclass(frozen=True)
class Question:
    """A question as the page and the notebook ask it. Its texts still have their inline markup."""

    source: QuestionSource
    kind: str  #: choice, number, gradients, order or report
    choices: tuple[Choice, ...] = ()
    fields: tuple[Field, ...] = ()
    orders: tuple[Figure, ...] = ()
    tolerance: float = TOLERANCE
    figure: str = ""
    hints: tuple[str, ...] = ()
    right: str = ""
    otherwise: str = ""
    nearly: str = ""  #: what is said of a number with too few digits; empty where the right one is whole

    @property
    def name(self) -> str:
        return self.source.name

    def judge(self, answer: Any) -> Verdict:
        """Judge an answer: a choice's number from 1 or its text, a number, names with numbers, or lists of names.

        Raises ValueError when it is no answer to this kind of question.
        """
        match self.kind:
            case "choice":
                return self._judge_choice(answer)
            case "number" | "gradients":
                return self._judge_numbers(answer)
            case "order":
                return self._judge_orders(answer)
        return Verdict(bool(answer), self.right if answer else self.otherwise)

    def _judge_choice(self, answer: Any) -> Verdict:
        for number, choice in enumerate(self.choices, start=1):
            if answer == number or str(answer).strip(" .").lower() == choice.text.strip(" .").lower():
                return Verdict(choice.right, choice.says)
        raise ValueError(f"the answer to {self.name} is a number from 1 to {len(self.choices)}.")

    def _judge_numbers(self, answer: Any) -> Verdict:
        given = answer if isinstance(answer, Mapping) else {self.fields[0].label: answer}
        missing = [one.label for one in self.fields if one.label not in given]
        if missing:
            raise ValueError(
                f"the answer to {self.name} has a number for each of {', '.join(f.label for f in self.fields)}."
            )
        numbers = {one.label: float(given[one.label]) for one in self.fields if given[one.label] is not None}
        wrong = [
            one for one in self.fields if one.label in numbers and not one.near(numbers[one.label], self.tolerance)
        ]
        left = [one.label for one in self.fields if one.label not in numbers]
        if not wrong and not left:
            return Verdict(True, self.right)
        says = [self._follows(one, numbers, wrong) or self._meaning(one, numbers[one.label]) for one in wrong]
        if self.kind == "gradients":
            says = [f"`{one.label}`: {text}" for one, text in zip(wrong, says, strict=True)]
        if left:
            says += [*([] if wrong else ["What is there is right."]), f"Still to be filled in: {', '.join(left)}."]
        return Verdict(False, " ".join(says))

    def _follows(self, one: Field, numbers: Mapping[str, float], wrong: Sequence[Field]) -> str:
        """What is said of a number that is right but for a wrong one above it; empty for any other."""
        above = [term.upstream for term in one.terms if any(other.label == term.upstream for other in wrong)]
        wanted = one.with_given(numbers)
        if not above or not _near(numbers[one.label], wanted, self.tolerance):
            return ""
        return one.follows.replace("{names}", " and ".join(f"`{name}`" for name in dict.fromkeys(above)))

    def _meaning(self, one: Field, given: float) -> str:
        case = min(one.cases, key=lambda case: abs(given - case.value), default=None)
        if case is not None and _near(given, case.value, self.tolerance):
            return case.says
        if self.nearly and one.near(given, ROUNDING):
            return self.nearly
        return case.says if case is not None and _near(given, case.value, ROUNDING) else self.otherwise

    def _judge_orders(self, answer: Any) -> Verdict:
        orders = answer if isinstance(answer, Mapping) else {self.orders[0].name: answer}
        left = [figure.name for figure in self.orders if not orders.get(figure.name)]
        for figure in self.orders:
            order = orders.get(figure.name) or []
            if figure.name in left:
                continue
            if sorted(order) != sorted(figure.players):
                raise ValueError(
                    f"the answer for {figure.name} is a list of {', '.join(figure.players)} in some order."
                )
            late = figure.late(order)
            if late:
                early, user = late[0]
                return Verdict(False, f"{figure.name}: {self.otherwise.replace('EARLY', early).replace('USER', user)}")
        if left:
            return Verdict(False, f"What is there is right. Still to be placed: {', '.join(left)}.")
        return Verdict(True, self.right)


def _near(given: float, wanted: float, tolerance: float) -> bool:
    return abs(given - wanted) <= tolerance * abs(wanted) + 1e-9


def question(source: QuestionSource, figures: Mapping[str, Figure], words: Mapping[str, str], text: Text) -> Question:
    """A question with its answers.

    Raises DataError, with the place, where it is not one: no right choice or two, fewer than two hints, an answer that
    is not a number, or a wrong answer that is the right one.
    """
    try:
        made = _made(source, figures, words)
    except DataError as error:
        raise source.place.error(f"in the question {source.name}: {error}") from None
    if len(made.hints) != 2:
        raise source.place.error(f"the question {source.name} has {len(made.hints)} hints, and it needs two.")
    if made.kind != "choice" and not (made.right and made.otherwise):
        raise source.place.error(f"the question {source.name} needs right: … and otherwise: ….")
    for said in [*source.prompt, made.right, made.otherwise, *made.hints, *(choice.says for choice in made.choices)]:
        text.html(said, source.place)
    return made


def _made(source: QuestionSource, figures: Mapping[str, Figure], words: Mapping[str, str]) -> Question:
    shared: dict[str, Any] = {
        "hints": tuple(source.all("hint")),
        "right": source.one("right"),
        "otherwise": source.one("otherwise"),
        "tolerance": float(source.one("tolerance", str(TOLERANCE))),
        "figure": source.options.get("figure", ""),
    }
    if source.choices:
        return Question(source, "choice", choices=_choices(source, figures), **shared)
    if source.one("answer"):
        one = _number(source, figures, shared["tolerance"])
        nearly = "" if one.answer.is_integer() else words["nearly"]
        return Question(source, "number", fields=(one,), nearly=nearly, **shared)
    if source.one("gradients"):
        figure = _figure(shared["figure"], figures)
        fields = tuple(_gradient(figure, name, words) for name in source.one("gradients").split())
        return Question(source, "gradients", fields=fields, **shared)
    if source.one("order"):
        return Question(
            source, "order", orders=tuple(_figure(n, figures) for n in source.one("order").split()), **shared
        )
    if source.options.get("kind") == "report":
        return Question(source, "report", **shared)
    raise DataError("it has neither choices nor answer: …, gradients: … or order: ….")


def _figure(name: str, figures: Mapping[str, Figure]) -> Figure:
    if name not in figures:
        raise DataError(f"there is no figure {name!r}; there are {', '.join(figures)}.")
    return figures[name]


def _choices(source: QuestionSource, figures: Mapping[str, Figure]) -> tuple[Choice, ...]:
    """The answers, mixed (always in the same way), so that their order in the source gives nothing away."""
    choices = []
    for option in source.choices:
        right = option.condition == "x" if option.condition in ("", "x") else bool(evaluate(option.condition, figures))
        if not option.meaning:
            raise DataError(f"the answer {option.text!r} does not say, indented below it, what choosing it means.")
        choices.append(Choice(option.text, right, option.meaning))
    right_ones = [choice.text for choice in choices if choice.right]
    if len(right_ones) != 1:
        raise DataError(f"one answer is right, and here {len(right_ones)} are: {right_ones}.")
    return tuple(sorted(choices, key=lambda own: sha256(f"{source.name} {own.text}".encode()).digest()))


def _braced(text: str, figures: Mapping[str, Figure]) -> float:
    value = evaluate(text.strip().removeprefix("{").removesuffix("}"), figures)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{text} is {value!r}, and an answer is a number.")
    return float(value)


def _number(source: QuestionSource, figures: Mapping[str, Figure], tolerance: float) -> Field:
    one = Field(source.one("unit") or "answer", _braced(source.one("answer"), figures), ())
    cases: list[Case] = []
    for key, says in source.fields:
        if not key.startswith("when "):
            continue
        value = _braced(key.removeprefix("when "), figures)
        if one.near(value, tolerance):
            raise DataError(f"{key} is {shown(value)}, which is the right answer.")
        if any(abs(case.value - value) < 1e-9 for case in cases):
            raise DataError(f"{key} is {shown(value)}, as is another wrong answer: say both in one.")
        cases.append(Case(value, says))
    return Field(one.label, one.answer, tuple(cases))


def _by_its_own_data(figure: Figure, node: Node, edges: Sequence[Edge]) -> float:
    """The gradient of a node if each product gave it its own data, and not that of the other factor."""
    nodes = {other.id: other for other in figure.trace.nodes}
    uses = [(nodes[edge.result], edge.local or 0.0) for edge in edges]
    return sum((node.data if above.row == "mul" else local) * (above.grad or 0.0) for above, local in uses)


def _gradient(figure: Figure, name: str, words: Mapping[str, str]) -> Field:
    """A gradient to be filled in, with what the numbers that people put there by mistake mean."""
    node = figure.node(name)
    answer = Field(f"{name}.grad", node.grad or 0.0, ())
    contributions = figure.contributions(name)
    edges = {edge.id: edge for edge in figure.trace.edges}
    locals_ = [edges[item.edge].local or 0.0 for item in contributions]
    names = [other.name for other in figure.trace.nodes]
    guesses: list[tuple[float, str]] = [(figure.wrong(assign=True)[name], words["wrong_assign"])]
    if len(contributions) > 1:
        for item in contributions:
            via = names[edges[item.edge].result]
            guesses.append((item.contribution, words["wrong_one_path"].replace("{via}", via)))
    if swapped := _by_its_own_data(figure, node, [edges[item.edge] for item in contributions]):
        guesses.append((swapped, words["wrong_swap"]))
    guesses.append((sum(locals_), words["wrong_local_only"]))
    guesses.append((-answer.answer, words["wrong_sign"]))
    guesses.append((node.data, words["wrong_data"]))
    guesses.append((0.0, words["wrong_nothing"]))
    for item in contributions:
        guesses.append((figure.node(names[edges[item.edge].result]).grad or 0.0, words["wrong_upstream_only"]))
    cases: list[Case] = []
    for value, says in guesses:
        known = any(abs(case.value - value) < 1e-9 for case in cases)
        if not known and not answer.near(value, TOLERANCE):
            cases.append(Case(value, says.replace("{name}", name).replace("{count}", str(len(contributions)))))
    terms = tuple(
        Term(edges[item.edge].local or 0.0, f"{above}.grad", figure.node(above).grad or 0.0)
        for item in contributions
        for above in [names[edges[item.edge].result]]
    )
    return Field(answer.label, answer.answer, tuple(cases), terms, words["wrong_follows"])
