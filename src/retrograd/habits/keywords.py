"""Keyword arguments that hands know from PyTorch, JAX and NumPy, and the line that does the same here."""

from __future__ import annotations

__all__ = [
    "ACTIVATION",
    "BACKWARD",
    "CHECK",
    "CLIP",
    "COMPILE",
    "CROSS_ENTROPY",
    "EMBEDDING",
    "ERRSTATE",
    "GRAD",
    "GRADIENT",
    "LINEAR",
    "OF_ONE",
    "OPTIMIZER",
    "PRIMITIVE",
    "REDUCE",
    "SCHEDULE",
    "VALUE",
    "VMAP",
    "of_engine",
]

_PLACE = "there is one place and one type, a float64 in memory: leave it out"
_STATIC = (
    "integers, strings and objects are static as they are, and rg.Index(i) marks an integer that selects: leave it out"
)
_ONE_WAY = "exact=True, tier=… and verify=n are all that there is to choose: leave it out"
_FASTER = "steps over many parameters are one call of C as they are: leave it out"
_ARGNUMS = "the name is argnums: a position, a name, or a tuple of them"
_AXIS = "it takes one list: [rg.{}(row) for row in rows] goes along an axis"
_TOTAL = "the name is total: the number of steps"

#: Of ``Value``.
VALUE: dict[str, str] = {
    "requires_grad": "every Value has a gradient, and what moves is what the optimizer is given: leave it out",
    "dtype": _PLACE,
    "device": _PLACE,
    "name": "the name is label",
    "grad": "assign it: v.grad = 1.0",
}

#: Of ``Value.backward``.
BACKWARD: dict[str, str] = {
    "inputs": "rg.gradient(y, xs) is the derivative by those Values alone, and touches no .grad",
    "grad_tensors": "the name is gradient",
}

#: Of the functions of sequences, by their names.
REDUCE: dict[str, str] = dict.fromkeys(("dim", "axis", "keepdim", "keepdims"), _AXIS)

_SCALED = "write rg.softmax([v / temperature for v in values])"
_WEIGHTED = "add logarithms: rg.logsumexp([v + rg.math.log(b) for v, b in zip(values, weights)])"

#: Of one function of sequences alone.
OF_ONE: dict[str, dict[str, str]] = {
    "softmax": dict.fromkeys(("temperature", "tau", "beta"), _SCALED),
    "logsumexp": dict.fromkeys(("b", "weights"), _WEIGHTED),
    "mean": {"weights": "write rg.dot(weights, values) / sum(weights)"},
}

#: Of ``compile``.
COMPILE: dict[str, str] = {
    **dict.fromkeys(("static_argnums", "static_argnames"), _STATIC),
    **dict.fromkeys(("mode", "backend", "fullgraph", "nopython", "options", "inline"), _ONE_WAY),
    "dynamic": "a program is made for each structure of the arguments: leave it out",
    **dict.fromkeys(("donate_argnums", "donate_argnames"), "arguments are read and never written: leave it out"),
    "device": _PLACE,
}

#: Of ``grad`` and ``value_and_grad``.
GRAD: dict[str, str] = {
    **dict.fromkeys(("argnum", "argnames", "wrt"), _ARGNUMS),
    "allow_int": "integers are numbers like others: leave it out",
    "holomorphic": "there are no complex Values: leave it out",
    "reduce_axes": "a function here sees one sample: leave it out",
    **dict.fromkeys(("outputs", "inputs", "grad_outputs"), "of Values that are there, it is rg.gradient(y, xs)"),
}

#: Of ``gradient``, which is PyTorch's ``autograd.grad``.
GRADIENT: dict[str, str] = {
    "retain_graph": "a graph stays while something refers to it: leave it out",
    **dict.fromkeys(
        ("allow_unused", "materialize_grads", "unconnected_gradients"),
        "the derivative by what y does not depend on is 0.0: leave it out",
    ),
    "grad_outputs": "weigh before: rg.gradient(rg.dot(weights, ys), xs)",
    "outputs": "the name is y",
    "inputs": "the name is xs",
    "only_inputs": "no .grad is touched: leave it out",
    "is_grads_batched": "rg.jacobian(f) has the derivatives of several outputs",
}

#: Of ``primitive``.
PRIMITIVE: dict[str, str] = {
    **dict.fromkeys(
        ("vjp", "jvp", "fwd", "bwd", "forward", "backward", "vjpmaker", "vjps", "grad", "derivative"),
        "the name is partials: a function of the same arguments with the partial derivative for each",
    ),
    **dict.fromkeys(
        ("nondiff_argnums", "argnums"), "None in place of a partial stands for an argument without one: leave it out"
    ),
    "name": "the name is that of the function",
}

_FOUND = "the step of the differences is found, and the error that it leaves: leave it out"
_VERDICT = "each difference has a bound of its own error, with which it is compared: leave it out"

#: Of ``check_gradients``.
CHECK: dict[str, str] = {
    **dict.fromkeys(("eps", "epsilon", "step", "h", "delta"), _FOUND),
    **dict.fromkeys(("atol", "rtol", "tol", "tolerance", "nondet_tol"), _VERDICT),
    **dict.fromkeys(("order", "modes"), "first derivatives are compared; give rg.grad(f) in place of f for the second"),
    "raise_exception": "the result tells: assert rg.check_gradients(f, at).ok",
    **dict.fromkeys(("inputs", "args", "x", "x0"), "the name is at"),
}

_SUBNORMAL = "what is too small becomes 0.0 without an error: leave it out"

#: Of ``errstate``.
ERRSTATE: dict[str, str] = {
    "all": "name them: divide='ignore', over='ignore', invalid='ignore'",
    "under": _SUBNORMAL,
    "call": "errors are Python's exceptions: catch them",
}

#: Of ``vmap``.
VMAP: dict[str, str] = {
    **dict.fromkeys(("out_axes", "out_dims"), "results are along the first axis: np.moveaxis moves it"),
    "in_dims": "the name is in_axes",
    **dict.fromkeys(("axis_name", "axis_size", "spmd_axis_name"), "samples do not see each other: leave it out"),
    "randomness": "vmap calls f once for each sample, and each call draws its own random numbers: leave it out",
}

#: Of ``nn.Linear`` and ``nn.Embedding``.
LINEAR: dict[str, str] = {
    "in_features": "the name is nin",
    "out_features": "the name is nout",
    "device": _PLACE,
    "dtype": _PLACE,
}
EMBEDDING: dict[str, str] = {
    "num_embeddings": "the name is count",
    "embedding_dim": "the name is size",
    "padding_idx": "leave the row out of what the optimizer is given",
    "device": _PLACE,
    "dtype": _PLACE,
}

#: Of ``nn.cross_entropy``.
CROSS_ENTROPY: dict[str, str] = {
    **dict.fromkeys(
        ("reduction", "size_average", "reduce"), "it is the loss of one sample: take rg.mean or rg.sum over a batch"
    ),
    "weight": "multiply: weight[target] * nn.cross_entropy(logits, target)",
    "ignore_index": "leave such samples out of the batch",
    "label_smoothing": (
        "write (1 - s) * nn.cross_entropy(logits, target) + s * (rg.logsumexp(logits) - rg.mean(logits))"
    ),
    **dict.fromkeys(("labels", "label", "y"), "the name is target"),
    **dict.fromkeys(("input", "inputs", "predictions"), "the name is logits"),
}

#: Of the modules that are functions of one number.
ACTIVATION: dict[str, str] = {
    "inplace": "a Value never changes in an operation: leave it out",
    "approximate": "GELU is the exact one, with the error function: leave it out",
    "dim": "it is a function of each number: leave it out",
    **dict.fromkeys(("beta", "threshold"), "write the function in forward(), with rg.math"),
}

#: Of the optimizers.
OPTIMIZER: dict[str, str] = {
    "learning_rate": "the name is lr",
    **dict.fromkeys(("beta1", "beta2", "b1", "b2"), "the name is betas: a pair, betas=(0.9, 0.999)"),
    "maximize": "maximize by minimizing: (-y).backward()",
    "dampening": "momentum has none: subclass optim.Optimizer for it",
    "amsgrad": "it is not here: subclass optim.Optimizer, or optim.Adam",
    **dict.fromkeys(("foreach", "fused", "capturable", "differentiable"), _FASTER),
}

#: Of the schedules.
SCHEDULE: dict[str, str] = {
    **dict.fromkeys(("T_max", "total_iters", "total_steps"), _TOTAL),
    "eta_min": "the name is end: the last learning rate",
    "step_size": "the name is every: the number of steps between two falls",
    "gamma": "the name is factor",
    "lr_lambda": "the name is function: the factor for a number of steps",
    "last_epoch": "load_state_dict(…) goes on where another schedule was",
}

#: Of the clipping of gradients.
CLIP: dict[str, str] = {
    "norm_type": "the norm is Euclid's: leave it out",
    "error_if_nonfinite": "the norm is returned: math.isfinite(norm) asks",
    "foreach": _FASTER,
}


def of_engine(function: str) -> dict[str, str]:
    """The table of a function that both engines have."""
    known = {"Value": VALUE, "backward": BACKWARD}
    several = {name: sentence.replace("{}", function) for name, sentence in REDUCE.items()}
    return known.get(function) or several | OF_ONE.get(function, {})
