"""Names that hands know from PyTorch, JAX and NumPy, and the line that does the same here.

A name in a table does not exist: ``hasattr`` says no, and asking for it raises an AttributeError with the sentence.
"""

from __future__ import annotations

__all__ = [
    "COMPILED", "LINALG", "MATH", "MODULE", "NN", "OPTIM", "OPTIMIZER", "PACKAGE", "SCHEDULE", "VALUE",
]  # fmt: skip


def _each(names: str, sentence: str) -> dict[str, str]:
    """The same sentence for several names; ``{}`` in it is the name."""
    return {name: sentence.replace("{}", name) for name in names.split()}


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
_SHAPE = "a Value is one number: np.array(values) has the shapes of several"
_PARTS = "a Value is one number: a list or a NumPy array of Values is indexed and cut as any other"
_COMPARE = "Values compare by their numbers: Python's operators, max(values), min(values) and sorted(values) take them"
_ARRAYS = "np.array(rows) of Values takes NumPy's @, np.outer and np.einsum; rg.dot(xs, ys) is one node"
_SPREAD = "write rg.mean([(x - m) ** 2 for x in xs]) with m = rg.mean(xs), and rg.math.sqrt of it for the deviation"
_SUMS = "itertools.accumulate(values) gives the sums, np.cumsum those of an array"
_DRAW = "rg.explore(v) shows the graph, and rg.explain(v).to_dot() writes it for Graphviz"
_FINITE = "math.{}(v.data) asks of the plain number, and rg.detect_anomaly() where a NaN comes from"

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
    "clamp_min": "write rg.maximum(v, low)",
    "clamp_max": "write rg.minimum(v, high)",
    "fill_": "assign the number: v.data = 0.0",
    "sub_": "assign the number: v.data -= step",
    "div_": "assign the number: v.data = v.data / divisor",
    "normal_": "assign the number: v.data = random.gauss(0, 1)",
    "uniform_": "assign the number: v.data = random.random()",
    "detach_": "v.detach() is a leaf with its number",
    "dim": "a Value is one number and has no axes: put Values in a list or a NumPy array",
    "numel": "a Value is one number: len(list(model.parameters())) counts those of a model",
    "nelement": "a Value is one number: len(list(model.parameters())) counts those of a model",
    "norm": "the size of one number is abs(v), that of several rg.math.hypot(*values)",
    "prod": "a Value is one number: rg.prod(values) multiplies several",
    "logsumexp": "a Value is one number: rg.logsumexp(values) takes several",
    "log_softmax": "a Value is one number: write [v - rg.logsumexp(values) for v in values]",
    "any": "a Value is one number: Python's any(values) takes several",
    "all": "a Value is one number: Python's all(values) takes several",
    "round": "write rg.math.rint(v), or round(v.data) for the plain number",
    "rsqrt": "write v ** -0.5",
    "name": "the name of a Value is its label: rg.Value(2.0, label='x')",
    "real": "a Value is a real number: use it as it is",
    "imag": "a Value is a real number, and there are no complex ones",
    "explain": "write rg.explain(v)",
    "explore": "write rg.explore(v)",
    "is_integer": "the plain number knows: v.data.is_integer()",
    "register_post_accumulate_grad_hook": _HOOK,
    **_each("half long type is_cuda pin_memory share_memory_ contiguous is_contiguous storage layout", _PLACE),
    **_each("element_size type_as", _PLACE),
    **_each("int bool", _NUMBER),
    **_each("unsqueeze squeeze t permute transpose expand repeat flatten", _SHAPE),
    **_each("chunk split index_select gather masked_fill scatter_ nonzero", _PARTS),
    **_each("argmax argmin sort topk eq ne lt le gt ge", _COMPARE),
    **_each("matmul mm mv", _ARRAYS),
    **_each("std var", _SPREAD),
    **_each("draw draw_dot graph plot show to_dot", _DRAW),
    **_each("isnan isfinite isinf", _FINITE),
    **_each("new_zeros new_tensor", "a leaf is rg.Value(0.0), and a vector a list of them"),
    "cumsum": _SUMS,
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
    "register_module": "assign it: self.name = module, or keep a list of modules in an attribute",
    "set_submodule": "assign it: model.name = module",
    "get_buffer": "numbers in attributes are ordinary: vars(model) has them",
    "share_memory": _PLACE,
    "to_empty": _PLACE,
    "reset_parameters": "make the module again, or assign: for p in model.parameters(): p.data = random.gauss(0, 0.1)",
    "in_features": "a Linear is its weights, rows of Values: len(linear.weight[0])",
    "out_features": "a Linear is its weights, rows of Values: len(linear.weight)",
    "backward": "the loss has it: loss = (model(x)[0] - y) ** 2, then loss.backward()",
    "fit": "write the loop (README has one), or take retrograd.sklearn.MLPRegressor and MLPClassifier",
    "predict": "call it: model(x)",
    "summary": "print(model) shows its modules, and dict(model.named_parameters()) its parameters",
    "save": "model.state_dict() is arrays by name: np.savez(file, **model.state_dict()), or safetensors",
    "load": "model.load_state_dict(…) takes arrays by name: model.load_state_dict(np.load(file))",
    "append": "make a new one of all modules: nn.Sequential(*model.children(), module)",
    "generate": "call it token by token, with the cache of model.new_cache(): retrograd train gpt does so",
    "sample": "call it token by token, with the cache of model.new_cache(): retrograd train gpt does so",
}

#: Attributes of an optimizer.
OPTIMIZER: dict[str, str] = {
    "param_groups": _GROUPS,
    "add_param_group": _GROUPS,
    "defaults": "settings() has the numbers that it was made with",
    "state": "state_dict() has the optimizer's memory, and arrays() its arrays",
    "parameters": "the parameters are optimizer.params",
    "get_lr": "the learning rate is optimizer.lr",
    "minimize": "call loss.backward(), then optimizer.step()",
    "register_step_post_hook": "write what follows after the call of optimizer.step()",
    "zero_grads": "the name is zero_grad",
    **_each("update apply_updates apply_gradients", "call loss.backward(), then optimizer.step(), which moves p.data"),
    "init": "an optimizer is made with its parameters: optim.Adam(model.parameters())",
}

#: Attributes of a schedule.
SCHEDULE: dict[str, str] = {
    **_each("get_last_lr get_lr", "the learning rate is optimizer.lr"),
    "last_epoch": "the number of steps is schedule.steps",
    "base_lrs": "the rate at the start is schedule.start",
    "print_lr": "print(optimizer.lr)",
}

_COMPILED_TRANSFORM = "the transforms take it: rg.{}(f)"

#: Attributes of a compiled function.
COMPILED: dict[str, str] = {
    **_each("grad jacobian hessian hvp jvp vjp vmap jacfwd jacrev", _COMPILED_TRANSFORM),
    "gradient": "the transforms take it: rg.grad(f)(x); f.value_and_grad(x) gives both",
    "lower": "print(f.program()) shows what it has become, and f.to_c(…) writes it as C",
    "trace": "call it, and print(f.program()); rg.explain(f, x=1.0) shows every operation",
    "compile": "call it: the first call compiles",
    "clear_cache": "the name is clear",
    "eval_shape": "call it",
    "forward": "call it: f(x)",
}

_LIST = "a plain list, tuple or dict in an attribute does it"
_LR = "schedules are optim.LinearSchedule, CosineSchedule, StepSchedule, LambdaSchedule, WarmupSchedule, "
_LR += "SequentialSchedule"

_HUBER = "write rg.where(abs(d) < 1, 0.5 * d * d, abs(d) - 0.5) for a difference d"
_RECURRENT = "write one step as a Module, and loop over the sequence; rg.compile makes a loop of it"
_GPT = "nn.GPT is a transformer, written out on scalars, to be read and changed"
_ACTIVATION = "write the function of one number in forward(), with rg.math and rg.where, for each x of the list"
_DROPOUT = "multiply by 0 or 1 / (1 - p), drawn with random, in forward() where self.training"
_NORM = "a function here sees one sample; nn.RMSNorm(size) normalizes within it"
_WINDOWS = "write the loops over rows and columns, with rg.dot, rg.max or rg.mean of each window"
_LOSS = "write its formula for one sample on Values, and take rg.mean over the samples"
_DEVICES = "rg.compile(f).to_jax(…) is a function of JAX, which divides work among devices"
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
    "DataParallel": _DEVICES,
    "Flatten": "write [v for row in rows for v in row]",
    "mse_loss": "write rg.mean([(p - y) ** 2 for p, y in zip(predictions, targets)])",
    "logsumexp": "the name is rg.logsumexp",
    "log_softmax": "write [v - rg.logsumexp(values) for v in values], with the sum computed once",
    "one_hot": "nn.Embedding and nn.cross_entropy take the number of a class as it is",
    "swish": "the name is rg.math.silu",
    "Dense": "the name is nn.Linear",
    "leaky_relu": "write rg.where(x > 0, x, 0.01 * x)",
    "ELU": "write rg.where(x > 0, x, rg.math.expm1(x)) in forward()",
    "elu": "write rg.where(x > 0, x, rg.math.expm1(x))",
    "initializers": "assign: for p in model.parameters(): p.data = random.gauss(0, 0.1)",
    "LogSigmoid": "write -rg.math.softplus(-x) in forward()",
    "Mish": "write x * rg.math.tanh(rg.math.softplus(x)) in forward()",
    "Softsign": "write x / (1 + abs(x)) in forward()",
    "ReLU6": "write rg.math.clip(x, 0.0, 6.0) in forward()",
    "Softmin": "rg.softmax([-v for v in values]) is the function",
    "GLU": "write [a * rg.math.sigmoid(b) for a, b in zip(values, gates)] in forward()",
    "Threshold": "write rg.where(x > threshold, x, value) in forward()",
    "CosineSimilarity": "write rg.dot(xs, ys) / (rg.math.hypot(*xs) * rg.math.hypot(*ys))",
    "Unflatten": "write [values[i : i + n] for i in range(0, len(values), n)]",
    "ZeroPad2d": "join lists: [*[0.0] * n, *row, *[0.0] * n]",
    "EmbeddingBag": "nn.Embedding(count, size)(i) is one row; add or average rows with zip and rg.mean",
    "compact": "make the modules in __init__, and use them in forward()",
    **_each("relu tanh sigmoid gelu silu softplus", "the name is rg.math.{}"),
    **_each("SELU CELU Hardswish Hardsigmoid Tanhshrink Softshrink Hardshrink", _ACTIVATION),
    **_each("Dropout1d Dropout2d AlphaDropout dropout", _DROPOUT),
    **_each("BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d SyncBatchNorm LocalResponseNorm standardize", _NORM),
    **_each("Conv Conv3d ConvTranspose1d ConvTranspose2d Unfold Fold Upsample PixelShuffle", _WINDOWS),
    **_each("MaxPool3d AvgPool1d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d", _WINDOWS),
    **_each("RNNCell GRUCell LSTMCell", _RECURRENT),
    **_each("TransformerEncoder TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer", _GPT),
    **_each("HingeEmbeddingLoss CosineEmbeddingLoss TripletMarginLoss MarginRankingLoss MultiMarginLoss", _LOSS),
    **_each("PoissonNLLLoss GaussianNLLLoss CTCLoss SoftMarginLoss", _LOSS),
    **_each("parallel", _DEVICES),
    **_each("quantized quantizable qat", _PLACE),
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
    "MultiStepLR": f"write optim.LambdaSchedule(optimizer, lambda step: 0.1 ** sum(step >= s for s in steps)); {_LR}",
    "MultiplicativeLR": f"write optim.LambdaSchedule(optimizer, lambda step: 0.95**step); {_LR}",
    "PolynomialLR": f"write optim.LambdaSchedule(optimizer, lambda step: (1 - step / total) ** 2); {_LR}",
    **_each("LinearLR ConstantLR CosineAnnealingWarmRestarts CyclicLR ChainedScheduler", _LR),
    **_each("SparseAdam Adafactor Muon Lion", _SUBCLASS),
    "adamw": "the name is optim.AdamW",
    **_each("apply_updates chain", "call optimizer.step() after loss.backward(): it keeps its memory and moves p.data"),
}

#: Names of ``retrograd.linalg``.
LINALG: dict[str, str] = {
    "norm": "write rg.math.hypot(*values)",
    "lstsq": "solve the normal equations: rg.linalg.solve(a.T @ a, a.T @ b) with a = np.array(rows)",
    "pinv": "solve the normal equations: rg.linalg.solve(a.T @ a, a.T @ b) with a = np.array(rows)",
    "slogdet": "write rg.math.log(abs(rg.linalg.det(a)))",
    "cholesky": "rg.linalg.solve(a, b) solves, and rg.linalg.det(a) has the determinant; else write its two loops",
    "matrix_power": "np.linalg.matrix_power takes an array of Values",
    **_each("matmul dot outer", _ARRAYS),
    **_each(
        "svd eig eigh eigvals eigvalsh qr", "solve, inv and det are here; for more, rg.compile(f).to_jax(…) has JAX's"
    ),
}

_PRIMITIVE = "write @rg.primitive(partials=…) around the function of another library: see docs/howto/own-derivative.md"

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
    "ln": "the name is rg.math.log",
    "swish": "the name is rg.math.silu",
    "round": "the name is rg.math.rint",
    "cube": "write x ** 3",
    "sec": "write 1 / rg.math.cos(x)",
    "csc": "write 1 / rg.math.sin(x)",
    "cot": "write 1 / rg.math.tan(x)",
    "sech": "write 1 / rg.math.cosh(x)",
    "csch": "write 1 / rg.math.sinh(x)",
    "coth": "write 1 / rg.math.tanh(x)",
    "relu6": "write rg.math.clip(x, 0.0, 6.0)",
    "tanhshrink": "write x - rg.math.tanh(x)",
    "hardsigmoid": "write rg.math.clip(x / 6 + 0.5, 0.0, 1.0)",
    "hardswish": "write x * rg.math.clip(x / 6 + 0.5, 0.0, 1.0)",
    "selu": "write 1.0507009873554805 * rg.where(x > 0, x, 1.6732632423543772 * rg.math.expm1(x))",
    "celu": "write rg.where(x > 0, x, rg.math.expm1(x))",
    "glu": "write x * rg.math.sigmoid(gate)",
    "lerp": "write x + t * (y - x)",
    "xlogy": "write rg.where(x == 0, 0.0, x * rg.math.log(y))",
    "entr": "write -x * rg.math.log(x)",
    "beta": "write rg.math.exp(lgamma(x) + lgamma(y) - lgamma(x + y)) with lgamma = rg.math.lgamma",
    "betaln": "write lgamma(x) + lgamma(y) - lgamma(x + y) with lgamma = rg.math.lgamma",
    "norm_pdf": "write rg.math.exp(-x * x / 2) / math.sqrt(2 * math.pi)",
    "log_ndtr": "write rg.math.log(0.5 * rg.math.erfc(-x / math.sqrt(2)))",
    "erfcx": "write rg.math.exp(x * x) * rg.math.erfc(x)",
    **_each("heaviside step", "its derivative is 0 everywhere: write rg.where(x > 0, 1.0, 0.0)"),
    **_each("ndtri zeta i0 i1 j0 j1 bessel_j0 bessel_j1 gammainc gammaincc betainc", _PRIMITIVE),
}

_LIST_OF = "a vector is a list: [rg.Value({}) for _ in range(n)]"
_ARGMAX = "Values compare by their numbers: max(range(len(values)), key=values.__getitem__), and min likewise"
_TRANSFORMS = "grad, gradient, jacobian, hessian, hvp, jvp, vjp and vmap are names of retrograd itself"
_IN_MATH = "the name is rg.math.{}"
_TREES = "every transform takes trees as they are; a comprehension maps one, rg.register_pytree_node adds a class"

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
    "cumsum": _SUMS,
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
    **_each("exp log tanh sin cos tan sqrt cbrt relu sigmoid square clip sign floor ceil erf expm1 log1p", _IN_MATH),
    **_each("atan2 hypot softplus gelu silu sinh cosh asin acos atan fmod lgamma digamma", _IN_MATH),
    "round": "the name is rg.math.rint",
    "heaviside": "its derivative is 0 everywhere: write rg.where(x > 0, 1.0, 0.0)",
    **_each("isnan isfinite isinf", _FINITE),
    **_each("std var", _SPREAD),
    **_each("sort argsort equal", _COMPARE),
    **_each("allclose isclose", "compare the plain numbers: math.isclose(v.data, w.data)"),
    **_each("bmm mv tensordot diag tril triu cross meshgrid kron", _ARRAYS),
    **_each("flatten reshape transpose squeeze unsqueeze broadcast_to permute expand_dims numel", _SHAPE),
    **_each("concat concatenate hstack vstack", "lists are joined as lists are: [*xs, *ys]"),
    **_each("zeros_like empty", _LIST_OF.format("0.0")),
    **_each("ones_like full", _LIST_OF.format("1.0")),
    "eye": "a list of rows is a matrix: [[float(i == j) for j in range(n)] for i in range(n)]",
    "as_tensor": "a number is rg.Value(2.0), and a vector a list of them",
    "Array": "a number is rg.Value(2.0), and a vector a list of them",
    "Parameter": "a parameter is a leaf: rg.Value(0.1)",
    **_each("randint randperm normal bernoulli multinomial", "numbers are drawn by Python's random, or by NumPy"),
    "seed": "initial weights come from Python's random: random.seed(1)",
    **_each("is_grad_enabled", "with rg.no_grad(): records nothing, and what is outside is recorded"),
    **_each("long int64 int32 float16 bfloat16 set_default_dtype enable_x64 typename device_get", _PLACE),
    **_each("backends amp default_backend", _PLACE),
    **_each("distributed multiprocessing local_devices device_count shard_map sharding", _DEVICES),
    **_each("get_num_threads set_num_threads", "batches take threads: f.backward_batch(calls, threads=4)"),
    "profiler": "f.stats() and f.program() tell what a compiled function does; Python's cProfile tells the rest",
    "distributions": "write the density on Values, such as -0.5 * z * z - rg.math.log(s) with z = (x - m) / s",
    "special": "functions of numbers are in rg.math",
    "fft": "write the sums, or take rg.compile(f).to_jax(…) for JAX's",
    "sparse": "rg.jacobian(f, sparse=True) and rg.hessian(f, sparse=True) give SciPy's matrices",
    "version": "the version is rg.__version__",
    **_each(
        "draw_dot plot visualize", "rg.explore(v) shows the graph, and rg.explain(v).to_dot() writes it for Graphviz"
    ),
    **_each("tree_leaves tree_flatten tree_unflatten flatten_util ravel_pytree dict container_types builtins", _TREES),
    **_each("make_vjp vector_jacobian_product tensor_jacobian_product linear_transpose", "the name is rg.vjp"),
    **_each("make_jvp", "the name is rg.jvp"),
    **_each("make_hvp hessian_vector_product hessian_tensor_product make_ggnvp", "the name is rg.hvp"),
    **_each("elementwise_grad egrad", "write rg.vmap(rg.grad(f)), or rg.grad(f) of the sum"),
    **_each("grad_and_aux", "write rg.value_and_grad(f, has_aux=True)"),
    **_each("grad_named multigrad multigrad_dict", "argnums takes names: rg.grad(f, argnums=('x', 'w'))"),
    "holomorphic_grad": "there are no complex Values: take the real and the imaginary part as two",
    **_each("gradcheck gradgradcheck check_grads quick_grad_check test_util", "the name is rg.check_gradients"),
    **_each("defvjp defjvp extend", "write @rg.primitive(partials=…), the partial derivatives of one result"),
    **_each("core tracer getval closure_convert", "a function is traced on Values: v.data is the number of one"),
    "debug_nans": "the name is rg.detect_anomaly",
    "disable_jit": "call the function itself: compiled.__wrapped__",
    "named_scope": "the graph is folded by calls: what a function of yours computes is one box in rg.explore",
    **_each("clear_caches live_arrays", "f.clear() forgets the programs of a compiled function f"),
    **_each("eval_shape ShapeDtypeStruct ensure_compile_time_eval", "call the function: shapes are those of its lists"),
    "experimental": "all that there is has a name in rg itself: dir(rg)",
    "util": _TRANSFORMS,
    "differential_operators": _TRANSFORMS,
    "misc": _TRANSFORMS,
    "optimizers": "the optimizers are in rg.optim",
    "jit": "the name is rg.compile",
    "viz": _DRAW,
}
