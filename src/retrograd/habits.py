"""What hands know from PyTorch, JAX and NumPy and retrograd does otherwise: the sentence that says how.

Each table has the name that people type and the line that does the same here. A name in a table does not exist:
``hasattr`` says no, and asking for it raises an AttributeError with the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

__all__ = ["MATH", "MODULE", "NN", "OPTIM", "OPTIMIZER", "PACKAGE", "VALUE", "Elsewhere", "elsewhere"]

_FREEZE = (
    "what moves is what the optimizer is given, such as optim.Adam(model.head); v.detach() cuts the gradient of one use"
)
_HOOK = (
    "a pass ends before anything moves, so change v.grad between backward() and step(); "
    "to change a gradient on its way, make a node, y = rg.Value(x.data, (x,), 'hook'), and assign y._backward"
)
_GROUPS = (
    "make an optimizer for each group, head, body = optim.Adam(model.head, lr=1e-2), optim.Adam(model.body, lr=1e-4), "
    "and call step() of both; the settings of one are its attributes, optimizer.lr = 1e-3"
)
_PLACE = "there is one place and one type, a float64 in memory: leave it out"
_NUMBER = "the plain number is v.data"

#: Attributes of a Value.
VALUE: dict[str, str] = {
    "requires_grad": f"every Value has a gradient, and {_FREEZE}",
    "requires_grad_": f"every Value has a gradient, and {_FREEZE}",
    "register_hook": _HOOK,
    "retain_grad": "every node of a pass keeps its .grad: leave it out",
    "is_leaf": "a leaf has no operands: not v._children",
    "grad_fn": "what computed a Value is v._op, of the operands v._children; rg.explain(v) shows the whole pass",
    "clone": "a Value never changes in an operation: use it as it is, or v.detach() for a leaf with its number",
    "numpy": _NUMBER,
    "tolist": _NUMBER,
    "cpu": _PLACE,
    "cuda": _PLACE,
    "to": _PLACE,
    "double": _PLACE,
    "shape": "a Value is one number and has no shape: put Values in a list or a NumPy array",
    "clamp": "write rg.math.clip(v, low, high)",
    "clip": "write rg.math.clip(v, low, high)",
}

#: Attributes of a module.
MODULE: dict[str, str] = {
    "requires_grad_": _FREEZE,
    "register_buffer": "assign it: numbers and arrays of numbers in an attribute are no parameters",
    "register_parameter": "assign it: self.name = rg.Value(0.0)",
    "add_module": "assign it: self.name = module, or keep a list of modules in an attribute",
    "named_children": "children() lists the modules, and named_modules() has their names",
    "register_forward_hook": "write a Module whose forward() calls this one and does the rest",
    "register_full_backward_hook": _HOOK,
    "to": _PLACE,
    "cpu": _PLACE,
    "cuda": _PLACE,
    "double": _PLACE,
    "float": _PLACE,
    "half": _PLACE,
    "buffers": "numbers in attributes are ordinary: vars(model) has them",
    "weight_norm": "divide the weights where forward() uses them",
}

#: Attributes of an optimizer.
OPTIMIZER: dict[str, str] = {
    "param_groups": _GROUPS,
    "add_param_group": _GROUPS,
    "state": "state_dict() has the optimizer's memory, and arrays() its arrays",
}

_LIST = "a plain list, tuple or dict in an attribute does it"
_LR = "schedules are optim.LinearSchedule, CosineSchedule, StepSchedule, LambdaSchedule, WarmupSchedule, "
_LR += "SequentialSchedule"

#: Names of ``retrograd.nn``.
NN: dict[str, str] = {
    "Parameter": "a parameter is a leaf: self.w = rg.Value(0.1)",
    "ModuleList": _LIST,
    "ModuleDict": _LIST,
    "ParameterList": _LIST,
    "ParameterDict": _LIST,
    "functional": "functions of numbers are in rg.math, losses in rg.nn",
    "F": "functions of numbers are in rg.math, losses in rg.nn",
    "init": "assign: for p in model.parameters(): p.data = random.gauss(0, 0.1)",
    "utils": "the clipping of gradients is optim.clip_grad_norm_ and optim.clip_grad_value_",
    "MSELoss": "write rg.mean([(p - y) ** 2 for p, y in zip(predictions, targets)])",
    "L1Loss": "write rg.mean([abs(p - y) for p, y in zip(predictions, targets)])",
    "CrossEntropyLoss": "nn.cross_entropy(logits, target) is the loss of one sample; take rg.mean over a batch",
    "BCEWithLogitsLoss": "write rg.math.softplus(z) - y * z for a logit z and a label y of 0 or 1",
    "Softmax": "rg.softmax(values) is the function",
    "LeakyReLU": "write rg.where(x > 0, x, 0.01 * x)",
    "Dropout": "multiply by 0 or 1 / (1 - p), drawn with random, in forward() where self.training",
    "LayerNorm": "nn.RMSNorm(size) normalizes; subtract rg.mean(x) before it for the rest of LayerNorm",
    "BatchNorm1d": "a function here sees one sample; nn.RMSNorm(size) normalizes within it",
    "Conv1d": "write the loop: [rg.dot(kernel, x[i : i + len(kernel)]) for i in range(len(x) - len(kernel) + 1)]",
    "Conv2d": "write the loops over rows and columns, with rg.dot of the kernel and each window",
    "Identity": "leave it out",
    "Flatten": "write [v for row in rows for v in row]",
}

#: Names of ``retrograd.optim``.
OPTIM: dict[str, str] = {
    "lr_scheduler": _LR,
    "StepLR": _LR,
    "LambdaLR": _LR,
    "ExponentialLR": f"write optim.StepSchedule(optimizer, every=1, factor=0.99); {_LR}",
    "CosineAnnealingLR": _LR,
    "SequentialLR": _LR,
    "OneCycleLR": f"write optim.WarmupSchedule(optim.CosineSchedule(optimizer, total), steps); {_LR}",
    "RMSprop": "optim.Adam(params, betas=(0.0, 0.99)) is RMSprop with a corrected start; or subclass optim.Optimizer",
    "Adagrad": "subclass optim.Optimizer: step() moves p.data by p.grad",
    "LBFGS": "scipy.optimize.minimize takes the gradients: see retrograd.scipy.objective",
    "clip_grad_norm": "the name is clip_grad_norm_",
}

#: Names of ``retrograd.math``.
MATH: dict[str, str] = {
    "clamp": "the name is clip: rg.math.clip(x, low, high)",
    "leaky_relu": "write rg.where(x > 0, x, 0.01 * x)",
    "elu": "write rg.where(x > 0, x, rg.math.expm1(x))",
    "log_sigmoid": "write -rg.math.softplus(-x)",
    "logsigmoid": "write -rg.math.softplus(-x)",
    "log_softmax": "write [v - rg.logsumexp(values) for v in values], with the sum computed once",
    "ndtr": "write 0.5 * rg.math.erfc(-x / math.sqrt(2))",
    "rsqrt": "write x ** -0.5",
    "std": "write rg.math.sqrt(rg.mean([(x - m) ** 2 for x in xs])) with m = rg.mean(xs)",
    "var": "write rg.mean([(x - m) ** 2 for x in xs]) with m = rg.mean(xs)",
}

#: Names of the package.
PACKAGE: dict[str, str] = {
    "tensor": "a number is rg.Value(2.0), and a vector a list of them",
    "Tensor": "a number is rg.Value(2.0), and a vector a list of them",
    "numpy": "NumPy's functions take Values: np.sin(v), np.sum(array_of_values); rg.math has the names, too",
    "stop_gradient": "write v.detach()",
    "custom_vjp": "write @rg.primitive(partials=…), the partial derivatives of one result",
    "custom_jvp": "write @rg.primitive(partials=…), the partial derivatives of one result",
    "custom_gradient": "write @rg.primitive(partials=…), the partial derivatives of one result",
    "checkpoint": "a compiled function is one node: call rg.compile(part), or see docs/howto/own-derivative.md",
    "remat": "a compiled function is one node: call rg.compile(part), or see docs/howto/own-derivative.md",
    "jit": "the name is rg.compile",
    "enable_grad": "leave the block of rg.no_grad(), or pass what needs a gradient out of it",
    "inference_mode": "the name is rg.no_grad",
    "save": "model.state_dict() is arrays by name: np.savez(file, **model.state_dict()), or safetensors",
    "load": "model.load_state_dict(…) takes arrays by name: model.load_state_dict(np.load(file))",
    "manual_seed": "initial weights come from Python's random: random.seed(1)",
    "lax": "write Python's own loops and ifs; rg.where chooses between two Values",
    "linspace": "NumPy's arrays of floats are fine as data: np.linspace(…)",
    "exp": "the name is rg.math.exp",
    "log": "the name is rg.math.log",
    "tanh": "the name is rg.math.tanh",
    "sin": "the name is rg.math.sin",
    "cos": "the name is rg.math.cos",
    "sqrt": "the name is rg.math.sqrt",
    "relu": "the name is rg.math.relu",
    "sigmoid": "the name is rg.math.sigmoid",
}


def elsewhere(owner: str, name: str, table: Mapping[str, str]) -> AttributeError:
    """``owner`` has no attribute ``name``; where ``table`` knows the habit, the message says what to write."""
    remedy = f": {table[name]}." if name in table else ""
    return AttributeError(f"{owner} has no attribute {name!r}{remedy}", name=name)


class Elsewhere:
    """An attribute that a class does not have; asking for it raises AttributeError with the sentence of its table.

    For the native Value, on which a ``__getattr__`` would slow every attribute down. An instance with a dictionary may
    have such an attribute all the same.
    """

    def __init__(self, name: str, sentence: str) -> None:
        self._name = name
        self.__doc__ = f"Not here: {sentence}."

    def _refuse(self, owner: type) -> NoReturn:
        raise elsewhere(f"a {owner.__name__}", self._name, VALUE)

    def __get__(self, instance: object, owner: type) -> Any:
        own = getattr(instance, "__dict__", {})
        return own[self._name] if self._name in own else self._refuse(owner)

    def __set__(self, instance: object, thing: object) -> None:
        if not hasattr(instance, "__dict__"):
            self._refuse(type(instance))
        vars(instance)[self._name] = thing
