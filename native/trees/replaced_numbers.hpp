// Trees like a given one, with other numbers: gradients in the structure of an argument.
#pragma once

#include <span>

#include "tape/python.hpp"

namespace retrograd::trees {

// A tree with these numbers in the place of those of `tree`, in its order: floats and ints in lists, tuples,
// dictionaries and float64 arrays. Null without an exception if something else is there, or another count of numbers.
Ref replaced_numbers(PyObject* tree, std::span<const double> numbers);

}  // namespace retrograd::trees
