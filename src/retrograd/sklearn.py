"""Multi-layer perceptrons as estimators of scikit-learn, trained by a compiled function of one sample."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import nn, optim
from .compiler import compile as compile_function
from .errors import MissingExtraError
from .index import Index

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError('retrograd.sklearn needs scikit-learn 1.6: pip install "retrograd[sklearn]"') from None

__all__ = ["MLPClassifier", "MLPRegressor"]

_Array = NDArray[Any]
#: The functions between the layers: as a module, and of an array.
_ACTIVATIONS: dict[str, tuple[Callable[[], nn.Module], Callable[[_Array], _Array]]] = {
    "tanh": (nn.Tanh, np.tanh),
    "relu": (nn.ReLU, lambda a: np.maximum(a, 0.0)),
    "logistic": (nn.Sigmoid, lambda a: 0.5 * (1 + np.tanh(0.5 * a))),
}


class _Perceptron(BaseEstimator):  # type: ignore[misc]  # scikit-learn is Any here
    """What both estimators share: the network, its training, and its outputs for many samples."""

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (16,),
        activation: str = "tanh",
        *,
        alpha: float = 1e-4,
        batch_size: int = 32,
        learning_rate_init: float = 0.01,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def _train(self, x: _Array, targets: list[Any], outputs: int, loss: Callable[[Any, Any], Any]) -> None:
        """Train a fresh network: ``loss`` of its outputs and a target, the mean over batches, with Adam."""
        if self.activation not in _ACTIVATIONS:
            raise ValueError(f"activation is one of {', '.join(_ACTIVATIONS)}; it is {self.activation!r}.")
        hidden = self.hidden_layer_sizes
        sizes = [x.shape[1], *([hidden] if isinstance(hidden, Integral) else hidden), outputs]
        generator = check_random_state(self.random_state)
        model = _network(sizes, _ACTIVATIONS[self.activation][0], generator)
        compiled = compile_function(lambda row, target: loss(model(row), target))
        optimizer = optim.Adam(model, lr=self.learning_rate_init, weight_decay=self.alpha)
        samples = list(zip(x.tolist(), targets, strict=True))
        best, since, self.loss_curve_ = np.inf, 0, []
        for epoch in range(1, self.max_iter + 1):
            order, total = generator.permutation(len(samples)), 0.0
            for start in range(0, len(samples), self.batch_size):
                batch = [samples[i] for i in order[start : start + self.batch_size]]
                optimizer.zero_grad()
                total += compiled.backward_batch(batch) * len(batch)
                optimizer.step()
            self.loss_curve_.append(total / len(samples))
            self.n_iter_ = epoch
            since = 0 if self.loss_curve_[-1] < best - self.tol else since + 1
            best = min(best, self.loss_curve_[-1])
            if since >= self.n_iter_no_change:
                break
        else:
            warnings.warn(f"not converged after max_iter={self.max_iter} epochs.", ConvergenceWarning, stacklevel=3)
        state = model.state_dict()
        self.coefs_ = [array.T.copy() for name, array in state.items() if name.endswith("weight")]
        self.intercepts_ = [array for name, array in state.items() if name.endswith("bias")]

    def _outputs(self, data: Any) -> _Array:
        check_is_fitted(self)
        x: _Array = validate_data(self, data, reset=False, dtype=np.float64)
        activation = _ACTIVATIONS[self.activation][1]
        for coefs, intercepts in zip(self.coefs_[:-1], self.intercepts_[:-1], strict=True):
            x = activation(x @ coefs + intercepts)
        result: _Array = x @ self.coefs_[-1] + self.intercepts_[-1]
        return result


def _network(sizes: Sequence[int], activation: Callable[[], nn.Module], generator: Any) -> nn.Sequential:
    """Linear layers with the activation between them, its weights drawn as Glorot and Bengio (2010) do."""
    before = random.getstate()
    layers: list[nn.Module] = []
    for nin, nout in pairwise(sizes):
        layers += [nn.Linear(int(nin), int(nout)), activation()]
    random.setstate(before)  # the weights come from scikit-learn's generator
    model = nn.Sequential(*layers[:-1])
    for layer in model:
        if isinstance(layer, nn.Linear):
            nout, nin = len(layer.weight), len(layer.weight[0])
            bound = np.sqrt(6.0 / (nin + nout))
            layer.load_state_dict({"weight": generator.uniform(-bound, bound, (nout, nin)), "bias": np.zeros(nout)})
    return model


_PARAMETERS = """
    Args:
        hidden_layer_sizes: The number of neurons of each hidden layer.
        activation: The function between the layers: 'tanh', 'relu' or 'logistic'.
        alpha: L2 regularization: this times each weight is added to its gradient.
        batch_size: The number of samples of a step of Adam.
        learning_rate_init: The learning rate.
        max_iter: The largest number of passes over the samples.
        tol: By how much the mean loss has to fall, at least, to count as progress.
        n_iter_no_change: The number of passes without progress after which it has converged.
        random_state: Fixes the weights at first and the order of the samples, as everywhere in scikit-learn.
"""


class MLPClassifier(ClassifierMixin, _Perceptron):  # type: ignore[misc]
    __doc__ = f"""A multi-layer perceptron for classes, with the cross-entropy of its softmax.

    The loss of one sample is written on Values, as :mod:`retrograd.nn` has it, and compiled. The parameters have the
    names that they have in scikit-learn's class of this name.
{_PARAMETERS}
    Attributes:
        classes_: The labels.
        coefs_: The weights of each layer, inputs by outputs; ``intercepts_`` are the biases.
        loss_curve_: The mean loss of each pass.
        n_iter_: The number of passes.

    Example:
        >>> from sklearn.datasets import make_moons
        >>> from retrograd.sklearn import MLPClassifier
        >>> X, y = make_moons(200, noise=0.1, random_state=0)
        >>> bool(MLPClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
        True
    """

    def fit(self, X: Any, y: Any) -> MLPClassifier:  # noqa: N803  # scikit-learn's name
        """Train on samples and their labels.

        Args:
            X: The samples, an array of rows.
            y: A label for each.

        Returns:
            This estimator.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)  # noqa: N806
        check_classification_targets(y)
        self.classes_, targets = np.unique(y, return_inverse=True)
        self._train(X, [Index(t) for t in targets.tolist()], len(self.classes_), nn.cross_entropy)
        return self

    def predict_proba(self, X: Any) -> _Array:  # noqa: N803
        """The probability of each class.

        Args:
            X: The samples.

        Returns:
            An array, samples by classes.
        """
        logits = self._outputs(X)
        shares: _Array = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: _Array = shares / shares.sum(axis=1, keepdims=True)
        return result

    def predict(self, X: Any) -> _Array:  # noqa: N803
        """The likeliest class of each sample.

        Args:
            X: The samples.

        Returns:
            An array of labels.
        """
        likeliest = self.predict_proba(X).argmax(axis=1)
        labels: _Array = self.classes_[likeliest]
        return labels


class MLPRegressor(RegressorMixin, _Perceptron):  # type: ignore[misc]
    __doc__ = f"""A multi-layer perceptron for numbers, with half of the squared error.

    The loss of one sample is written on Values, as :mod:`retrograd.nn` has it, and compiled. The parameters have the
    names that they have in scikit-learn's class of this name. The targets are standardized for the training.
{_PARAMETERS}
    Attributes:
        coefs_: The weights of each layer, inputs by outputs; ``intercepts_`` are the biases.
        loss_curve_: The mean loss of each pass.
        n_iter_: The number of passes.

    Example:
        >>> import numpy as np
        >>> from retrograd.sklearn import MLPRegressor
        >>> X = np.linspace(-2, 2, 64)[:, None]
        >>> bool(MLPRegressor(random_state=0).fit(X, X[:, 0] ** 2).score(X, X[:, 0] ** 2) > 0.95)
        True
    """

    def fit(self, X: Any, y: Any) -> MLPRegressor:  # noqa: N803
        """Train on samples and their numbers.

        Args:
            X: The samples, an array of rows.
            y: A number for each.

        Returns:
            This estimator.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)  # noqa: N806
        middle, spread = float(np.mean(y)), float(np.std(y)) or 1.0
        targets = ((np.asarray(y, dtype=np.float64) - middle) / spread).tolist()
        self._train(X, targets, 1, lambda outputs, target: 0.5 * (outputs[0] - target) ** 2)
        self.coefs_[-1] *= spread
        self.intercepts_[-1] = self.intercepts_[-1] * spread + middle
        return self

    def predict(self, X: Any) -> _Array:  # noqa: N803
        """The network's number for each sample.

        Args:
            X: The samples.

        Returns:
            An array of floats.
        """
        return self._outputs(X)[:, 0]
