#include "parameters/parameters.hpp"

#include <algorithm>
#include <new>
#include <string_view>
#include <unordered_map>

namespace retrograd {

bool Array::open(PyObject* object, Py_ssize_t length, const char* where) {
  const Py_ssize_t bytes = length * static_cast<Py_ssize_t>(sizeof(double));
  if (view_.obj == object && view_.len == bytes) return true;
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) return false;
  const std::string_view format = view.format ? view.format : "B";
  if (format != "d" || view.len != bytes) {
    PyBuffer_Release(&view);
    PyErr_Format(PyExc_ValueError, "%s needs a float64 array with one element for each of the %zd parameters.", where,
                 length);
    return false;
  }
  close();
  view_ = view;
  return true;
}

void Array::close() {
  // Releasing may run Python code that calls back here.
  Py_buffer view = std::exchange(view_, Py_buffer{});
  if (view.obj) PyBuffer_Release(&view);
}

namespace compiler {
namespace {

struct Parameters {
  PyObject_HEAD PyObject* list;
  std::vector<Segment>* segments;
  std::vector<std::shared_ptr<ParameterBuffer>>* buffers;
  Array* arrays;     // two
  uint64_t version;  // of the buffers when the segments were found
  bool complete;     // every parameter is in some buffer
};

PyTypeObject* parameters_type = nullptr;

Parameters* self_of(PyObject* object) { return reinterpret_cast<Parameters*>(object); }

// Marks the segments of buffers that are listed entirely.
void find_whole(std::vector<Segment>& segments) {
  std::unordered_map<const ParameterBuffer*, std::vector<bool>> listed;
  std::unordered_map<const ParameterBuffer*, bool> whole;
  for (const Segment& segment : segments) {
    std::vector<bool>& numbers = listed[segment.buffer];
    numbers.resize(segment.buffer->size());
    std::fill_n(numbers.begin() + static_cast<std::ptrdiff_t>(segment.index), segment.length, true);
  }
  for (Segment& segment : segments) {
    const auto [known, anew] = whole.try_emplace(segment.buffer, false);
    const std::vector<bool>& numbers = listed[segment.buffer];
    if (anew) known->second = std::find(numbers.begin(), numbers.end(), false) == numbers.end();
    segment.whole = known->second;
  }
}

void find_segments(Parameters* self) {
  // Release buffers that only this object holds last: that changes the version, too.
  const std::vector<std::shared_ptr<ParameterBuffer>> before = std::move(*self->buffers);
  self->buffers->clear();
  self->segments->clear();
  self->complete = true;
  const auto count = static_cast<size_t>(PyList_Size(self->list));
  for (size_t i = 0; i < count && self->complete; ++i) {
    const BufferSlot place = find_buffer(as_value(PyList_GetItem(self->list, static_cast<Py_ssize_t>(i))));
    self->complete = place.buffer != nullptr;
    if (!self->complete) break;
    Segment* last = self->segments->empty() ? nullptr : &self->segments->back();
    if (last && last->buffer == place.buffer.get() && last->index + last->length == place.index) {
      ++last->length;
      continue;
    }
    self->segments->push_back({place.buffer.get(), place.index, i, 1, false});
    if (std::find(self->buffers->begin(), self->buffers->end(), place.buffer) == self->buffers->end()) {
      self->buffers->push_back(place.buffer);
    }
  }
  find_whole(*self->segments);
  self->version = buffers_version();
}

PyObject* new_parameters(PyTypeObject* type, PyObject* args, PyObject*) try {
  PyObject* sequence;
  if (!PyArg_ParseTuple(args, "O:Parameters", &sequence)) return nullptr;
  Ref list(PySequence_List(sequence));
  if (!list) return nullptr;
  std::vector<Value*> order;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    PyObject* item = PyList_GetItem(list.get(), i);
    if (!is_value(item)) {
      raise_from("not_a_value", "(Os)", item, "an optimizer");
      return nullptr;
    }
    order.push_back(as_value(item));
  }
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (!object) return nullptr;
  Parameters* self = self_of(object);
  self->list = list.release();
  self->segments = new std::vector<Segment>;
  self->buffers = new std::vector<std::shared_ptr<ParameterBuffer>>;
  self->arrays = new Array[2];
  remember_order(object, std::move(order));
  return object;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->list);
  for (int i = 0; self_of(object)->arrays && i < 2; ++i) Py_VISIT(self_of(object)->arrays[i].object());
  return 0;
}
int clear(PyObject* object) {
  forget_order(object);
  Py_CLEAR(self_of(object)->list);
  for (int i = 0; self_of(object)->arrays && i < 2; ++i) self_of(object)->arrays[i].close();
  return 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  Parameters* self = self_of(object);
  delete self->segments;
  delete self->buffers;
  clear(object);
  delete[] self->arrays;
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Parameters(values): what an optimizer updates in one call.")},
    {Py_tp_new, reinterpret_cast<void*>(new_parameters)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.Parameters", sizeof(Parameters), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                    slots};

}  // namespace

const std::vector<Segment>* segments_of(PyObject* parameters, bool take) {
  if (Py_TYPE(parameters) != parameters_type) return nullptr;
  Parameters* self = self_of(parameters);
  if (self->version != buffers_version()) find_segments(self);
  if (!self->complete) return nullptr;
  for (const Segment& segment : *self->segments) {
    if (take) segment.buffer->take_ownership();
    if (!segment.buffer->dirty()) return nullptr;
  }
  return self->segments;
}

Array& array_of(PyObject* parameters, int which, Array& other) {
  return Py_TYPE(parameters) == parameters_type ? self_of(parameters)->arrays[which] : other;
}

Ref list_of_parameters(PyObject* parameters) {
  if (Py_TYPE(parameters) == parameters_type) return Ref::borrow(self_of(parameters)->list);
  return PyList_Check(parameters) ? Ref::borrow(parameters) : Ref(PySequence_List(parameters));
}

bool add_parameters_type(PyObject* module) {
  Ref type(PyType_FromSpec(&spec));
  if (!type) return false;
  parameters_type = reinterpret_cast<PyTypeObject*>(type.get());
  return PyModule_AddObjectRef(module, "Parameters", type.get()) == 0;
}

}  // namespace compiler
}  // namespace retrograd
