"""A training run under a cursor: back and on again gives the same bits, and looking changes nothing."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pack_reader import unpack

from retrograd.engine import no_grad
from retrograd.errors import AnomalyError, CheckpointError
from retrograd.explorer import session as sessions
from retrograd.explorer.session import GPTSession, MoonsSession, Session, scores_of, session_for
from retrograd.nn import MLP
from retrograd.training import GPTSettings, MoonsSettings, read_log, train_gpt, train_moons

pytestmark = pytest.mark.native  # the cursor is the same, whichever engine trains, and runs take the other one minutes

MOONS = MoonsSettings(points=12, steps=40)
GPT = GPTSettings(steps=30, n_embd=4, n_head=2, block_size=6)


def losses(session: Session) -> list[float]:
    return [entry.progress.loss for entry in session.entries]


def finish(session: Session) -> list[float]:
    while session.done < session.steps:
        session.step()
    return losses(session)


@pytest.mark.parametrize(("options", "train"), [(MOONS, train_moons), (GPT, train_gpt)], ids=["moons", "gpt"])
def test_the_losses_are_those_of_the_plain_run(options: Any, train: Any, tmp_path: Path) -> None:
    plain = [progress.loss for progress in train(options, tmp_path / "plain", eager=True)]
    assert finish(session_for(options, tmp_path / "session")) == plain


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    folder = tmp_path_factory.mktemp("reference")
    return {name: finish(session_for(options, folder / name)) for name, options in (("moons", MOONS), ("gpt", GPT))}


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(moves=st.lists(st.one_of(st.integers(1, 12), st.integers(-40, -1)), max_size=8), data=st.data())
@pytest.mark.parametrize("name", ["moons", "gpt"])
def test_any_way_back_and_on_gives_the_same_losses(
    name: str, reference: dict[str, list[float]], tmp_path_factory: pytest.TempPathFactory, moves: list[int], data: Any
) -> None:
    options = MOONS if name == "moons" else GPT
    session = session_for(options, tmp_path_factory.mktemp("run") / "run")
    for move in moves:
        if move < 0:
            session.seek(max(0, session.done + move))
        for _ in range(min(move, session.steps - session.done)):
            session.step()
        assert losses(session) == reference[name][: session.done]
        if session.done and data.draw(st.booleans()):
            session.graph(data.draw(st.integers(1, session.done)))
            session.picture()
    assert finish(session) == reference[name]


def test_states_are_let_go_when_there_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: dict[str, list[float]]
) -> None:
    monkeypatch.setattr(sessions, "_KEEP_EVERY", 2)
    monkeypatch.setattr(sessions, "_MOST_KEPT", 4)
    session = session_for(MOONS, tmp_path / "run")
    finish(session)
    assert len(session._kept) <= 4
    for step in (39, 21, 20, 7, 1, 0):
        session.seek(step)
        assert losses(session) == reference["moons"][:step]
    assert finish(session) == reference["moons"]


@pytest.mark.parametrize("step", [-1, 6])
def test_a_step_that_was_not_made_cannot_be_gone_to(step: int, tmp_path: Path) -> None:
    session = session_for(MOONS, tmp_path / "run")
    for _ in range(5):
        session.step()
    with pytest.raises(ValueError, match=f"the steps 0 to 5; {step} is none of them"):
        session.seek(step)
    with pytest.raises(ValueError, match="the steps that were made are 1 to 5; 9 is none"):
        session.graph(9)
    with pytest.raises(ValueError, match="no example 12"):
        session.graph(2, 12)
    assert session.done == 5


# --- looking --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "step"), [(MOONS, 1), (MOONS, 17), (GPT, 1), (GPT, 9)])
def test_the_graph_of_a_step_is_the_one_it_went_down(options: Any, step: int, tmp_path: Path) -> None:
    session = session_for(options, tmp_path / "run")
    for _ in range(20):
        session.step()
    before = [parameter.data for parameter in session.parameters], random.getstate()
    title, operations, text = session.graph(step)
    assert ([parameter.data for parameter in session.parameters], random.getstate()) == before
    read = unpack(text)
    assert title.startswith(f"step {step}: the loss on ")
    assert read.kind.count("operation") == operations
    assert read.data[read.document["root"]] == session.entries[step - 1].progress.loss
    named = {name: grad for name, grad in zip(read.name, read.grad, strict=True) if name.startswith(("layers", "wte"))}
    layer = "layers.0" if session.kind == "moons" else "wte"
    own = [grad or 0.0 for name, grad in named.items() if name.startswith(layer.replace(".0", "[0]"))]
    norm = session.entries[step - 1].norms[session.layers.index(layer)]
    assert math.isclose(math.hypot(*own), norm, rel_tol=1e-12)


def test_the_graph_of_one_point_is_its_hinge_loss(tmp_path: Path) -> None:
    session = session_for(MOONS, tmp_path / "run")
    assert isinstance(session, MoonsSession)
    for _ in range(3):
        session.step()
    session.seek(2)
    with no_grad():
        score = session.task.model(session.points[4]).data  # type: ignore[operator]
    session.step()
    read = unpack(session.graph(3, 4)[2])
    assert read.data[read.document["root"]] == max(0.0, 1 - session.labels[4] * score)


def test_the_field_is_what_the_network_says(tmp_path: Path) -> None:
    session = session_for(MOONS, tmp_path / "run")
    assert isinstance(session, MoonsSession)
    for _ in range(10):
        session.step()
    model = session.task.model
    assert isinstance(model, MLP)
    left, right, bottom, top = session.frame
    columns, rows = sessions.FIELD
    scores = session.picture()["scores"]
    assert len(scores) == columns * rows
    with no_grad():
        for column, row in [(0, 0), (columns - 1, 0), (3, rows - 1), (columns // 2, rows // 2)]:
            x = left + (column + 0.5) / columns * (right - left)
            y = top - (row + 0.5) / rows * (top - bottom)
            score = model([x, y]).data
            assert scores_of(model, sessions.np.array([[x, y]]))[0] == pytest.approx(score, rel=1e-12)
            assert scores[row * columns + column] == round(max(-127, min(127, 50 * score)))
    assert all(left < x < right and bottom < y < top for x, y in session.points)


def test_the_dead_relus_are_those_that_no_point_opens(tmp_path: Path) -> None:
    session = session_for(MoonsSettings(points=20, steps=40, lr=4.0), tmp_path / "run")
    assert isinstance(session, MoonsSession)
    model = session.task.model
    assert isinstance(model, MLP)
    assert session.dead() == []
    seen = set()
    for _ in range(30):
        expected: list[list[int]] = []
        with no_grad():
            values: list[Any] = [list(point) for point in session.points]
            for layer in model.layers[:-1]:
                values = [layer(value) for value in values]
                outputs = range(len(values[0]))
                expected.append([unit for unit in outputs if not any(value[unit].data > 0 for value in values)])
        session.step()
        assert session.dead() == expected
        seen.add(sum(map(len, expected)))
    assert len(seen) > 1, "the run lets some die"
    known = session.dead()
    session.step()
    session.seek(30)
    assert session.dead() == known


def test_the_dead_relus_of_a_gpt_are_closed_at_every_position(tmp_path: Path) -> None:
    session = session_for(GPT, tmp_path / "run")
    assert isinstance(session, GPTSession)
    session.step()
    gates = [node.data > 0 for node in sessions.engine.interior(session._loss) if node._op == "ReLU"]  # type: ignore[arg-type]
    count = session.task.examples(0)
    assert len(gates) == count * 16
    assert session.dead() == [[u for u in range(16) if not any(gates[p * 16 + u] for p in range(count))]]


def test_samples_are_the_same_whenever_the_run_comes_by_and_cost_it_nothing(tmp_path: Path) -> None:
    session = session_for(GPT, tmp_path / "run")
    for _ in range(8):
        session.step()
    state = random.getstate()
    first = session.picture()["samples"]
    assert random.getstate() == state
    session.step()
    assert session.picture()["samples"] != first
    session.seek(8)
    assert session.picture()["samples"] == first


# --- keeping --------------------------------------------------------------------------------------


def test_a_saved_session_is_a_run_that_goes_on(tmp_path: Path, reference: dict[str, list[float]]) -> None:
    session = session_for(MOONS, tmp_path / "run")
    for _ in range(20):
        session.step()
    session.seek(11)
    session.save()
    assert [entry["loss"] for entry in read_log(tmp_path / "run")] == reference["moons"][:11]
    with pytest.raises(CheckpointError, match="already holds a run"):
        session_for(MOONS, tmp_path / "run")
    resumed = session_for(MOONS, tmp_path / "run", resume=True)
    assert (resumed.done, losses(resumed)) == (11, reference["moons"][:11])
    resumed.seek(3)
    assert finish(resumed) == reference["moons"]
    plain = train_moons(MOONS, tmp_path / "run", resume=True, eager=True)
    assert [progress.loss for progress in plain] == reference["moons"][11:]


def test_a_run_that_diverges_says_so_and_stays_where_it_is(tmp_path: Path) -> None:
    session = session_for(MoonsSettings(points=12, steps=40, lr=1e200), tmp_path / "run")
    with pytest.raises(AnomalyError, match="the run has diverged"):
        finish(session)
    assert len(session.entries) == session.done < 40
    session.seek(0)
    assert session.done == 0
