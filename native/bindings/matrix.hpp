// Sparse matrices of derivatives: the results of a program in a pattern that never changes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "trees/arrays.hpp"

namespace retrograd::compiler {

// How a SciPy matrix is made of a program's several results. It is made without SciPy's constructor, which takes longer
// than most programs: that would look at the pattern again.
class Matrix {
 public:
  // Of the class of `like`, with its pattern and whatever else it has; its numbers are replaced. `which` (bytes of
  // uint32) says of each entry which result it is, or, counted from there, which of the `constants` (bytes of double).
  // Null with an exception set.
  static std::shared_ptr<const Matrix> parse(PyObject* like, PyObject* which, PyObject* constants, size_t results);

  // The numbers, a new array; no code of the user's runs before they are read. Null with an exception set.
  Ref numbers(std::span<const double* const> results) const;
  // A new matrix with these numbers. Its pattern is a copy, since the caller may change it.
  Ref filled(const Ref& numbers) const;

 private:
  Ref type_, attributes_;
  Ref data_, indices_, indptr_;  // the names of the attributes that are arrays
  trees::Original columns_, starts_;
  std::vector<uint32_t> which_;
  std::vector<double> constants_;
};

}  // namespace retrograd::compiler
