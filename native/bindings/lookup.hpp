// Finds the program that stands for a call, and runs it forward.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bindings/specialization_cache.hpp"
#include "compiler/run/twin.hpp"

namespace retrograd::compiler {

// What one call found: an entry whose forward pass is done.
struct Found {
  Specialization* entry = nullptr;
  bool interpreted = false;
  bool swept = false;                     // gradients are wanted, which the pass found together with the value
  bool tied = false;                      // by the nodes, where the code has decided otherwise
  bool deferred = false;                  // gradients are wanted later: see deferred_call.hpp
  Reason reason = Reason::NEW_ARGUMENTS;  // why there is none
  bool failed = false;                    // an exception is set
  bool fits = false;                      // the arguments are like those of some entry
  Divergence divergence;                  // of the last program that was tried, where a guard failed
  LeasedTwin twin;                        // what ran a long pass, back too if gradients were wanted
  struct Own {
    Arguments arguments;
    std::vector<Ref> held;  // the Values among them
  };
  std::unique_ptr<Own> own;  // of a long pass; the arguments of a short one are in the scratch memory
};

// The arguments of the call that was found.
const Arguments& arguments_of(const SpecializationCache* self, const Found& found);
double value_of(const Found& found);
// Where the several results of a call are.
std::span<const double* const> results_in(const Found& found);

// Runs found.own's arguments on the twin, forward and, if gradients are wanted, back, while other threads run.
Outcome run_long(Found& found, const std::shared_ptr<Specialization>& entry, Wanted wanted, double seed = 1.0);

// The entry that stands for a call; its forward pass is done. `plain_call`: it asks for no gradients.
// `numbers`: only one of arguments that have no Values.
Found find(SpecializationCache* self, bool differentiate_first, bool differentiates, PyObject* const* args,
           Py_ssize_t count, bool plain_call = false, bool numbers = false);

}  // namespace retrograd::compiler
