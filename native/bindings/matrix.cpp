#include "bindings/matrix.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {
namespace {

// The elements of a bytes object; false with an exception set.
template <class Element>
bool read(PyObject* bytes, std::vector<Element>& into) {
  char* begin;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &begin, &size) < 0) return false;
  into.resize(static_cast<size_t>(size) / sizeof(Element));
  if (!into.empty()) std::memcpy(into.data(), begin, into.size() * sizeof(Element));
  return true;
}

}  // namespace

std::shared_ptr<const Matrix> Matrix::parse(PyObject* like, PyObject* which, PyObject* constants, size_t results) {
  auto made = std::make_shared<Matrix>();
  made->data_ = Ref(PyUnicode_InternFromString("data"));
  made->indices_ = Ref(PyUnicode_InternFromString("indices"));
  made->indptr_ = Ref(PyUnicode_InternFromString("indptr"));
  if (!made->data_ || !made->indices_ || !made->indptr_) return nullptr;
  const Ref attributes(PyObject_GetAttrString(like, "__dict__"));
  const Ref columns(PyObject_GetAttr(like, made->indices_.get())), starts(PyObject_GetAttr(like, made->indptr_.get()));
  made->type_ = Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(like)));
  made->attributes_ = Ref(attributes ? PyDict_Copy(attributes.get()) : nullptr);
  if (!made->attributes_ || !columns || !starts || !made->columns_.keep(columns.get()) ||
      !made->starts_.keep(starts.get()) || !read(which, made->which_) || !read(constants, made->constants_)) {
    return nullptr;
  }
  const size_t known = results + made->constants_.size();
  if (std::any_of(made->which_.begin(), made->which_.end(), [&](uint32_t entry) { return entry >= known; })) {
    PyErr_SetString(PyExc_ValueError, "a matrix has an entry that is no result and no constant");
    return nullptr;
  }
  return made;
}

Ref Matrix::numbers(std::span<const double* const> results) const {
  double* to;
  Ref array(trees::blank_array(which_.size(), to));
  if (!array) return array;
  for (const uint32_t entry : which_) {
    *to++ = entry < results.size() ? *results[entry] : constants_[entry - results.size()];
  }
  return array;
}

Ref Matrix::filled(const Ref& numbers) const {
  const Ref attributes(PyDict_Copy(attributes_.get())), columns(columns_.copy()), starts(starts_.copy());
  Ref matrix(PyType_GenericNew(reinterpret_cast<PyTypeObject*>(type_.get()), nullptr, nullptr));
  const auto set = [&](const Ref& name, const Ref& value) {
    return value && PyDict_SetItem(attributes.get(), name.get(), value.get()) == 0;
  };
  const bool made = attributes && matrix && set(data_, numbers) && set(indices_, columns) && set(indptr_, starts) &&
                    PyObject_GenericSetDict(matrix.get(), attributes.get(), nullptr) == 0;
  return made ? std::move(matrix) : Ref();
}

// present(number, like, which, constants): what matrix() makes of the results of a program, see matrix.hpp.
PyObject* present(PyObject* object, PyObject* args) {
  size_t number;
  PyObject *like, *which, *constants;
  if (!PyArg_ParseTuple(args, "nOSS:present", &number, &like, &which, &constants)) return nullptr;
  const std::shared_ptr<Specialization> entry = find_specialization(self_of(object), number);
  if (!entry) Py_RETURN_NONE;  // it has been dropped meanwhile
  std::shared_ptr<const Matrix> matrix = Matrix::parse(like, which, constants, entry->outputs.size());
  if (!matrix) return nullptr;
  entry->matrix = std::move(matrix);
  Py_RETURN_NONE;
}

// arrange_by(arrange): arrange(what call() gives, arguments) makes the matrices that matrix() does not; with None for
// what call() gives inside a trace, where the function itself must run.
PyObject* arrange_by(PyObject* object, PyObject* arrange) {
  const Ref before(std::exchange(self_of(object)->arrange, Py_NewRef(arrange)));
  Py_RETURN_NONE;
}

}  // namespace retrograd::compiler
