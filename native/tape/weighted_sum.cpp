// A neuron's weighted sum in one native call, which records the same nodes as the Python loop.
#include "tape/record.hpp"

namespace retrograd {
namespace {

bool exact(PyObject* object) { return Py_TYPE(object) == value_type; }

// Whether a layer got a batch: a row where one number is expected. Sets an exception.
bool refuse_row(PyObject* input, Py_ssize_t weights) {
  if (!PySequence_Check(input)) return false;
  raise_from("batch_given", "(nO)", weights, input);
  return true;
}

Ref product_of(PyObject* weight, PyObject* input, Py_ssize_t weights) {
  if (!exact(weight) || !exact(input)) {
    if (refuse_row(input, weights)) return Ref();
    // This may run Python code, which may change the lists.
    Ref a = Ref::borrow(weight), b = Ref::borrow(input);
    return Ref(PyNumber_Multiply(weight, input));
  }
  if (!flush_parameters()) return Ref();
  Value *a = as_value(weight), *b = as_value(input);
  return Ref(record_binary(Rule_mul::call(a->data, b->data), code_of(ROW_mul), a, b));
}

// total + product; both references go into the node.
Ref sum_of(Ref total, Ref product) {
  Tape* tape = current_tape;
  if (!exact(total.get()) || !exact(product.get()) || !plain(tape)) {
    return Ref(PyNumber_Add(total.get(), product.get()));
  }
  Value *a = as_value(total.release()), *b = as_value(product.release());
  Value* node = begin_node(tape, Rule_add::call(a->data, b->data), code_of(ROW_add), IN_ARENA | OWNS_B);
  node->a = a;
  node->b = b;
  return Ref(as_object(node));
}

PyObject* item(const Ref& sequence, Py_ssize_t i) {
  return PyList_Check(sequence.get()) ? PyList_GetItem(sequence.get(), i) : PyTuple_GetItem(sequence.get(), i);
}

Ref tuple_or_list(PyObject* inputs) {
  if (PyList_Check(inputs) || PyTuple_Check(inputs)) return Ref::borrow(inputs);
  Ref iterator(PyObject_GetIter(inputs));
  if (iterator) return Ref(PySequence_Tuple(iterator.get()));
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    raise_from("not_a_sequence", "(Os)", inputs, "a layer");
  }
  return Ref();
}

// The nodes that a loop in Python would record, in the same order.
PyObject* weighted_sum(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3) return PyErr_Format(PyExc_TypeError, "weighted_sum() takes 3 operands, and %zd were given.", count);
  Ref weights(PySequence_Fast(arguments[0], "weighted_sum() takes a sequence of weights."));
  Ref inputs(weights ? tuple_or_list(arguments[1]) : Ref());
  if (!inputs) return nullptr;
  Py_ssize_t n = PySequence_Size(weights.get());
  if (n != PySequence_Size(inputs.get())) {
    if (PySequence_Size(inputs.get()) > 0 && refuse_row(item(inputs, 0), n)) return nullptr;
    raise_from("wrong_inputs", "(nn)", n, PySequence_Size(inputs.get()));
    return nullptr;
  }
  Ref total = Ref::borrow(arguments[2]);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject *weight = item(weights, i), *input = item(inputs, i);
    if (!weight || !input) return nullptr;
    Ref product = product_of(weight, input, n);
    if (!product) return nullptr;
    total = sum_of(std::move(total), std::move(product));
    if (!total) return nullptr;
  }
  return total.release();
}

}  // namespace

PyMethodDef sum_functions[] = {
    {"weighted_sum", fast(weighted_sum), METH_FASTCALL,
     "weighted_sum(weights, inputs, start): start + w0*x0 + w1*x1 + ..., one node for each operation."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
