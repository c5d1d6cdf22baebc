"""What an examination finds: each rule's verdict, and of the first that fails everything there is to say."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from .subject import Trouble

__all__ = ["Failure", "Report", "Row", "RuleResult", "Status"]


class Status(StrEnum):
    """A rule's verdict."""

    passed = "passed"
    failed = "failed"
    skipped = "skipped"  #: it cannot be examined before another rule holds
    absent = "absent"  #: the class does not have it yet, and need not


@dataclass(frozen=True, slots=True)
class Row:
    """One number that was looked at: what came from the learner's class, and what is right."""

    name: str  #: ``a.grad``
    came: str
    expected: str
    right: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that does not hold, shown on the smallest expression that was found."""

    rule: str
    operation: str = ""  #: the operation, where one alone is wrong
    mistake: str = ""  #: the name of the mistake, where it was recognized
    program: tuple[str, ...] = ()  #: the expression as lines to paste
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()  #: which path was lost, what a nudge says
    trouble: Trouble | None = None  #: what the learner's code raised
    headline: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "rule": self.rule,
            "operation": self.operation,
            "mistake": self.mistake,
            "headline": self.headline,
            "explanation": self.explanation,
            "program": list(self.program),
            "numbers": [asdict(row) for row in self.rows],
            "notes": list(self.notes),
            "error": self.trouble.to_json() if self.trouble else None,
            "hints": list(self.hints),
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Failure:
        """What ``to_json`` made."""
        return cls(
            told["rule"], told["operation"], told["mistake"], tuple(told["program"]),
            tuple(Row(**row) for row in told["numbers"]), tuple(told["notes"]),
            Trouble(**told["error"]) if told["error"] else None,
            told["headline"], told["explanation"], tuple(told["hints"]),
        )  # fmt: skip


@dataclass(slots=True)
class RuleResult:
    """One rule of the report."""

    name: str
    title: str  #: what it asks
    status: Status = Status.skipped
    says: str = "not examined"  #: what holds or fails, or why it was not examined
    failures: list[Failure] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As plain data, without the failures: the first of all rules is told in full elsewhere."""
        return {"rule": self.name, "title": self.title, "status": self.status.value, "says": self.says}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> RuleResult:
        """What ``to_json`` made."""
        return cls(told["rule"], told["title"], Status(told["status"]), told["says"])


@dataclass(slots=True)
class Report:
    """Everything that an examination found."""

    rules: list[RuleResult]
    first_failure: Failure | None = None
    absent: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "ok": self.first_failure is None,
            "rules": [rule.to_json() for rule in self.rules],
            "first_failure": self.first_failure.to_json() if self.first_failure else None,
            "not_there_yet": self.absent,
            "remarks": self.remarks,
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Report:
        """What ``to_json`` made."""
        failure = told["first_failure"]
        return cls(
            [RuleResult.from_json(rule) for rule in told["rules"]], Failure.from_json(failure) if failure else None,
            list(told["not_there_yet"]), list(told["remarks"]),
        )  # fmt: skip
