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
    "dtype": "a Value is one float64; of Values in np.array([...]) NumPy knows the dtype, object",
    "ndim": "a Value is one number and has no axes: put Values in a list or a NumPy array",
    "size": "a Value is one number and has no size: put Values in a list or a NumPy array",
    "device": _PLACE,
    "float": _PLACE,
    "T": "a Value is one number: np.array(rows_of_values).T is a transpose",
    "reshape": "a Value is one number: np.array(values).reshape(...) arranges several",
    "view": "a Value is one number: np.array(values).reshape(...) arranges several",
    "sum": "a Value is one number: rg.sum(values) adds several",
    "mean": "a Value is one number: rg.mean(values) averages several",
    "max": "a Value is one number: rg.max(values) takes the largest of several",
    "min": "a Value is one number: rg.min(values) takes the smallest of several",
    "softmax": "a Value is one number: rg.softmax(values) takes several",
    "dot": "a Value is one number: rg.dot(xs, ys) takes two sequences",
    "zero_": "assign the number: v.data = 0.0",
    "copy_": "assign the number: v.data = other.data",
    "add_": "assign the number: v.data += step",
    "mul_": "assign the number: v.data = v.data * factor",
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
    "register_forward_pre_hook": "write a Module whose forward() calls this one and does the rest",
    "register_full_backward_hook": _HOOK,
    "get_parameter": "dict(model.named_parameters()) has them by name",
    "get_submodule": "dict(model.named_modules()) has them by name",
    "extra_repr": "a module prints its attributes: override __repr__",
    "compile": "rg.compile takes a function: rg.compile(lambda x: model(x))",
    "type": _PLACE,
    "bfloat16": _PLACE,
    "named_buffers": "numbers in attributes are ordinary: vars(model) has them",
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
    "defaults": "settings() has the numbers that it was made with",
    "state": "state_dict() has the optimizer's memory, and arrays() its arrays",
}

_LIST = "a plain list, tuple or dict in an attribute does it"
_LR = "schedules are optim.LinearSchedule, CosineSchedule, StepSchedule, LambdaSchedule, WarmupSchedule, "
_LR += "SequentialSchedule"

_HUBER = "write rg.where(abs(d) < 1, 0.5 * d * d, abs(d) - 0.5) for a difference d"
_RECURRENT = "write one step as a Module, and loop over the sequence; rg.compile makes a loop of it"
_SUBCLASS = "subclass optim.Optimizer: step() moves p.data by p.grad"

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
    "BCELoss": "write -(y * rg.math.log(p) + (1 - y) * rg.math.log(1 - p)) for a probability p and a label y of 0 or 1",
    "NLLLoss": "nn.cross_entropy(logits, target) takes the logits themselves",
    "KLDivLoss": "write rg.sum([p * (rg.math.log(p) - rg.math.log(q)) for p, q in zip(ps, qs)])",
    "HuberLoss": _HUBER,
    "SmoothL1Loss": _HUBER,
    "LogSoftmax": "write [v - rg.logsumexp(values) for v in values], with the sum computed once",
    "PReLU": "write rg.where(x > 0, x, self.slope * x) with self.slope = rg.Value(0.25)",
    "Hardtanh": "write rg.math.clip(x, -1.0, 1.0)",
    "Bilinear": "write rg.dot(x, [rg.dot(row, y) for row in self.weight])",
    "GroupNorm": "a function here sees one sample; nn.RMSNorm(size) normalizes within it",
    "MaxPool1d": "write the loop, with rg.max(window) for each window",
    "MaxPool2d": "write the loops, with rg.max(window) for each window",
    "AvgPool2d": "write the loops, with rg.mean(window) for each window",
    "RNN": _RECURRENT,
    "GRU": _RECURRENT,
    "LSTM": _RECURRENT,
    "MultiheadAttention": "nn.GPT has attention written out on scalars, to be read and changed",
    "Transformer": "nn.GPT is one, written out on scalars, to be read and changed",
    "DataParallel": "rg.compile(f).to_jax(...) is a function of JAX, which divides work among devices",
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
    "Adagrad": _SUBCLASS,
    "Adadelta": _SUBCLASS,
    "Adamax": _SUBCLASS,
    "NAdam": _SUBCLASS,
    "RAdam": _SUBCLASS,
    "Rprop": _SUBCLASS,
    "ASGD": _SUBCLASS,
    "ReduceLROnPlateau": "assign it where the loss stops falling: optimizer.lr *= 0.5",
    "swa_utils": "average the arrays of model.state_dict() over steps, and give them to load_state_dict()",
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
    "sinc": "write rg.math.sin(x) / x, and 1.0 where x is zero",
    "softsign": "write x / (1 + abs(x))",
    "hardtanh": "write rg.math.clip(x, -1.0, 1.0)",
    "mish": "write x * rg.math.tanh(rg.math.softplus(x))",
    "logit": "write rg.math.log(p) - rg.math.log1p(-p)",
    "norm_cdf": "write 0.5 * rg.math.erfc(-x / math.sqrt(2))",
    "norm": "write rg.math.hypot(*values)",
    "polygamma": "it is the derivative of digamma: rg.grad(rg.math.digamma)(x) for the first",
    "erfinv": "solve erf(x) = y with Newton's method, as a primitive: see docs/howto/own-derivative.md",
    "std": "write rg.math.sqrt(rg.mean([(x - m) ** 2 for x in xs])) with m = rg.mean(xs)",
    "var": "write rg.mean([(x - m) ** 2 for x in xs]) with m = rg.mean(xs)",
}

_LIST_OF = "a vector is a list: [rg.Value({}) for _ in range(n)]"
_ARRAYS = "np.array(rows) of Values takes NumPy's @, np.outer and np.einsum; rg.dot(xs, ys) is one node"
_ARGMAX = "Values compare by their numbers: max(range(len(values)), key=values.__getitem__), and min likewise"
_TRANSFORMS = "grad, gradient, jacobian, hessian, hvp, jvp, vjp and vmap are names of retrograd itself"
_TREES = "every transform takes trees as they are; a comprehension maps one, rg.register_pytree_node adds a class"
_DEVICES = "rg.compile(f).to_jax(…) is a function of JAX, which divides work among devices"

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
    "set_grad_enabled": "with rg.no_grad(): records nothing, and what is outside is recorded",
    "zeros": _LIST_OF.format("0.0"),
    "ones": _LIST_OF.format("1.0"),
    "rand": _LIST_OF.format("random.random()"),
    "randn": _LIST_OF.format("random.gauss(0, 1)"),
    "random": "numbers are drawn by Python's random, or by NumPy",
    "arange": "Python's range counts, and NumPy's arrays of floats are fine as data",
    "from_numpy": "NumPy's arrays of floats are fine as data; [rg.Value(x) for x in array] makes parameters of one",
    "is_tensor": "write isinstance(x, rg.Value)",
    "stack": "a list of rows is a matrix, and np.array(rows) an array of Values",
    "cat": "lists are joined as lists are: [*xs, *ys]",
    "matmul": _ARRAYS,
    "mm": _ARRAYS,
    "einsum": _ARRAYS,
    "outer": _ARRAYS,
    "cumsum": "itertools.accumulate(values) gives the sums, np.cumsum those of an array",
    "argmax": _ARGMAX,
    "argmin": _ARGMAX,
    "topk": "Values compare by their numbers: sorted(values)[-k:]",
    "norm": "write rg.math.hypot(*values)",
    "log_softmax": "write [v - rg.logsumexp(values) for v in values], with the sum computed once",
    "clamp": "the name is rg.math.clip",
    "abs": "Python's own: abs(v)",
    "pow": "Python's own: v ** n",
    "float32": _PLACE,
    "float64": _PLACE,
    "device": _PLACE,
    "cuda": _PLACE,
    "config": _PLACE,
    "autograd": _TRANSFORMS,
    "func": _TRANSFORMS,
    "utils": "the clipping of gradients is optim.clip_grad_norm_; batches are what Python's loops make of a list",
    "tree_util": _TREES,
    "tree_map": _TREES,
    "tree": _TREES,
    "pmap": _DEVICES,
    "devices": _DEVICES,
    "device_put": _DEVICES,
    "make_jaxpr": "rg.explain(f, x=1.0) shows every operation of a call",
    "linearize": "rg.jvp and rg.vjp take the point",
    "debug": "print works: a function runs as plain Python; rg.explain(f, x=1.0) shows every number",
    "block_until_ready": "results are there when a call returns: leave it out",
    "pure_callback": "@rg.primitive(partials=…) takes any Python function",
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
