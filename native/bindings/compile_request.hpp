// What Python asks to compile: the dataclass CompileRequest of src/retrograd/compiler/request.py, read field by field
// and checked once.
#pragma once

#include "compiler/run/specialization.hpp"

namespace retrograd::compiler {

// A leaf whose number each call brings, and its offset among the active or the inactive numbers of a call.
struct RequestedInput {
  Value* leaf;
  bool active;
  uint32_t offset;
};

// A gradient that the caller wants: of a parameter, or, without one, of the active input at `offset`.
struct RequestedGradient {
  Value* parameter;
  uint32_t offset;
};

// The Values are borrowed from the Python object.
struct CompileRequest {
  std::unique_ptr<Signature> signature;
  bool differentiate_first = false;
  bool inspected = false;  // Compiled.inspect asked, which tells what became of each node of the tape
  Options options;
  std::vector<Value*> roots;  // the result, then what the function returns if that is several, and what guards compare
  std::vector<Value*> fallible;   // nodes whose operands may be outside a domain in another call
  std::vector<uint32_t> outputs;  // the numbers of several results among the roots
  bool as_array = false;          // they are one array
  bool connected = false;         // a Value is among them
  bool kind_unknown = false;      // the result is a Value, a float or an int
  std::vector<RequestedInput> inputs;
  std::vector<RequestedGradient> gradients;
  std::vector<Selection> selections;
  std::vector<Guard> guards;
  std::vector<IndexGuard> index_guards;
  uint64_t first_node = 0;     // the position of the first node that the function recorded
  uint32_t leaves_before = 0;  // how many leaves had been made when it was called
  References references;       // those that the recording itself holds
  size_t state = 0;            // the number of the captured state
  size_t code = 0;             // the number of the code that was traced

  // False with an exception set.
  bool read(PyObject* request);
};

}  // namespace retrograd::compiler
