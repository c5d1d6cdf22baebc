#include "bindings/compile_request.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <unordered_set>

namespace retrograd::compiler {
namespace {

// A Python exception is set.
struct PythonError : std::exception {};

Ref checked(PyObject* object) {
  if (!object) throw PythonError();
  return Ref(object);
}

Ref field(PyObject* record, const char* name) { return checked(PyObject_GetAttrString(record, name)); }

bool flag(PyObject* record, const char* name) {
  const int truth = PyObject_IsTrue(field(record, name).get());
  if (truth < 0) throw PythonError();
  return truth == 1;
}

uint64_t whole(PyObject* object) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(object);
  if (number == static_cast<unsigned long long>(-1) && PyErr_Occurred()) throw PythonError();
  return number;
}

uint32_t small(PyObject* object) {
  const uint64_t number = whole(object);
  if (number > UINT32_MAX) {
    PyErr_SetString(PyExc_OverflowError, "a compile request has a number of more than 32 bits");
    throw PythonError();
  }
  return static_cast<uint32_t>(number);
}

double real(PyObject* object) {
  const double number = PyFloat_AsDouble(object);
  if (number == -1.0 && PyErr_Occurred()) throw PythonError();
  return number;
}

std::string text(PyObject* object) {
  Py_ssize_t length;
  const char* letters = PyUnicode_AsUTF8AndSize(object, &length);
  if (!letters) throw PythonError();
  return {letters, static_cast<size_t>(length)};
}

// Borrowed: its record holds it.
Value* value(const Ref& object) {
  if (!is_value(object.get())) {
    PyErr_SetString(PyExc_TypeError, "a compile request names something that is not a Value where one is needed");
    throw PythonError();
  }
  return as_value(object.get());
}

[[noreturn]] void unknown(const char* what, const std::string& name) {
  PyErr_Format(PyExc_ValueError, "a compile request has an unknown %s, '%s'", what, name.c_str());
  throw PythonError();
}

// The field of a named tuple, at a known place; or of anything else that has one of that name.
Ref field(PyObject* record, Py_ssize_t place, const char* name) {
  if (PyTuple_Check(record) && place < PyTuple_Size(record)) return Ref::borrow(PyTuple_GetItem(record, place));
  return field(record, name);
}

bool flag(PyObject* record, Py_ssize_t place, const char* name) {
  const Ref found = field(record, place, name);
  const int truth = PyObject_IsTrue(found.get());
  if (truth < 0) throw PythonError();
  return truth == 1;
}

// Calls visit(item) for the items of a list or tuple; and of a record's field that is one.
template <class Visit>
void each_of(const Ref& sequence, Visit&& visit) {
  const Py_ssize_t count = PySequence_Size(sequence.get());
  if (count < 0) throw PythonError();
  for (Py_ssize_t i = 0; i < count; ++i) visit(checked(PySequence_GetItem(sequence.get(), i)).get());
}
template <class Visit>
void each(PyObject* record, const char* name, Visit&& visit) {
  each_of(field(record, name), visit);
}

Guard::Test test_of(const std::string& kind) {
  for (size_t test = 0; test < std::size(kTestNames); ++test) {
    if (kind == kTestNames[test]) return static_cast<Guard::Test>(test);
  }
  if (kind == "bool") return Guard::NOT_EQUAL;  // to zero
  unknown("comparison", kind);
}

uint16_t row_of_choice(const std::string& choice) {
  if (choice == "select") return ROW_SELECT;
  if (choice == "first_max") return ROW_FIRST_MAX;
  if (choice == "first_min") return ROW_FIRST_MIN;
  unknown("choice", choice);
}

class Reader {
 public:
  explicit Reader(CompileRequest& into) : into_(into) {}

  void read(PyObject* request) {
    into_.differentiate_first = flag(request, "differentiate_first");
    into_.options.at_once = into_.inspected = flag(request, "at_once");
    into_.state = whole(field(request, "state").get());
    into_.code = whole(field(request, "code").get());
    read_options(field(request, "options").get());
    read_signature(field(request, "signature").get());
    read_recording(field(request, "recording").get());
  }

 private:
  void read_options(PyObject* options) {
    const std::string tier = text(field(options, "tier").get());
    if (tier != "auto" && tier != "vm" && tier != "llvm" && tier != "interpreter") unknown("tier", tier);
    into_.options.exact = flag(options, "exact") || tier == "interpreter";
    into_.options.machine = tier == "vm" || tier == "llvm";
    into_.options.at_once |= into_.options.machine;
  }

  void read_signature(PyObject* signature) {
    into_.signature = Signature::parse(field(signature, "spec").get());
    if (!into_.signature) throw PythonError();
    const Ref are_active = field(signature, "are_active");
    const char* flags = PyByteArray_Check(are_active.get()) ? PyByteArray_AsString(are_active.get()) : "";
    const char* const end = flags + (PyByteArray_Check(are_active.get()) ? PyByteArray_Size(are_active.get()) : 0);
    uint32_t offsets[2] = {0, 0};  // of the next inactive and the next active one
    each(signature, "inputs", [&](PyObject* leaf) {
      if (flags == end) unknown("input", "");
      const bool active = *flags++ != 0;
      into_.inputs.push_back({value(Ref::borrow(leaf)), active, offsets[active]++});
    });
    each(signature, "gradients", [&](PyObject* gradient) {
      const Ref offset = field(gradient, 0, "offset");
      if (offset.get() == Py_None) {
        into_.gradients.push_back({value(field(gradient, 1, "parameter")), 0});
      } else {
        into_.gradients.push_back({nullptr, small(offset.get())});
      }
    });
  }

  void read_recording(PyObject* recording) {
    into_.options.float_errors = flag(recording, "float_errors");
    into_.options.simplify = flag(recording, "differentiates");
    into_.first_node = whole(field(recording, "first_node").get());
    into_.leaves_before = small(field(recording, "leaves_before").get());
    into_.roots.push_back(held(field(recording, "result")));
    each(recording, "fallible", [&](PyObject* node) { into_.fallible.push_back(value(Ref::borrow(node))); });
    each(recording, "outputs", [&](PyObject* output) { into_.outputs.push_back(root(held(Ref::borrow(output)))); });
    into_.as_array = flag(recording, "as_array");
    into_.connected = flag(recording, "connected");
    into_.kind_unknown = flag(recording, "kind_unknown");
    each(recording, "selections", [&](PyObject* selection) { read_selection(selection); });
    const Ref compared = field(recording, "compared");
    Py_ssize_t place = 0;  // of a guard's left side among what is compared
    each(recording, "guards", [&](PyObject* guard) {
      const auto side = [&](Py_ssize_t which) { return checked(PySequence_GetItem(compared.get(), which)); };
      read_guard(guard, side(place), side(place + 1));
      place += 2;
    });
    each(recording, "index_guards", [&](PyObject* guard) { read_index_guard(guard); });
  }

  void read_selection(PyObject* selection) {
    const Ref choice = field(selection, 1, "choice"), candidates = field(selection, 2, "candidates");
    const auto [row, fresh_choice] = rows_.try_emplace(choice.get(), ROW_SELECT);
    if (fresh_choice) row->second = row_of_choice(text(field(choice.get(), "value").get()));
    Selection read{value(field(selection, 0, "node")), row->second, small(field(selection, 3, "slot").get()), {}};
    // Selections from the same candidates share their tuple, which holds one reference to each.
    const bool fresh = tuples_.insert(candidates.get()).second;
    each_of(candidates, [&](PyObject* candidate) {
      const Ref item = Ref::borrow(candidate);
      read.candidates.push_back(fresh ? held(item) : value(item));
    });
    into_.selections.push_back(std::move(read));
  }

  void read_guard(PyObject* guard, const Ref& left, const Ref& right) {
    const auto [known, fresh] = guards_.try_emplace(guard);  // a line that decides alike again and again has one
    if (fresh) {
      known->second.test = test_of(text(field(guard, 0, "kind").get()));
      known->second.outcome = flag(guard, 1, "outcome");
    }
    Guard read = known->second;
    read.left = root(held(left));
    read.right = is_value(right.get()) ? root(held(right)) : 0;
    read.number = read.right || right.get() == Py_None ? 0.0 : real(right.get());
    into_.guards.push_back(read);
  }

  void read_index_guard(PyObject* guard) {
    IndexGuard read{{test_of(text(field(guard, 1, "kind").get())), 0, 0, real(field(guard, 2, "other").get()),
                     flag(guard, 4, "outcome")},
                    small(field(guard, 0, "slot").get()),
                    {}};
    const Ref other_slot = field(guard, 3, "other_slot");
    if (other_slot.get() != Py_None) read.other_slot = small(other_slot.get());
    into_.index_guards.push_back(read);
  }

  // A Value to which the recording holds one reference here.
  Value* held(const Ref& object) {
    Value* one = value(object);
    ++into_.references[one];
    return one;
  }

  // The number of a Value that a guard compares among the roots.
  uint32_t root(Value* compared) {
    const auto [found, fresh] = compared_.try_emplace(compared, static_cast<uint32_t>(into_.roots.size()));
    if (fresh) into_.roots.push_back(compared);
    return found->second;
  }

  CompileRequest& into_;
  std::unordered_set<const PyObject*> tuples_;
  std::unordered_map<const PyObject*, uint16_t>
      rows_;  // by choices: members of an enumeration, whose attributes take time
  std::unordered_map<const PyObject*, Guard> guards_;  // what those that the recording has say
  std::unordered_map<const Value*, uint32_t> compared_;
};

}  // namespace

bool CompileRequest::read(PyObject* request) try {
  Reader(*this).read(request);
  return true;
} catch (const PythonError&) {
  return false;
}

}  // namespace retrograd::compiler
