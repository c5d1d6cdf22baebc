// One native call for a whole optimizer step, over parameters that are Values and moments that are arrays.
#include "parameters/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "compiler/kernels/kernels.hpp"
#include "parameters/parameters.hpp"
#include "tape/value.hpp"

// The same arithmetic, compiled for wider vectors too and chosen when the module is loaded. None of the
// variants contracts or reorders, so that all give the same bits.
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(__clang__) && \
    !defined(RETROGRAD_SANITIZE)
#define RETROGRAD_VECTOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RETROGRAD_VECTOR
#endif

namespace retrograd {
namespace {

// The parameters of a step, visited in blocks that fit the L1 cache; or in their parameter buffers, if compiled
// programs have taken ownership.
class Parameters {
 public:
  static constexpr Py_ssize_t kBlock = 256;

  // With `take`, parameters that have a buffer are visited there in any case.
  bool open(PyObject* sequence, bool take = false) try {
    segments_ = compiler::segments_of(sequence, take);
    if (!segments_ && !flush_parameters()) return false;
    items_ = compiler::list_of_parameters(sequence);
    if (items_) count_ = PyList_Size(items_.get());
    return bool(items_);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return false;
  }
  // The contiguous segments in buffers; null if the Values themselves are to be visited.
  const std::vector<compiler::Segment>* segments() const { return segments_; }
  // Whether an exact-mode program uses some of them.
  bool exact() const {
    return segments_ && std::any_of(segments_->begin(), segments_->end(),
                                    [](const compiler::Segment& segment) { return segment.buffer->exact(); });
  }
  Py_ssize_t count() const { return count_; }

  // Calls visit(start, values, length) for each block; false with an exception set, from the first thing that
  // is no Value on, nothing is visited. Optimizers check their parameters once, when they are made.
  template <class Visit>
  bool each_block(Visit&& visit) {
    Value* block[kBlock];
    for (Py_ssize_t start = 0; start < count_; start += kBlock) {
      const Py_ssize_t length = std::min(kBlock, count_ - start);
      for (Py_ssize_t i = 0; i < length; ++i) {
        block[i] = as_value(PyList_GetItem(items_.get(), start + i));
        RETROGRAD_PREFETCH(block[i]);
      }
      for (Py_ssize_t i = 0; i < length; ++i) {
        if (!block[i]) return false;  // the list has become shorter
        if (is_value(as_object(block[i]))) continue;
        raise_from("not_a_value", "(Os)", block[i], "an optimizer");
        return false;
      }
      if (!visit(start, block, length)) return false;
    }
    return true;
  }

  // Calls update(start, length, gradients, data) for each block and assigns what it leaves in data.
  template <class Update>
  bool each_update(Update&& update) {
    if (segments_) {
      for (const compiler::Segment& segment : *segments_) {
        update(static_cast<Py_ssize_t>(segment.start), static_cast<Py_ssize_t>(segment.length),
               segment.buffer->gradients() + segment.index, segment.buffer->data() + segment.index);
      }
      return true;
    }
    ChangeScope changes;
    return each_block([&](Py_ssize_t start, Value** block, Py_ssize_t length) {
      double gradients[kBlock], data[kBlock];
      for (Py_ssize_t i = 0; i < length; ++i) {
        gradients[i] = block[i]->grad;
        data[i] = block[i]->data;
      }
      update(start, length, gradients, data);
      for (Py_ssize_t i = 0; i < length; ++i) {
        if (!changes.change(block[i], data[i])) return false;
      }
      return true;
    });
  }

 private:
  Ref items_;
  const std::vector<compiler::Segment>* segments_ = nullptr;
  Py_ssize_t count_ = 0;
};

PyObject* zero_gradients(PyObject*, PyObject* sequence) {
  if (!tell_tracer("assigns .grad")) return nullptr;
  Parameters parameters;
  if (!parameters.open(sequence)) return nullptr;
  if (parameters.segments()) {
    for (const compiler::Segment& segment : *parameters.segments()) {
      if (segment.whole) {
        segment.buffer->set_zero_pending();
      } else {
        std::fill_n(segment.buffer->gradients() + segment.index, segment.length, 0.0);
      }
    }
    Py_RETURN_NONE;
  }
  bool done = parameters.each_block([](Py_ssize_t, Value** block, Py_ssize_t length) {
    for (Py_ssize_t i = 0; i < length; ++i) block[i]->grad = 0.0;
    return true;
  });
  if (!done) return nullptr;
  Py_RETURN_NONE;
}

struct Descent {
  double rate, momentum, decay;
  bool nesterov;

  RETROGRAD_VECTOR void update(Py_ssize_t length, const double* __restrict gradients, double* __restrict data) const {
    for (Py_ssize_t i = 0; i < length; ++i) {
      const double gradient = decay == 0.0 ? gradients[i] : gradients[i] + decay * data[i];
      data[i] = data[i] - rate * gradient;
    }
  }

  RETROGRAD_VECTOR void update(Py_ssize_t length, double* __restrict speeds, const double* __restrict gradients,
                               double* __restrict data) const {
    for (Py_ssize_t i = 0; i < length; ++i) {
      const double gradient = decay == 0.0 ? gradients[i] : gradients[i] + decay * data[i];
      speeds[i] = momentum * speeds[i] + gradient;
      data[i] = data[i] - rate * (nesterov ? gradient + momentum * speeds[i] : speeds[i]);
    }
  }
};

// Reads `count` floats; false with an exception set if one is none.
bool read_floats(PyObject* const* args, int count, double* numbers) {
  for (int i = 0; i < count; ++i) {
    numbers[i] = PyFloat_AsDouble(args[i]);
    if (numbers[i] == -1.0 && PyErr_Occurred()) return false;
  }
  return true;
}

// sgd_step(values, velocity, lr, momentum, weight_decay, nesterov)
PyObject* sgd_step(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 6) return PyErr_Format(PyExc_TypeError, "sgd_step takes 6 arguments, not %zd.", count);
  double numbers[3];
  const int nesterov = PyObject_IsTrue(args[5]);
  if (nesterov < 0 || !read_floats(args + 2, 3, numbers)) return nullptr;
  const Descent descent{numbers[0], numbers[1], numbers[2], nesterov != 0};
  if (!tell_tracer("assigns .data")) return nullptr;
  Parameters parameters;
  if (!parameters.open(args[0])) return nullptr;
  Array given;
  Array& moving = compiler::array_of(args[0], 0, given);
  const bool moves = args[1] != Py_None;
  if (moves && !moving.open(args[1], parameters.count(), "sgd_step")) return nullptr;
  bool done = parameters.each_update([&](Py_ssize_t start, Py_ssize_t length, const double* gradients, double* data) {
    if (moves) {
      descent.update(length, moving.numbers() + start, gradients, data);
    } else {
      descent.update(length, gradients, data);
    }
  });
  if (!done) return nullptr;
  Py_RETURN_NONE;
}

struct Adam {
  double rate, beta1, beta2, epsilon, decay, unbiased_rate, correction;

  template <bool decoupled>
  RETROGRAD_VECTOR void update(Py_ssize_t length, double* __restrict m, double* __restrict v,
                               const double* __restrict gradients, double* __restrict parameters) const {
    for (Py_ssize_t i = 0; i < length; ++i) {
      double gradient = gradients[i], data = parameters[i];
      if (decay != 0.0) {
        if constexpr (decoupled) {
          data = data - rate * decay * data;
        } else {
          gradient = gradient + decay * data;
        }
      }
      m[i] = beta1 * m[i] + (1.0 - beta1) * gradient;
      v[i] = beta2 * v[i] + (1.0 - beta2) * gradient * gradient;
      parameters[i] = data - unbiased_rate * (m[i] / (__builtin_sqrt(v[i] * correction) + epsilon));
    }
  }
};

// Flushes denormal numbers to zero while this lives: Adam's moments of an unused parameter decay to denormals, which
// would make every step several times slower.
class FlushToZero {
 public:
#if defined(__x86_64__)
  FlushToZero() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(before_) | 0x8040); }
  ~FlushToZero() { __builtin_ia32_ldmxcsr(static_cast<unsigned>(before_)); }
#elif defined(__aarch64__)
  FlushToZero() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | uint64_t{1} << 24));
  }
  ~FlushToZero() { asm volatile("msr fpcr, %0" : : "r"(before_)); }
#else
  FlushToZero() : before_(0) {}
  ~FlushToZero() = default;
#endif
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  uint64_t before_;
};

// adam_step(values, m, v, step, lr, beta1, beta2, eps, weight_decay, decoupled)
PyObject* adam_step(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 10) return PyErr_Format(PyExc_TypeError, "adam_step takes 10 arguments, not %zd.", count);
  double numbers[6];
  if (!read_floats(args + 3, 6, numbers)) return nullptr;
  const auto [step, rate, beta1, beta2, epsilon, decay] = numbers;
  const int decoupled = PyObject_IsTrue(args[9]);
  if (decoupled < 0) return nullptr;
  const double correction = 1.0 / (1.0 - pow(beta2, step));
  const Adam adam{rate, beta1, beta2, epsilon, decay, rate / (1.0 - pow(beta1, step)), correction};
  if (!tell_tracer("assigns .data")) return nullptr;
  Parameters parameters;
  // Steps in buffers may differ from the engine's in the last bit. Which kind is taken must not depend on who read the
  // Values before.
  if (!parameters.open(args[0], true)) return nullptr;
  Array given[2];
  Array &m = compiler::array_of(args[0], 0, given[0]), &v = compiler::array_of(args[0], 1, given[1]);
  if (!m.open(args[1], parameters.count(), "adam_step") || !v.open(args[2], parameters.count(), "adam_step"))
    return nullptr;
  // If epsilon is tiny, denormal roots matter.
  if (parameters.segments() && !parameters.exact() && epsilon > 0x1p-400) {
    const FlushToZero mode;
    const compiler::AdamStep whole{adam.rate,  adam.beta1,         adam.beta2,      adam.epsilon,
                                   adam.decay, adam.unbiased_rate, adam.correction, decoupled != 0};
    parameters.each_update([&](Py_ssize_t start, Py_ssize_t length, const double* gradients, double* data) {
      compiler::best_kernels().adam(whole, length, m.numbers() + start, v.numbers() + start, gradients, data);
    });
    Py_RETURN_NONE;
  }
  bool done = parameters.each_update([&](Py_ssize_t start, Py_ssize_t length, const double* gradients, double* data) {
    if (decoupled) {
      adam.update<true>(length, m.numbers() + start, v.numbers() + start, gradients, data);
    } else {
      adam.update<false>(length, m.numbers() + start, v.numbers() + start, gradients, data);
    }
  });
  if (!done) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef optimizer_functions[] = {
    {"zero_gradients", zero_gradients, METH_O, "Set the gradient of each value to zero."},
    {"sgd_step", fast(sgd_step), METH_FASTCALL, "One step of gradient descent on every value, in place."},
    {"adam_step", fast(adam_step), METH_FASTCALL,
     "One step of Adam, or AdamW when decoupled, on every value, in place."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
