"""A small evaluator of the operators that robot policies are made of, in NumPy.

It is the source framework of tests/conformance/imported_policies.py: what assay's engine answers is held against it,
so it shares no line with assay, and must never learn one.
"""

import numpy as np
import onnx
from onnx import numpy_helper


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def flat_index(axis, rank):
    return axis + rank if axis < 0 else axis


def gemm(inputs, a):
    x = inputs[0].T if a.get("transA", 0) else inputs[0]
    w = inputs[1].T if a.get("transB", 0) else inputs[1]
    y = np.float32(a.get("alpha", 1.0)) * (x @ w)
    return y if len(inputs) < 3 else y + np.float32(a.get("beta", 1.0)) * inputs[2]


def sliced(inputs, a):
    x, starts, ends = inputs[0], inputs[1].tolist(), inputs[2].tolist()
    axes = inputs[3].tolist() if len(inputs) > 3 and inputs[3] is not None else list(range(len(starts)))
    steps = inputs[4].tolist() if len(inputs) > 4 else [1] * len(starts)
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        index[flat_index(axis, x.ndim)] = slice(start, end, step)
    return x[tuple(index)]


def reshaped(inputs, a):
    shape = [inputs[0].shape[i] if s == 0 else s for i, s in enumerate(inputs[1].tolist())]
    return inputs[0].reshape(shape)


def split(inputs, a, count):
    axis = flat_index(a.get("axis", 0), inputs[0].ndim)
    sizes = a.get("split") or (inputs[1].tolist() if len(inputs) > 1 else None)
    if sizes is None:
        return np.split(inputs[0], count, axis)
    return np.split(inputs[0], np.cumsum(sizes)[:-1], axis)


def clipped(inputs, a):
    low = inputs[1] if len(inputs) > 1 and inputs[1] is not None else np.float32(-np.inf)
    high = inputs[2] if len(inputs) > 2 and inputs[2] is not None else np.float32(np.inf)
    return np.minimum(np.maximum(inputs[0], low), high)


def constant(inputs, a):
    if "value" in a:
        return numpy_helper.to_array(a["value"])
    if "value_float" in a:
        return np.float32(a["value_float"])
    return np.int64(a["value_int"])


def squeezed(inputs, a):
    axes = a.get("axes") or (inputs[1].tolist() if len(inputs) > 1 else None)
    return np.squeeze(inputs[0], None if axes is None else tuple(axes))


def unsqueezed(inputs, a):
    axes = a.get("axes") or inputs[1].tolist()
    return np.expand_dims(inputs[0], tuple(axes))


OPERATORS = {
    "Gemm": gemm,
    "MatMul": lambda i, a: i[0] @ i[1],
    "Add": lambda i, a: i[0] + i[1],
    "Sub": lambda i, a: i[0] - i[1],
    "Mul": lambda i, a: i[0] * i[1],
    "Div": lambda i, a: i[0] / i[1],
    "Elu": lambda i, a: np.where(i[0] < 0, np.float32(a.get("alpha", 1.0)) * np.expm1(np.minimum(i[0], 0)), i[0]),
    "Relu": lambda i, a: np.maximum(i[0], 0),
    "Tanh": lambda i, a: np.tanh(i[0]),
    "Sigmoid": lambda i, a: 1 / (1 + np.exp(-i[0])),
    "Sin": lambda i, a: np.sin(i[0]),
    "Cos": lambda i, a: np.cos(i[0]),
    "Clip": clipped,
    "Concat": lambda i, a: np.concatenate(i, a["axis"]),
    "Constant": constant,
    "Identity": lambda i, a: i[0],
    "Reshape": reshaped,
    "Slice": sliced,
    "Squeeze": squeezed,
    "Unsqueeze": unsqueezed,
}


class Model:
    """One ONNX file. `run` takes and gives arrays by name; float tensors stay float32."""

    def __init__(self, path):
        proto = onnx.load(path)
        self.graph = proto.graph
        self.functions = {(f.domain, f.name): f for f in proto.functions}
        self.weights = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        self.inputs = {
            i.name: [d.dim_value for d in i.type.tensor_type.shape.dim]
            for i in self.graph.input
            if i.name not in self.weights
        }
        self.outputs = [o.name for o in self.graph.output]

    def run(self, feeds):
        values = dict(self.weights)
        for name, shape in self.inputs.items():
            array = np.asarray(feeds[name], np.float32)
            if list(array.shape) != shape:
                raise ValueError(f"{name} has the shape {array.shape}, and the model takes {shape}")
            values[name] = array
        self.nodes(self.graph.node, values)
        return {name: values[name] for name in self.outputs}

    def nodes(self, nodes, values):
        for node in nodes:
            inputs = [values[name] if name else None for name in node.input]
            a = attributes(node)
            function = self.functions.get((node.domain, node.op_type))
            if function is not None:
                inner = dict(zip(function.input, inputs))
                self.nodes(function.node, inner)
                results = [inner[name] for name in function.output]
            elif node.op_type == "Split":
                results = split(inputs, a, len(node.output))
            else:
                results = [OPERATORS[node.op_type](inputs, a)]
            for name, result in zip(node.output, results):
                values[name] = result.astype(np.float32) if np.asarray(result).dtype == np.float64 else result
