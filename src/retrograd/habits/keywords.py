"""Keyword arguments that hands know from PyTorch, JAX and NumPy, and the line that does the same here."""

from __future__ import annotations

__all__ = [
    "BACKWARD",
    "CLIP",
    "COMPILE",
    "EMBEDDING",
    "GRAD",
    "LINEAR",
    "OPTIMIZER",
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
    return known.get(function) or {name: sentence.replace("{}", function) for name, sentence in REDUCE.items()}
