// Work that other Python threads need not wait for.
#pragma once

#include <exception>
#include <new>

#include "tape/python.hpp"

namespace retrograd::compiler {

// Does the work without the GIL. It must touch no Python object, nor anything else that other threads may change.
template <class Work>
void without_gil(Work&& work) {
  PyThreadState* state = PyEval_SaveThread();
  std::exception_ptr problem;
  try {
    work();
  } catch (...) {
    problem = std::current_exception();
  }
  PyEval_RestoreThread(state);
  if (problem) std::rethrow_exception(problem);
}

}  // namespace retrograd::compiler
