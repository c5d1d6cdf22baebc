// One native call for a whole optimizer step, over parameters that are Values and moments that are arrays.
#include <cmath>
#include <new>

#include "value.hpp"

namespace retrograd {
namespace {

// A writable one-dimensional float64 array of a given length, held for as long as this lives.
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() {
    if (held_) PyBuffer_Release(&view_);
  }

  bool open(PyObject* object, Py_ssize_t length, const char* name) {
    if (PyObject_GetBuffer(object, &view_, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) return false;
    held_ = true;
    const char* format = view_.format ? view_.format : "B";
    bool doubles = format[0] == 'd' && format[1] == '\0' && view_.itemsize == sizeof(double);
    if (doubles && view_.len == length * static_cast<Py_ssize_t>(sizeof(double))) return true;
    PyErr_Format(PyExc_ValueError, "%s needs a float64 array with one element for each of the %zd parameters.", name, length);
    return false;
  }

  double& operator[](Py_ssize_t i) { return static_cast<double*>(view_.buf)[i]; }

 private:
  Py_buffer view_{};
  bool held_ = false;
};

// The parameters of a step, borrowed from a list or tuple that the caller holds.
class Parameters {
 public:
  bool open(PyObject* sequence) {
    if (PyList_Check(sequence)) {
      items_ = Ref::borrow(sequence);
    } else {
      items_ = Ref(PySequence_List(sequence));
    }
    if (!items_) return false;
    count_ = PyList_Size(items_.get());
    for (Py_ssize_t i = 0; i < count_; ++i) {
      PyObject* item = PyList_GetItem(items_.get(), i);
      if (is_value(item)) continue;
      raise_from("not_a_value", "(Os)", item, "an optimizer");
      return false;
    }
    return true;
  }
  Py_ssize_t count() const { return count_; }
  Value* operator[](Py_ssize_t i) const { return as_value(PyList_GetItem(items_.get(), i)); }

 private:
  Ref items_;
  Py_ssize_t count_ = 0;
};

PyObject* zero_gradients(PyObject*, PyObject* sequence) {
  Parameters parameters;
  if (!parameters.open(sequence)) return nullptr;
  for (Py_ssize_t i = 0; i < parameters.count(); ++i) parameters[i]->grad = 0.0;
  Py_RETURN_NONE;
}

PyObject* sgd_step(PyObject*, PyObject* args) {
  PyObject *values, *velocity;
  double rate, momentum, decay;
  int nesterov;
  if (!PyArg_ParseTuple(args, "OOdddp:sgd_step", &values, &velocity, &rate, &momentum, &decay, &nesterov)) return nullptr;
  Parameters parameters;
  if (!parameters.open(values)) return nullptr;
  Array moving;
  bool has_velocity = velocity != Py_None;
  if (has_velocity && !moving.open(velocity, parameters.count(), "sgd_step")) return nullptr;
  ChangeScope changes;
  for (Py_ssize_t i = 0; i < parameters.count(); ++i) {
    Value* parameter = parameters[i];
    double gradient = parameter->grad;
    if (decay != 0.0) gradient = gradient + decay * parameter->data;
    if (has_velocity) {
      moving[i] = momentum * moving[i] + gradient;
      gradient = nesterov ? gradient + momentum * moving[i] : moving[i];
    }
    if (!changes.change(parameter, parameter->data - rate * gradient)) return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* adam_step(PyObject*, PyObject* args) {
  PyObject *values, *first, *second;
  double step, rate, beta1, beta2, epsilon, decay;
  int decoupled;
  if (!PyArg_ParseTuple(args, "OOOddddddp:adam_step", &values, &first, &second, &step, &rate, &beta1, &beta2, &epsilon,
                        &decay, &decoupled)) {
    return nullptr;
  }
  Parameters parameters;
  if (!parameters.open(values)) return nullptr;
  Array m, v;
  if (!m.open(first, parameters.count(), "adam_step") || !v.open(second, parameters.count(), "adam_step")) return nullptr;
  const double correction1 = 1.0 - pow(beta1, step), correction2 = 1.0 - pow(beta2, step);
  ChangeScope changes;
  for (Py_ssize_t i = 0; i < parameters.count(); ++i) {
    Value* parameter = parameters[i];
    double gradient = parameter->grad, data = parameter->data;
    if (decay != 0.0 && decoupled) data = data - rate * decay * data;
    if (decay != 0.0 && !decoupled) gradient = gradient + decay * data;
    m[i] = beta1 * m[i] + (1.0 - beta1) * gradient;
    v[i] = beta2 * v[i] + (1.0 - beta2) * (gradient * gradient);
    double denominator = __builtin_sqrt(v[i] / correction2) + epsilon;
    if (!changes.change(parameter, data - rate * (m[i] / correction1) / denominator)) return nullptr;
  }
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef optimizer_functions[] = {
    {"zero_gradients", zero_gradients, METH_O, "Set the gradient of each value to zero."},
    {"sgd_step", sgd_step, METH_VARARGS, "One step of gradient descent on every value, in place."},
    {"adam_step", adam_step, METH_VARARGS, "One step of Adam, or AdamW when decoupled, on every value, in place."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
