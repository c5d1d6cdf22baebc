"""Modules, layers, losses and the GPT: micrograd's numbers, the scalar GPT's log, and what goes wrong."""

from __future__ import annotations

import math
import random
import subprocess
import sys

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
from retrograd import nn
from retrograd.engine import Value
from retrograd.errors import CheckpointError

TINY = {"vocab_size": 5, "block_size": 4, "n_layer": 2, "n_embd": 4, "n_head": 2}


def tiny_gpt(seed: int = 0) -> nn.GPT:
    random.seed(seed)
    return nn.GPT(**TINY)


# --- micrograd's classes --------------------------------------------------------------------------


def both_mlps():
    micrograd = require("micrograd.nn")
    random.seed(1337)
    theirs = micrograd.MLP(2, [16, 16, 1])
    random.seed(1337)
    return nn.MLP(2, [16, 16, 1]), theirs


def test_the_seeded_mlp_has_micrograds_weights_and_repr():
    ours, theirs = both_mlps()
    assert [p.data for p in ours.parameters()] == [p.data for p in theirs.parameters()]
    assert len(ours.parameters()) == 337
    assert repr(ours) == repr(theirs)


def test_the_mlp_computes_micrograds_numbers():
    ours, theirs = both_mlps()
    rng = random.Random(7)
    for _ in range(5):
        point = [rng.uniform(-2, 2), rng.uniform(-2, 2)]
        ours.zero_grad()
        theirs.zero_grad()
        y, z = ours(point), theirs(point)
        assert y.data == z.data
        y.backward()
        z.backward()
        # micrograd visits a set, whose order changes from run to run, so its gradients are equal only to rounding
        for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert p.grad == pytest.approx(q.grad, rel=1e-12, abs=1e-15)


def test_a_micrograd_training_step_is_the_same():
    ours, theirs = both_mlps()
    points, labels = [(0.5, -1.0), (-0.3, 0.8), (1.5, 0.2)], [1, -1, 1]
    for k in range(3):
        losses = []
        for model in (ours, theirs):
            scores = [model(point) for point in points]
            hinges = [(1 + -yi * score).relu() for yi, score in zip(labels, scores, strict=True)]
            total = sum(hinges) * (1.0 / len(hinges)) + 1e-4 * sum(p * p for p in model.parameters())
            model.zero_grad()
            total.backward()
            for p in model.parameters():
                p.data -= (1.0 - 0.9 * k / 100) * p.grad
            losses.append(total.data)
        assert losses[0] == pytest.approx(losses[1], rel=1e-12)


def test_layers_return_micrograds_shapes():
    assert isinstance(nn.Layer(2, 1)([1.0, 2.0]), Value)
    assert [type(y) for y in nn.Layer(2, 3)([1.0, 2.0])] == [Value] * 3
    assert repr(nn.Layer(2, 1, nonlin=False)) == "Layer of [LinearNeuron(2)]"


def test_the_sizes_of_an_mlp_stand_in_a_list() -> None:
    with pytest.raises(TypeError, match=r"stand in a list, also of one: MLP\(2, \[3\]\)"):
        nn.MLP(2, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda size: nn.MLP(size, [1]), "nin"),
        (lambda size: nn.MLP(1, [size]), "nout"),
        (lambda size: nn.Layer(1, size), "nout"),
        (nn.Neuron, "nin"),
        (lambda size: nn.Linear(1, size), "nout"),
        (lambda size: nn.Embedding(1, size), "size"),
        (nn.RMSNorm, "size"),
        (nn.GPT, "vocab_size"),
    ],
)
def test_a_size_is_a_whole_number(make, name):
    for size, described in (("2", "str '2'"), (2.0, "float 2.0"), (Value(2.0), "Value")):
        with pytest.raises(TypeError, match=rf"^{name} must be a whole number and is {described}.*: pass an int\.$"):
            make(size)
    make(np.int64(4))


@pytest.mark.parametrize("layer", [nn.Neuron(3), nn.MLP(3, [2, 1]), nn.Linear(3, 2), nn.RMSNorm(3)])
def test_an_input_of_the_wrong_length_is_an_error(layer):
    with pytest.raises(ValueError, match=r"takes 3 inputs and got 2|needs 3 numbers and got 2"):
        layer([Value(1.0), Value(2.0)])


# --- Module ---------------------------------------------------------------------------------------


def test_parameters_are_found_in_lists_dicts_arrays_and_modules():
    class Model(nn.Module):
        def __init__(self):
            self.scale = Value(2.0)
            self.rows = [[Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]]
            self.parts = {"first": nn.Linear(2, 1), "ragged": [Value(5.0), [Value(6.0)]]}
            self.array = np.array([Value(7.0), Value(8.0)], dtype=object)
            self.again = self.rows[0]
            self.kept_result = self.scale * 3
            self.text, self.nothing = "w", None
            self._hidden = Value(9.0)

    model = Model()
    shapes = {name: array.shape for name, array in model.state_dict().items()}
    assert shapes == {
        "scale": (),
        "rows": (2, 2),
        "parts.first.weight": (1, 2),
        "parts.first.bias": (1,),
        "parts.ragged.0": (),
        "parts.ragged.1": (1,),
        "array": (2,),
        "again": (2,),
    }
    names = [name for name, _ in model.named_parameters()]
    assert names[:3] == ["scale", "rows.0.0", "rows.0.1"]
    assert len(names) == len(model.parameters()) == 1 + 4 + 3 + 2 + 2
    assert all(a is b for (_, a), b in zip(model.named_parameters(), model.parameters(), strict=True))


def test_zero_grad():
    model = nn.MLP(2, [3, 1])
    model([1.0, 2.0]).backward()
    assert any(p.grad for p in model.parameters())
    model.zero_grad()
    assert not any(p.grad for p in model.parameters())


def test_state_dict_round_trip():
    first, second = tiny_gpt(0), tiny_gpt(1)
    state = first.state_dict()
    assert state["wte.weight"].shape == (5, 4)
    assert state["layers.1.mlp_fc1.weight"].shape == (16, 4)
    second.load_state_dict(state)
    assert [p.data for p in second.parameters()] == [p.data for p in first.parameters()]
    state["wte.weight"][:] = 0  # a copy: the model does not follow
    assert first.wte.weight[0][0].data != 0


def test_a_state_that_does_not_fit_changes_nothing():
    model = nn.Linear(2, 2)
    before, state = model.state_dict(), model.state_dict()
    for damaged, message in (
        ({"weight": state["weight"] + 1}, "lacks 'bias'"),
        ({**state, "weight": state["weight"] + 1, "extra": 1.0}, "unknown 'extra'"),
        ({"weight": state["weight"] + 1, "bias": np.zeros(3)}, "shape 2 in this model and 3"),
        ({"weight": state["weight"] + 1, "bias": ["a", "b"]}, "array of real numbers"),
        ({"weight": state["weight"] + 1, "bias": np.array([1j, 2])}, "array of real numbers"),
    ):
        with pytest.raises(CheckpointError, match=message):
            model.load_state_dict(damaged)
        assert all((model.state_dict()[name] == before[name]).all() for name in before)
    model.load_state_dict({"weight": np.full((2, 2), 7, dtype=np.int32), "other": 1}, strict=False)
    assert model.weight[1][1].data == 7.0


def test_a_subclass_with_its_own_parameters_as_micrograd_has_them():
    class Model(nn.Module):
        def __init__(self):
            self.a, self.b = Value(1.0), Value(2.0)

        def parameters(self):
            return [self.a]

    model = Model()
    (model.a * model.b).backward()
    model.zero_grad()
    assert (model.a.grad, model.b.grad) == (0.0, 1.0)


# --- layers of the GPT and losses -----------------------------------------------------------------


def test_linear_embedding_and_norm():
    linear = nn.Linear(2, 2)
    linear.load_state_dict({"weight": [[1, 2], [3, 4]], "bias": [10, 20]})
    assert [y.data for y in linear([1.0, -1.0])] == [9.0, 19.0]
    assert [y.data for y in nn.Linear(1, 2, bias=False)([0.0])] == [0.0, 0.0]
    table = nn.Embedding(3, 2)
    assert [id(v) for v in table(2)] == [id(v) for v in table.weight[2]]
    for index in (3, -1):
        with pytest.raises(IndexError, match=f"rows 0 to 2; it was asked for row {index}"):
            table(index)
    scaled = nn.RMSNorm()([Value(3.0), Value(4.0)])
    assert math.hypot(*(y.data for y in scaled)) == pytest.approx(math.sqrt(2), rel=1e-6)
    gained = nn.RMSNorm(2)
    gained.load_state_dict({"gain": [2.0, 0.0]})
    assert [y.data for y in gained([Value(3.0), Value(4.0)])] == [2 * scaled[0].data, 0.0]
    with pytest.raises(ValueError, match="at least one row"):
        nn.Linear(0, 2)


def test_cross_entropy_and_its_gradient():
    logits = [Value(x) for x in (1.0, 2.0, 0.5)]
    loss = nn.cross_entropy(logits, 1)
    probabilities = [p.data for p in nn.softmax(logits)]
    assert sum(probabilities) == pytest.approx(1)
    assert loss.data == pytest.approx(-math.log(probabilities[1]))
    loss.backward()
    assert [v.grad for v in logits] == pytest.approx([probabilities[0], probabilities[1] - 1, probabilities[2]])
    assert nn.cross_entropy([Value(1e4), Value(-1e4)], 1).data == 2e4
    for target in (3, -1):
        with pytest.raises(IndexError, match="one of the 3 logits"):
            nn.cross_entropy(logits, target)


@pytest.mark.parametrize(
    ("tokens", "error", "says"),
    [
        ([0, 7, 1], IndexError, r"^token 7 at place 1 is outside the vocabulary of 5: tokens are 0 to 4\.$"),
        ([0, -1], IndexError, "token -1 at place 1 is outside"),
        ("emma", TypeError, r"^tokens are numbers from 0 to 4, and the one at place 0 is 'e'\.$"),
    ],
)
def test_what_is_no_token_is_named_with_its_place(tokens, error, says):
    model = nn.GPT(vocab_size=5, block_size=4)
    for loss in (model.loss, rg.compile(model.loss)):
        with pytest.raises(error, match=says):
            loss(tokens)


def test_hinge():
    assert [nn.hinge(Value(0.25), label).data for label in (1, -1)] == [0.75, 1.25]
    assert nn.hinge(Value(3.0), 1).data == 0.0
    with pytest.raises(ValueError, match="labels -1 and 1; this one is 0"):
        nn.hinge(Value(1.0), 0)


# --- the GPT --------------------------------------------------------------------------------------


def test_gpt_has_the_scalar_gpts_sizes_and_order_of_initial_weights():
    random.seed(42)
    model = nn.GPT(27)
    assert len(model.parameters()) == 4192
    random.seed(42)
    assert [p.data for p in model.parameters()] == [random.gauss(0, 0.08) for _ in range(4192)]
    first, second = model.state_dict()["wte.weight"].std(), model.state_dict()["layers.0.mlp_fc2.weight"].std()
    assert first == pytest.approx(0.08, rel=0.15)
    assert second == pytest.approx(0.08, rel=0.15)


def test_gpt_sees_only_what_came_before():
    model = tiny_gpt()
    cache = model.new_cache()
    before = [[y.data for y in model(token, i, cache)] for i, token in enumerate((0, 1, 2))]
    cache = model.new_cache()
    after = [[y.data for y in model(token, i, cache)] for i, token in enumerate((0, 1, 3))]
    assert before[:2] == after[:2]
    assert before[2] != after[2]


def test_gpt_against_pytorch():
    """The same architecture in tensors: the loss and every gradient."""
    torch = require("torch")
    model, tokens = tiny_gpt(), [4, 0, 3, 1, 4]
    loss = model.loss(tokens)
    loss.backward()
    w = {name: torch.tensor(array, requires_grad=True) for name, array in model.state_dict().items()}

    def norm(x):
        return x * (x.square().mean(-1, keepdim=True) + 1e-5) ** -0.5

    count, size, heads = len(tokens) - 1, TINY["n_embd"], TINY["n_head"]
    x = norm(w["wte.weight"][tokens[:-1]] + w["wpe.weight"][:count])
    mask = torch.full((count, count), -math.inf, dtype=torch.float64).triu(1)
    for i in range(TINY["n_layer"]):
        q, k, v = (
            (norm(x) @ w[f"layers.{i}.attn_w{part}.weight"].T).view(count, heads, size // heads).transpose(0, 1)
            for part in "qkv"
        )
        mixed = ((q @ k.transpose(1, 2)) / (size / heads) ** 0.5 + mask).softmax(-1) @ v
        x = x + mixed.transpose(0, 1).reshape(count, size) @ w[f"layers.{i}.attn_wo.weight"].T
        x = x + (norm(x) @ w[f"layers.{i}.mlp_fc1.weight"].T).relu() @ w[f"layers.{i}.mlp_fc2.weight"].T
    theirs = torch.nn.functional.cross_entropy(x @ w["lm_head.weight"].T, torch.tensor(tokens[1:]))
    theirs.backward()
    assert loss.data == pytest.approx(theirs.item(), rel=1e-13)
    gradients = {name: p.grad for name, p in model.named_parameters()}
    for name, tensor in w.items():
        for index in np.ndindex(tuple(tensor.shape)):
            ours = gradients[".".join([name, *map(str, index)])]
            expected = 0.0 if tensor.grad is None else tensor.grad[index].item()
            assert ours == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_gpt_counts_only_block_size_predictions():
    model = tiny_gpt()
    assert model.loss([4, 0, 1, 2, 3, 0, 1]).data == model.loss([4, 0, 1, 2, 3]).data
    with pytest.raises(ValueError, match="at least two tokens"):
        model.loss([4])


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"n_head": 3}, "3 does not divide 4"), ({"block_size": 0}, "block_size must be at least 1")],
)
def test_impossible_sizes(changed, message):
    with pytest.raises(ValueError, match=message):
        nn.GPT(**{**TINY, **changed})


def test_a_module_that_knows_its_owner_is_entered_once() -> None:
    class Child(nn.Module):
        def __init__(self, owner: nn.Module) -> None:
            self.w = Value(2.0)
            self.owner = owner

    class Owner(nn.Module):
        def __init__(self) -> None:
            self.v = Value(1.0)
            self.children = [Child(self), Child(self)]

    owner = Owner()
    assert [name for name, _ in owner.named_parameters()] == ["v", "children.0.w", "children.1.w"]
    assert len(owner.parameters()) == 3
    owner.load_state_dict(owner.state_dict())


def test_a_ragged_state_is_refused_with_a_sentence() -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(CheckpointError, match="'weight' must be an array"):
        layer.load_state_dict({**layer.state_dict(), "weight": [[1.0], [1.0, 2.0]]})  # type: ignore[list-item]


def test_importing_retrograd_draws_no_random_number() -> None:
    program = (
        "import random; random.seed(42); before = random.getstate(); import retrograd; import retrograd.cli; "
        "str(retrograd.explain('a * b', a=1, b=2)); assert before == random.getstate()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
