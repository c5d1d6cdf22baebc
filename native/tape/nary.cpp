// N-ary operations: a fold from left to right, recorded as one node.
#include <memory>
#include <string_view>
#include <vector>

#include "tape/docs.hpp"
#include "tape/record.hpp"

namespace retrograd {
namespace {

Ref sequence_list(PyObject* sequence, const char* name) {
  Ref items(PySequence_List(sequence));
  if (!items && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    raise_from("not_a_sequence", "(Os)", sequence, name);
  }
  return items;
}

// The operands of an n-ary operation: each a Value or a number.
struct Operands {
  std::vector<Ref> objects;
  std::vector<double> numbers;
  bool any_value = false;

  bool read(PyObject* sequence, const char* name) {
    Ref items = sequence_list(sequence, name);
    if (!items) return false;
    Py_ssize_t count = PyList_Size(items.get());
    objects.reserve(objects.size() + static_cast<size_t>(count));
    numbers.reserve(numbers.size() + static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = PyList_GetItem(items.get(), i);
      double number;
      if (is_value(item)) {
        any_value = true;
        number = 0.0;  // it is read later, when nothing can change it any more
      } else if (!need_number(item, &number, name)) {
        return false;
      }
      objects.push_back(Ref::borrow(item));
      numbers.push_back(number);
    }
    return true;
  }
};

// The results of an op: one, or one for each operand of a softmax.
template <class R>
std::vector<double> fold(const std::vector<double>& numbers, size_t n) {
  double m = Rule_max::start();
  for (size_t i = 0; i < n; ++i) m = Rule_max::step(m, numbers[i], 0.0, 0.0);
  double s = R::start();
  for (size_t i = 0; i < n; ++i) s = R::step(s, numbers[i], R::nary_kind == PAIRED ? numbers[n + i] : numbers[i], m);
  const auto count = static_cast<double>(n);
  if constexpr (R::nary_kind != SOFTMAX) return {R::finish(s, 0.0, m, count)};
  std::vector<double> results(n);
  for (size_t i = 0; i < n; ++i) results[i] = R::finish(s, numbers[i], m, count);
  return results;
}

PyObject* list_of_floats(const std::vector<double>& numbers) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(numbers.size()));
  for (size_t i = 0; list && i < numbers.size(); ++i) {
    PyObject* number = PyFloat_FromDouble(numbers[i]);
    if (!number || PyList_SetItem(list, static_cast<Py_ssize_t>(i), number) < 0) Py_CLEAR(list);
  }
  return list;
}

OperandList* block_of(const Operands& operands, bool with_probabilities) {
  OperandList* block = OperandList::make(static_cast<uint32_t>(operands.objects.size()), with_probabilities);
  if (!block) return nullptr;
  for (size_t i = 0; i < operands.objects.size(); ++i) {
    PyObject* object = operands.objects[i].get();
    PyObject* operand = is_value(object) ? Py_NewRef(object) : as_object(new_leaf(operands.numbers[i], CONSTANT));
    if (!operand) {
      release_operands(block);
      return nullptr;
    }
    block->operands[block->count++] = as_value(operand);
  }
  return block;
}

template <class R>
PyObject* record_sequence(Operands& operands, size_t n) {
  constexpr bool softmax = R::nary_kind == SOFTMAX;
  OperandList* block = flush_parameters() ? block_of(operands, softmax) : nullptr;
  if (!block) return nullptr;
  for (uint32_t i = 0; i < block->count; ++i) operands.numbers[i] = block->operands[i]->data;
  const std::vector<double> results = fold<R>(operands.numbers, n);
  if constexpr (!softmax) {
    return record_carefully(results[0], code_of(R::row), nullptr, nullptr, 0.0, block);
  }
  for (size_t i = 0; i < results.size(); ++i) block->probabilities[i] = results[i];
  Ref list(PyList_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; list && i < results.size(); ++i) {
    ++block->references;  // each output holds the operands
    PyObject* output = record_carefully(results[i], code_of(R::row), nullptr, nullptr, 0.0, block, i);
    if (!output) {
      list = Ref();
      break;
    }
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), output);
  }
  release_operands(block);
  return list.release();
}

template <class R>
PyObject* reduce_with(PyObject* xs, PyObject* ys, const char* name) {
  constexpr bool paired = R::nary_kind == PAIRED;
  if (paired != (ys && ys != Py_None)) {
    PyErr_Format(PyExc_TypeError, paired ? "%s() takes two sequences, and one was given." : "%s() takes one sequence.",
                 name);
    return nullptr;
  }
  Ref first, second;
  if (following()) {  // the tracer reads the sequences first
    first = sequence_list(xs, name);
    if (paired && first) second = sequence_list(ys, name);
    if (!first || (paired && !second)) return nullptr;
    PyObject* const both[] = {xs = first.get(), ys = second.get()};
    if (PyObject* result; traced_call("reduce", name, both, paired ? 2 : 1, &result)) return result;
  }
  Operands operands;
  if (!operands.read(xs, name)) return nullptr;
  size_t n = operands.objects.size();
  if (paired && !operands.read(ys, name)) return nullptr;
  if (paired && operands.objects.size() != 2 * n) {
    const size_t second_length = operands.objects.size() - n;
    raise_from("unequal_lengths", "(snn)", name, static_cast<Py_ssize_t>(n), static_cast<Py_ssize_t>(second_length));
    return nullptr;
  }
  if (!R::empty && n == 0) {
    raise_from("wrong_length", "(ssi)", name, "at least one operand", 0);
    return nullptr;
  }
  if (operands.any_value) return record_sequence<R>(operands, n);
  std::vector<double> results = fold<R>(operands.numbers, n);
  return R::nary_kind == SOFTMAX ? list_of_floats(results) : PyFloat_FromDouble(results[0]);
}

PyObject* reduce_row(const char* name, PyObject* xs, PyObject* ys) {
  const std::string_view wanted = name;
#define RG_NARY(row, ...) \
  if (wanted == #row) return reduce_with<Rule_##row>(xs, ys, #row);
#include "ops/ops.inc"
  PyErr_Format(PyExc_ValueError, "The op table has no row %s over a sequence.", name);
  return nullptr;
}

PyObject* reduce(PyObject*, PyObject* args) try {
  const char* name;
  PyObject *xs, *ys = nullptr;
  if (!PyArg_ParseTuple(args, "sO|O:reduce", &name, &xs, &ys)) return nullptr;
  return reduce_row(name, xs, ys);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

template <class R>
PyObject* function(PyObject*, PyObject* args, PyObject* keywords) try {
  PyObject *xs = nullptr, *ys = nullptr;
  const char* name = kRows[R::row].name;
  if (keywords && PyDict_Size(keywords) > 0) {
    PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", name);
    answer_keywords(name, keywords);
    return nullptr;
  }
  if (!PyArg_UnpackTuple(args, name, 1, 2, &xs, &ys)) return nullptr;
  return reduce_with<R>(xs, ys, name);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyCFunction with_keywords(PyObject* (*function)(PyObject*, PyObject*, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

PyMethodDef nary_functions[] = {
    {"reduce", reduce, METH_VARARGS, "reduce(name, xs, ys=None): the named row over a sequence, as one node."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef nary_operators[] = {
#define RG_NAMEN(name, row) \
  {#name, with_keywords(function<Rule_##row>), METH_VARARGS | METH_KEYWORDS, docs::function(#name)},
#include "ops/ops.inc"
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
