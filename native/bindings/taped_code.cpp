#include "bindings/taped_code.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "bindings/specialization_cache.hpp"
#include "bindings/without_gil.hpp"
#include "parameters/parameters.hpp"
#include "trees/in_place.hpp"
#include "trees/replaced_numbers.hpp"
#include "trees/typed_data.hpp"

namespace retrograd::compiler {
namespace {

using trees::DataType;
using trees::TypedData;
using Put = TypedData::Put;

// run(context, words, leaves, out): nonzero where the function itself must run.
using Run = int (*)(int64_t*, const uint64_t*, const double*, int64_t*);

// sweep(first, last, nodes, adjoints): from the end of the tape to its beginning; so many nodes have numbers.
using Sweep = void (*)(const uint32_t*, const uint32_t*, int64_t, double*);

// The words of a context, as in context.py; others follow.
enum ContextWord : uint8_t { TAPE, MASK, USED, NODES, FREE, END, FUEL, DEPTH, STACK, KNOWN_WORDS };

// How many words of the tape and of lists there is room for at first, and at most; how many iterations of loops there
// may be; and how deep functions may call themselves: Python stops at a thousand.
// Behind the end of the tape there is room for one more node.
constexpr size_t kTape = 1 << 16, kOfANode = 256, kMostTape = 1 << 27, kWords = 1 << 14, kMostWords = 1 << 25;
constexpr int64_t kFuel = 1 << 28, kDepth = 400;
// So many answers are compared with the function, and then those whose number is a power of four.
constexpr size_t kCompared = 4;
// A run of more words of the tape and iterations than this lets other threads go on.
constexpr int64_t kLong = 50'000;

// A tape, memory for lists, and adjoints. Each run has one of its own.
struct Memory {
  std::vector<int64_t> context;
  std::vector<uint32_t> tape = std::vector<uint32_t>(kTape + kOfANode);
  std::vector<uint64_t> lists = std::vector<uint64_t>(kWords);
  std::vector<double> adjoints;

  size_t room() const { return tape.size() - kOfANode; }
  // Nothing is on the tape but the leaves.
  void begin(size_t leaves) {
    const int64_t words[KNOWN_WORDS] = {address(tape.data()),
                                        static_cast<int64_t>(room()) - 1,
                                        0,
                                        static_cast<int64_t>(leaves),
                                        address(lists.data()),
                                        address(lists.data() + lists.size()),
                                        kFuel,
                                        kDepth,
                                        0};
    std::copy(std::begin(words), std::end(words), context.begin());
  }
  static int64_t address(const void* place) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(place)); }
};

// What a run gave.
struct Outcome {
  double number;
  bool is_node;  // whether it was computed of a variable or a Value
  std::vector<double> gradients;
};

// What must be where code expects it: an item of a dictionary, or an attribute.
struct Expected {
  Ref place, name, known;
  bool is_item;

  // Whether the very same object is there. Another one may be equal, which Python decides.
  bool holds() const {
    if (is_item && PyDict_Check(place.get())) {
      return PyDict_GetItem(place.get(), name.get()) == known.get();
    }
    const Ref found(is_item ? PyObject_GetItem(place.get(), name.get()) : PyObject_GetAttr(place.get(), name.get()));
    if (!found) PyErr_Clear();
    return found.get() == known.get();
  }
};

// What has so many items.
struct Sized {
  Ref place;
  Py_ssize_t size;
};

class Loaded {
 public:
  // False with an exception set.
  bool parse(PyObject* args);
  int traverse(visitproc visit, void* arg) const;

  // Whether all is still where the code expects it; -1 with an exception set.
  int holds() const;
  // Writes data and arguments, as many as there must be; which of them has variables for numbers, or -1.
  Put put(TypedData& data, std::span<PyObject* const> arguments, Py_ssize_t variables) const;
  // Nothing where the function itself must run.
  std::optional<Outcome> run(const TypedData& data, bool wants_gradients);

  PyTypeObject* leaf_type() const { return reinterpret_cast<PyTypeObject*>(leaf_type_.get()); }
  size_t arguments() const { return types_.size() - getters_.size(); }

  // Whether the next answer is compared with the function.
  bool is_due() const;

  size_t answers = 0, failures = 0;

 private:
  bool parse_types(PyObject* types);
  bool parse_expected(PyObject* expected, bool is_item);
  bool parse_sized(PyObject* sizes);
  bool run_in(Memory& memory, const TypedData& data, int64_t (&out)[2]);
  bool sweep_in(Memory& memory, size_t root, size_t leaves, std::vector<double>& gradients);

  Run run_ = nullptr;
  Sweep sweep_ = nullptr;
  size_t words_ = 0;
  std::vector<DataType> types_;  // of data, then of arguments
  std::vector<Ref> getters_;     // of data
  std::vector<Expected> expected_;
  std::vector<Sized> sized_;
  Ref is_equal_, leaf_type_;
  Ref keeps_;  // what owns the machine code
  std::vector<std::unique_ptr<Memory>> unused_;
  int64_t last_ = 0;  // how many words of the tape and iterations the last run took
};

// --- reading what Python gives -----------------------------------------------------------------------------------

bool Loaded::parse(PyObject* args) {
  unsigned long long run, sweep;
  Py_ssize_t words;
  PyObject *types, *getters, *items, *attributes, *sizes, *is_equal, *leaf_type, *keeps;
  if (!PyArg_ParseTuple(args, "KKnO!O!O!O!O!OOO:TapedCode", &run, &sweep, &words, &PyTuple_Type, &types, &PyTuple_Type,
                        &getters, &PyTuple_Type, &items, &PyTuple_Type, &attributes, &PyTuple_Type, &sizes, &is_equal,
                        &leaf_type, &keeps)) {
    return false;
  }
  run_ = reinterpret_cast<Run>(static_cast<uintptr_t>(run));
  sweep_ = reinterpret_cast<Sweep>(static_cast<uintptr_t>(sweep));
  words_ = static_cast<size_t>(words);
  for (Py_ssize_t i = 0; i < PyTuple_Size(getters); ++i) getters_.push_back(Ref::borrow(PyTuple_GetItem(getters, i)));
  is_equal_ = Ref::borrow(is_equal);
  leaf_type_ = Ref::borrow(leaf_type);
  keeps_ = Ref::borrow(keeps);
  return parse_types(types) && parse_expected(items, true) && parse_expected(attributes, false) && parse_sized(sizes);
}

bool Loaded::parse_types(PyObject* types) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(types); ++i) {
    if (!types_.emplace_back().parse(PyTuple_GetItem(types, i))) return false;
  }
  return true;
}

// (place, name, known), or (place, name) where nothing may be.
bool Loaded::parse_expected(PyObject* expected, bool is_item) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(expected); ++i) {
    PyObject *place, *name, *known = nullptr;
    if (!PyArg_ParseTuple(PyTuple_GetItem(expected, i), "OO|O", &place, &name, &known)) return false;
    expected_.push_back({Ref::borrow(place), Ref::borrow(name), Ref::borrow(known), is_item});
  }
  return true;
}

// (what has a size, its size).
bool Loaded::parse_sized(PyObject* sizes) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(sizes); ++i) {
    PyObject* place;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(PyTuple_GetItem(sizes, i), "On", &place, &size)) return false;
    sized_.push_back({Ref::borrow(place), size});
  }
  return true;
}

int Loaded::traverse(visitproc visit, void* arg) const {
  for (const DataType& type : types_) {
    if (const int stopped = type.traverse(visit, arg)) return stopped;
  }
  for (const Ref& getter : getters_) Py_VISIT(getter.get());
  for (const Expected& one : expected_) {
    Py_VISIT(one.place.get());
    Py_VISIT(one.known.get());
  }
  for (const Sized& one : sized_) Py_VISIT(one.place.get());
  Py_VISIT(is_equal_.get());
  Py_VISIT(leaf_type_.get());
  Py_VISIT(keeps_.get());
  return 0;
}

// --- runs ---------------------------------------------------------------------------------------------------------

int Loaded::holds() const {
  for (const Sized& one : sized_) {
    if (PyObject_Size(one.place.get()) != one.size) return PyErr_Clear(), 0;
  }
  for (const Expected& one : expected_) {
    if (one.holds()) continue;
    const Ref answer(PyObject_CallNoArgs(is_equal_.get()));
    return answer ? PyObject_IsTrue(answer.get()) : -1;
  }
  return 1;
}

bool Loaded::is_due() const {
  return answers < kCompared || (std::has_single_bit(answers) && std::countr_zero(answers) % 2 == 0);
}

Put Loaded::put(TypedData& data, std::span<PyObject* const> arguments, Py_ssize_t variables) const {
  size_t next = 0;
  for (const Ref& getter : getters_) {
    const Ref thing(PyObject_CallNoArgs(getter.get()));
    const Put done = thing ? data.put(types_[next++], thing.get()) : Put::FAILED;
    if (done != Put::DONE) return done;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const DataType& type = types_[next++];
    const bool are_variables = variables == static_cast<Py_ssize_t>(i);
    const Put done = are_variables ? data.put_variables(type, arguments[i]) : data.put(type, arguments[i]);
    if (done != Put::DONE) return done;
  }
  return Put::DONE;
}

std::optional<Outcome> Loaded::run(const TypedData& data, bool wants_gradients) {
  std::unique_ptr<Memory> memory;
  if (unused_.empty()) {
    memory = std::make_unique<Memory>();
    memory->context.resize(words_);
  } else {
    memory = std::move(unused_.back());
    unused_.pop_back();
  }
  int64_t out[2] = {0, 0};
  Outcome outcome{};
  bool done = false;
  const auto work = [&] {
    done = run_in(*memory, data, out);
    outcome.number = std::bit_cast<double>(out[0]);
    outcome.is_node = out[1] != 0;
    done = done && std::isfinite(outcome.number);
    if (done && wants_gradients) {
      done = sweep_in(*memory, static_cast<size_t>(out[1]), data.leaves().size(), outcome.gradients);
    }
  };
  if (last_ > kLong) {
    without_gil(work);
  } else {
    work();
  }
  last_ = memory->context[USED] + kFuel - memory->context[FUEL];
  unused_.push_back(std::move(memory));
  failures += !done;
  return done ? std::optional(std::move(outcome)) : std::nullopt;
}

// Runs forward, with more room where it does not suffice. False where the function itself must run.
bool Loaded::run_in(Memory& memory, const TypedData& data, int64_t (&out)[2]) {
  for (;;) {
    memory.begin(data.leaves().size());
    const int status = run_(memory.context.data(), data.words().data(), data.leaves().data(), out);
    const auto used = static_cast<size_t>(memory.context[USED]);
    const bool lacks_words = memory.context[END] == 0;
    if (!lacks_words && used <= memory.room()) return status == 0;
    if (used > kMostTape || (lacks_words && memory.lists.size() >= kMostWords)) return false;
    memory.tape.resize(std::max(memory.room(), std::bit_ceil(used)) + kOfANode);
    if (lacks_words) memory.lists.resize(4 * memory.lists.size());
  }
}

// False if a gradient is not finite.
bool Loaded::sweep_in(Memory& memory, size_t root, size_t leaves, std::vector<double>& gradients) {
  memory.adjoints.assign(static_cast<size_t>(memory.context[NODES]) + 1, 0.0);
  double* adjoints = memory.adjoints.data();
  if (root) {
    adjoints[root] = 1.0;
    sweep_(memory.tape.data(), memory.tape.data() + memory.context[USED], memory.context[NODES], adjoints);
  }
  gradients.assign(adjoints + 1, adjoints + 1 + leaves);
  return std::all_of(gradients.begin(), gradients.end(), [](double one) { return std::isfinite(one); });
}

// --- the type -----------------------------------------------------------------------------------------------------

PyObject* taped_code_type = nullptr;

struct TapedCode {
  PyObject_HEAD Loaded* code;
};
Loaded& code_of(PyObject* object) { return *reinterpret_cast<TapedCode*>(object)->code; }

PyObject* new_code(PyTypeObject* type, PyObject* args, PyObject*) try {
  auto code = std::make_unique<Loaded>();
  if (!code->parse(args)) return nullptr;
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (object) reinterpret_cast<TapedCode*>(object)->code = code.release();
  return object;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  const Loaded* code = reinterpret_cast<TapedCode*>(object)->code;
  return code ? code->traverse(visit, arg) : 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  delete std::exchange(reinterpret_cast<TapedCode*>(object)->code, nullptr);
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyObject* list_of(const std::vector<Ref>& things) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(things.size()));
  for (size_t i = 0; list && i < things.size(); ++i) {
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), Py_NewRef(things[i].get()));
  }
  return list;
}

// run(arguments, numbers, is_call): the number, the gradients, whether it is a node, and the Values that are leaves;
// None if data is of other types, or what the code expects has changed; False where the function itself must run.
PyObject* run(PyObject* self, PyObject* args) try {
  PyObject *arguments, *numbers;
  int is_call;
  if (!PyArg_ParseTuple(args, "O!O!p:run", &PyTuple_Type, &arguments, &PyList_Type, &numbers, &is_call)) return nullptr;
  Loaded& code = code_of(self);
  const std::vector<PyObject*> items = items_of(arguments);
  const int holds = items.size() == code.arguments() ? code.holds() : 0;
  if (holds < 1) return holds < 0 ? nullptr : Py_NewRef(Py_None);
  std::vector<double> variables(static_cast<size_t>(PyList_Size(numbers)));
  for (size_t i = 0; i < variables.size(); ++i) {
    variables[i] = PyFloat_AsDouble(PyList_GetItem(numbers, static_cast<Py_ssize_t>(i)));
  }
  if (PyErr_Occurred() || !flush_parameters()) return nullptr;
  TypedData data(std::move(variables), code.leaf_type(), is_call != 0);
  const Put put = code.put(data, items, -1);
  if (put != Put::DONE) return put == Put::FAILED ? nullptr : Py_NewRef(Py_None);
  const bool wants_gradients = !is_call || !data.values().empty();
  const std::optional<Outcome> outcome = code.run(data, wants_gradients);
  if (!outcome) Py_RETURN_FALSE;
  const Ref gradients(trees::list_of_floats(outcome->gradients.data(), outcome->gradients.size()));
  const Ref values(list_of(data.values()));
  if (!gradients || !values) return nullptr;
  PyObject* is_node = outcome->is_node && wants_gradients ? Py_True : Py_False;
  return Py_BuildValue("(dOOO)", outcome->number, gradients.get(), is_node, values.get());
} catch (const std::bad_alloc&) {
  Py_RETURN_FALSE;
}

// Why there is no answer: the arguments are not of these types, the function itself must run, or there is an exception.
enum class Without : uint8_t { FITTING, ANSWER, SUCCESS };

struct Answered {
  Outcome outcome;
  std::vector<Ref> values;  // by which the gradients are taken in backward()
};

std::variant<Answered, Without> answered(Loaded& code, Called called, PyObject* const* args, Py_ssize_t count) {
  const int holds = static_cast<size_t>(count) == code.arguments() ? code.holds() : 0;
  if (holds < 1) return holds < 0 ? Without::SUCCESS : Without::FITTING;
  if (!flush_parameters()) return Without::SUCCESS;
  const bool back = called == Called::BACKWARD;
  TypedData data({}, code.leaf_type(), false);
  const Put put = code.put(data, {args, static_cast<size_t>(count)}, back ? -1 : 0);
  if (put == Put::FAILED) return Without::SUCCESS;
  if (put != Put::DONE || (!back && !data.values().empty())) return Without::FITTING;
  std::optional<Outcome> outcome = code.run(data, true);
  if (!outcome) return Without::ANSWER;
  return Answered{std::move(*outcome), data.take_values()};
}

// What the method returns: the number alone, or with the gradients of the first argument in its own structure.
std::variant<Ref, Without> returned(const Answered& answered, Called called, PyObject* const* args) {
  Ref result(PyFloat_FromDouble(answered.outcome.number));
  if (called == Called::GRADIENTS && result) {
    const Ref gradients = trees::replaced_numbers(args[0], answered.outcome.gradients);
    if (!gradients) return PyErr_Occurred() ? Without::SUCCESS : Without::FITTING;
    result = Ref(PyTuple_Pack(2, result.get(), gradients.get()));
  }
  if (!result) return Without::SUCCESS;
  if (called == Called::BACKWARD) {
    std::vector<Value*> values(answered.values.size());
    std::transform(answered.values.begin(), answered.values.end(), values.begin(),
                   [](const Ref& one) { return reinterpret_cast<Value*>(one.get()); });
    add_to_values(values, answered.outcome.gradients);
  }
  return result;
}

// The answer to a call, which counts.
std::variant<Ref, Without> answer_to(Loaded& code, Called called, PyObject* const* args, Py_ssize_t count) {
  const std::variant<Answered, Without> found = answered(code, called, args, count);
  if (const Without* without = std::get_if<Without>(&found)) return *without;
  std::variant<Ref, Without> result = returned(std::get<Answered>(found), called, args);
  code.answers += std::holds_alternative<Ref>(result);
  return result;
}

// value_and_grad(*arguments): the number, and the gradients of the first argument in its own structure. None and False
// as those of run(); None also for arguments that this does not read.
PyObject* value_and_grad(PyObject* self, PyObject* const* args, Py_ssize_t count) try {
  std::variant<Ref, Without> found = answer_to(code_of(self), Called::GRADIENTS, args, count);
  if (Ref* result = std::get_if<Ref>(&found)) return result->release();
  const Without without = std::get<Without>(found);
  if (without == Without::SUCCESS) return nullptr;
  return Py_NewRef(without == Without::ANSWER ? Py_False : Py_None);
} catch (const std::bad_alloc&) {
  Py_RETURN_FALSE;
}

PyObject* get_failures(PyObject* self, void*) { return PyLong_FromSize_t(code_of(self).failures); }
PyObject* get_answers(PyObject* self, void*) { return PyLong_FromSize_t(code_of(self).answers); }
PyObject* get_is_due(PyObject* self, void*) { return PyBool_FromLong(code_of(self).is_due()); }

PyObject* count_answer(PyObject* self, PyObject*) {
  ++code_of(self).answers;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"count_answer", count_answer, METH_NOARGS, "A call was answered with what run() gave."},
    {"run", run, METH_VARARGS, "Run it with variables in the places of leaves."},
    {"value_and_grad", fast(value_and_grad), METH_FASTCALL,
     "Run it, and differentiate by its first argument's numbers."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef attributes[] = {
    {"answers", get_answers, nullptr, "How many calls it has answered.", nullptr},
    {"failures", get_failures, nullptr, "How many runs have left the call to the function.", nullptr},
    {"is_due", get_is_due, nullptr, "Whether its next answer is compared with the function.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Machine code that keeps the branches and loops of its function.")},
    {Py_tp_new, reinterpret_cast<void*>(new_code)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.TapedCode", sizeof(TapedCode), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                    slots};

}  // namespace

Ref answer_by(PyObject* taped_code, Called called, PyObject* const* args, Py_ssize_t count) try {
  Loaded& code = code_of(taped_code);
  if (code.is_due()) return Ref();
  std::variant<Ref, Without> found = answer_to(code, called, args, count);
  Ref* result = std::get_if<Ref>(&found);
  return result ? std::move(*result) : Ref();
} catch (const std::bad_alloc&) {
  return Ref();
}

bool is_due(PyObject* taped_code) { return code_of(taped_code).is_due(); }

bool runs(PyObject* taped_code, Called called, PyObject* const* args, Py_ssize_t count) try {
  const std::variant<Answered, Without> found = answered(code_of(taped_code), called, args, count);
  PyErr_Clear();  // a program has answered the call
  return std::holds_alternative<Answered>(found);
} catch (const std::bad_alloc&) {
  return false;
}

bool add_taped_code_type(PyObject* module) {
  taped_code_type = PyType_FromSpec(&spec);  // for good: the module stays
  return taped_code_type && PyModule_AddObjectRef(module, "TapedCode", taped_code_type) == 0;
}

bool is_taped_code(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)) == taped_code_type; }

}  // namespace retrograd::compiler
