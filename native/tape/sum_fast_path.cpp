// Sums of products in one native call, which records the same nodes as the Python loop: a neuron's weighted sum, and
// sum(w * x for w, x in zip(ws, xs)).
#include <new>
#include <unordered_map>

#include "tape/record.hpp"

namespace retrograd {
namespace {

bool exact(PyObject* object) { return Py_TYPE(object) == value_type; }

Ref product_of(PyObject* weight, PyObject* input) {
  if (!exact(weight) || !exact(input)) {
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

// The nodes that a loop in Python would record, in the same order.
PyObject* weighted_sum(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3) return PyErr_Format(PyExc_TypeError, "weighted_sum() takes 3 operands, and %zd were given.", count);
  Ref weights(PySequence_Fast(arguments[0], "weighted_sum() takes a sequence of weights."));
  Ref inputs(weights ? PySequence_Fast(arguments[1], "weighted_sum() takes a sequence of inputs.") : nullptr);
  if (!inputs) return nullptr;
  Py_ssize_t n = PySequence_Size(weights.get());
  if (n != PySequence_Size(inputs.get())) {
    Ref where(PyUnicode_FromFormat("a sum with %zd weights", n));
    Ref expected(PyUnicode_FromFormat("%zd numbers", n));
    if (where && expected) {
      raise_from("wrong_length", "(OOn)", where.get(), expected.get(), PySequence_Size(inputs.get()));
    }
    return nullptr;
  }
  auto item = [](const Ref& sequence, Py_ssize_t i) {
    return PyList_Check(sequence.get()) ? PyList_GetItem(sequence.get(), i) : PyTuple_GetItem(sequence.get(), i);
  };
  Ref total = Ref::borrow(arguments[2]);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject *weight = item(weights, i), *input = item(inputs, i);
    if (!weight || !input) return nullptr;
    Ref product = product_of(weight, input);
    if (!product) return nullptr;
    total = sum_of(std::move(total), std::move(product));
    if (!total) return nullptr;
  }
  return total.release();
}

// --- Python's sum() ---------------------------------------------------------------------------------------------
//
// A generator expression holds its code and what it goes over, which is all that sum() needs to do without running it:
// the collector's way of visiting what an object refers to finds both. Where anything is otherwise than in the usual
// case (a list that somebody else goes over, too; an iterator that has begun), Python's own sum() is called.

// What a generator yields.
enum class Yields : uint8_t { ANYTHING, A_TIMES_B, B_TIMES_A, A_TIMES_A };

// What faster_sum() was given: Python's sum(), and generators that yield a * b for a, b in …; b * a for a, b in …; and
// a * a for a in ….
enum Given { ORIGINAL, FIRST_SAMPLE, SECOND_SAMPLE, THIRD_SAMPLE, GIVEN };

traverseproc traverse_of(PyTypeObject* type) {
  return reinterpret_cast<traverseproc>(PyType_GetSlot(type, Py_tp_traverse));
}

bool same_code(PyObject* code, PyObject* sample) {
  for (const char* name : {"co_code", "co_consts", "co_nlocals", "co_freevars", "co_cellvars"}) {
    Ref one(PyObject_GetAttrString(code, name)), other(PyObject_GetAttrString(sample, name));
    if (!one || !other || PyObject_RichCompareBool(one.get(), other.get(), Py_EQ) != 1) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

// Each code object is examined once. It is kept alive, so that its address identifies it.
Yields yields(PyObject* code, PyObject* given) {
  constexpr size_t kMost = 4096;
  static auto* known = new std::unordered_map<PyObject*, Yields>;
  if (const auto found = known->find(code); found != known->end()) return found->second;
  Yields answer = Yields::ANYTHING;
  for (int i = FIRST_SAMPLE; i < GIVEN; ++i) {
    Ref sample(PyObject_GetAttrString(PyTuple_GetItem(given, i), "gi_code"));
    if (!sample) PyErr_Clear();
    if (sample && same_code(code, sample.get())) answer = static_cast<Yields>(1 + i - FIRST_SAMPLE);
  }
  if (known->size() < kMost) known->emplace(Py_NewRef(code), answer);
  return answer;
}

// Methods that all iterators over lists have, as the functions that they are.
struct ListIterator {
  PyCFunction elements_left, go_to;

  explicit ListIterator(PyObject* iterator)
      : elements_left(function(iterator, "__length_hint__")), go_to(function(iterator, "__setstate__")) {}
  static PyCFunction function(PyObject* iterator, const char* name) {
    Ref method(PyObject_GetAttrString(iterator, name));
    if (!method) PyErr_Clear();
    return method ? PyCFunction_GetFunction(method.get()) : nullptr;
  }
  // The same for all.
  static const ListIterator& methods(PyObject* iterator) {
    static const ListIterator methods(iterator);
    return methods;
  }
};

// The list that a list's iterator goes over, if it has not begun and only its owner can see it; else null.
PyObject* list_of(PyObject* iterator) {
  static const traverseproc traverse = traverse_of(&PyListIter_Type);
  const ListIterator& methods = ListIterator::methods(iterator);
  if (Py_REFCNT(iterator) != 1 || !methods.elements_left || !methods.go_to) return nullptr;
  PyObject* list = nullptr;
  each_referent(traverse, iterator, [&](PyObject* object) { list = PyList_CheckExact(object) ? object : list; });
  Ref count(list ? methods.elements_left(iterator, nullptr) : nullptr);
  if (count && PyLong_AsSsize_t(count.get()) == PyList_Size(list)) return list;
  PyErr_Clear();
  return nullptr;
}

// A list that a generator goes over, and the iterator with which it does. The generator holds them.
struct Source {
  PyObject *list = nullptr, *iterator = nullptr;

  static Source of(PyObject* iterator) { return {list_of(iterator), iterator}; }
  // Moves the iterator to its end; false with an exception set.
  bool end() const {
    Ref place(PyLong_FromSsize_t(PyList_Size(list)));
    return place && Ref(ListIterator::methods(iterator).go_to(iterator, place.get()));
  }
};

// What is multiplied, element by element.
struct Factors {
  Source a, b;
  explicit operator bool() const { return a.list && b.list && PyList_Size(a.list) == PyList_Size(b.list); }
};

Factors factors_of(PyObject* source, Yields what) {
  static const traverseproc traverse = traverse_of(&PyZip_Type);
  const bool pairs = Py_TYPE(source) == &PyZip_Type;
  if (pairs != (what != Yields::A_TIMES_A)) return {};
  if (!pairs) return {Source::of(source), Source::of(source)};
  if (Py_REFCNT(source) != 1) return {};
  PyObject* iterators = nullptr;  // it refers to a tuple for its results, too
  each_referent(traverse, source, [&](PyObject* object) {
    if (!PyTuple_CheckExact(object) || PyTuple_Size(object) != 2) return;
    const bool lists = Py_TYPE(PyTuple_GetItem(object, 0)) == &PyListIter_Type &&
                       Py_TYPE(PyTuple_GetItem(object, 1)) == &PyListIter_Type;
    if (lists) iterators = object;
  });
  if (!iterators) return {};
  const Source a = Source::of(PyTuple_GetItem(iterators, 0)), b = Source::of(PyTuple_GetItem(iterators, 1));
  return what == Yields::A_TIMES_B ? Factors{a, b} : Factors{b, a};
}

// What a new generator expression multiplies, if that is what it does.
Factors factors_of_generator(PyObject* generator, PyObject* given) {
  static const traverseproc traverse = traverse_of(Py_TYPE(generator));
  static PyTypeObject* const code_type = [&] {
    Ref code(PyObject_GetAttrString(PyTuple_GetItem(given, FIRST_SAMPLE), "gi_code"));
    if (!code) PyErr_Clear();
    return code ? Py_TYPE(code.get()) : nullptr;
  }();
  PyObject *code = nullptr, *source = nullptr;
  int sources = 0;
  each_referent(traverse, generator, [&](PyObject* object) {
    if (Py_TYPE(object) == code_type) code = object;
    if (Py_TYPE(object) != &PyZip_Type && Py_TYPE(object) != &PyListIter_Type) return;
    source = object;
    ++sources;
  });
  if (!code || sources != 1) return {};
  const Yields what = yields(code, given);
  return what == Yields::ANYTHING ? Factors() : factors_of(source, what);
}

// Whether no observer watches nodes as they are recorded, and no tracing function the frames that record them.
bool unobserved() { return current_tape && !current_tape->observer; }

// The sum of what the generator would have yielded, which then is at its end. Null without an exception when it is for
// Python to say how such numbers are added: then nothing has been recorded.
PyObject* sum_of_products(PyObject* generator, const Factors& factors) {
  // Multiplying numbers of other types runs Python code.
  const Ref held[] = {Ref::borrow(factors.a.list), Ref::borrow(factors.a.iterator), Ref::borrow(factors.b.list),
                      Ref::borrow(factors.b.iterator)};
  PyObject *one = factors.a.list, *other = factors.b.list;
  Ref total(PyLong_FromLong(0));
  // As iterators do: the lists may change.
  for (Py_ssize_t i = 0; i < PyList_Size(one) && i < PyList_Size(other); ++i) {
    PyObject *a = PyList_GetItem(one, i), *b = PyList_GetItem(other, i);
    if (i == 0 && !exact(a) && !exact(b)) return nullptr;
    Ref product = product_of(a, b);
    total = product ? sum_of(std::move(total), std::move(product)) : Ref();
    if (!total) return nullptr;
  }
  if (!factors.a.end() || !factors.b.end()) return nullptr;
  Ref nothing(PyIter_Next(generator));
  return PyErr_Occurred() ? nullptr : total.release();
}

// sum(iterable, /, start=0) as Python has it.
PyObject* sum(PyObject* given, PyObject* const* args, Py_ssize_t count, PyObject* names) try {
  if (count == 1 && !names && Py_TYPE(args[0]) == Py_TYPE(PyTuple_GetItem(given, FIRST_SAMPLE)) && unobserved()) {
    if (const Factors factors = factors_of_generator(args[0], given)) {
      PyObject* result = sum_of_products(args[0], factors);
      if (result || PyErr_Occurred()) return result;
    }
  }
  Ref positional(PyTuple_New(count)), named(names ? PyDict_New() : nullptr);
  if (!positional || (names && !named)) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i) {
    if (PyDict_SetItem(named.get(), PyTuple_GetItem(names, i), args[count + i]) < 0) return nullptr;
  }
  return PyObject_Call(PyTuple_GetItem(given, ORIGINAL), positional.get(), named.get());
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyMethodDef sum_method = {"sum", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sum)),
                          METH_FASTCALL | METH_KEYWORDS, "Python's sum(), in less time where products are added."};

// faster_sum(sum, *samples): Python's sum(), which adds products like those of three sample generators natively.
PyObject* faster_sum(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != GIVEN) return PyErr_Format(PyExc_TypeError, "faster_sum takes sum() and three generators.");
  Ref given(PyTuple_New(count));
  for (Py_ssize_t i = 0; given && i < count; ++i) PyTuple_SetItem(given.get(), i, Py_NewRef(args[i]));
  return given ? PyCFunction_NewEx(&sum_method, given.get(), nullptr) : nullptr;
}

}  // namespace

PyMethodDef sum_functions[] = {
    {"weighted_sum", fast(weighted_sum), METH_FASTCALL,
     "weighted_sum(weights, inputs, start): start + w0*x0 + w1*x1 + ..., one node for each operation."},
    {"faster_sum", fast(faster_sum), METH_FASTCALL,
     "faster_sum(sum, *samples): Python's sum(), native where it adds products like those of the sample generators."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
