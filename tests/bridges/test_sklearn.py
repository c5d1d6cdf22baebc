"""The estimators obey scikit-learn's own rules, learn, and predict what the network on Values predicts."""

from __future__ import annotations

import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest
from support.parts import require

from retrograd import nn

pytestmark = pytest.mark.native  # they train with compiled functions


@pytest.fixture(params=["MLPClassifier", "MLPRegressor"])
def estimator(request: pytest.FixtureRequest) -> Any:
    require("sklearn")
    import retrograd.sklearn

    return getattr(retrograd.sklearn, request.param)


@pytest.mark.long
def test_scikit_learn_accepts_it(estimator: Any) -> None:
    checks = require("sklearn.utils.estimator_checks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = checks.check_estimator(estimator(), on_fail=None)
    failed = [(check["check_name"], check["exception"]) for check in found if check["status"] == "failed"]
    assert not failed
    assert sum(check["status"] == "passed" for check in found) > 45


def moons() -> tuple[Any, Any]:
    return require("sklearn.datasets").make_moons(200, noise=0.15, random_state=1)


@pytest.mark.parametrize("activation", ["tanh", "relu", "logistic"])
def test_it_learns_and_repeats_itself(estimator: Any, activation: str) -> None:
    x, y = moons()
    before = random.getstate()
    first, second = (
        estimator((8, 8), activation, max_iter=80, tol=-np.inf, random_state=3).fit(x, y) for _ in range(2)
    )
    assert random.getstate() == before
    assert first.score(x, y) > 0.6
    assert first.loss_curve_ == second.loss_curve_
    assert first.predict(x).tolist() == second.predict(x).tolist()
    assert pickle.loads(pickle.dumps(first)).predict(x).tolist() == first.predict(x).tolist()


def test_its_outputs_are_those_of_the_network_on_values(estimator: Any) -> None:
    x, y = moons()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = estimator(5, max_iter=3, random_state=0).fit(x, y)
    layers: list[nn.Module] = []
    for coefs, intercepts in zip(fitted.coefs_, fitted.intercepts_, strict=True):
        layer = nn.Linear(*coefs.shape)
        layer.load_state_dict({"weight": coefs.T, "bias": intercepts})
        layers += [layer, nn.Tanh()]
    model = nn.Sequential(*layers[:-1])
    for row in x[:10]:
        own = [v.data for v in model(row.tolist())]
        assert fitted._outputs(row[None])[0] == pytest.approx(own, rel=1e-12)


def test_a_wrong_activation_is_refused(estimator: Any) -> None:
    x, y = moons()
    with pytest.raises(ValueError, match="activation is one of tanh, relu, logistic; it is 'step'"):
        estimator(activation="step").fit(x, y)
