// What all native code knows about a Value: how it is created, its operands, and how errors are raised.
#pragma once

#include <bit>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tape/arena.hpp"

namespace retrograd {

extern PyTypeObject* value_type;

inline Value* as_value(PyObject* object) { return reinterpret_cast<Value*>(object); }
inline PyObject* as_object(Value* value) { return reinterpret_cast<PyObject*>(value); }
inline PyObject* as_object(const Value* value) { return reinterpret_cast<PyObject*>(const_cast<Value*>(value)); }

inline bool is_value(PyObject* object) {
  return Py_TYPE(object) == value_type || PyType_IsSubtype(Py_TYPE(object), value_type);
}

inline Form form_of(const Value* node) { return static_cast<Form>(node->code & 3); }
inline Row row_of(const Value* node) { return is_op(node->code) ? static_cast<Row>(node->code >> 2) : ROW_NONE; }

// The operands of a node with more than two, stored beside it. All outputs of a softmax share one list.
struct OperandList {
  uint32_t references;
  uint32_t count;
  double* probabilities;  // of a softmax, its outputs; else null
  Value* operands[1];     // `count` of them, and the probabilities behind them

  static OperandList* make(uint32_t count, bool with_probabilities);  // null with MemoryError set
};
void release_operands(OperandList* block);
inline uint32_t longest_operand_list = 0;  // the most operands that any node has had

// A value that a leaf had before position `until`.
struct Change {
  uint64_t until;
  double data;
};

// The derivative of a node that is found when a pass reaches the node, since it may be that of thousands of leaves at
// once: of a compiled call. Until then the node has no operands.
class Deferred {
 public:
  virtual ~Deferred() = default;
  // A leaf that has changed since the node was made, and the number that the node used; null if there is none.
  virtual Value* changed(double* used) const = 0;
  // What the node depends on.
  virtual std::vector<Value*> operands() const = 0;
  // The derivative with respect to each of them; false with an exception set.
  virtual bool find_partials(std::vector<double>& partials) = 0;
  virtual int traverse(visitproc visit, void* arg) const = 0;

  bool in_use = false;  // a pass reaches the node now, and nothing else finds its derivative
};

// The derivative of the results of one call of a compiled function. They share one more node, which depends on what the
// call depends on. In a pass each of them leaves its gradient with it. That node is older, so its turn comes after all
// of theirs, and then the call runs back, once.
class Joint {
 public:
  virtual ~Joint() = default;
  // A pass has the gradient of a result.
  virtual void take(Value* shared, uint32_t result, double gradient) = 0;
  // Adds to the gradients of what the call depends on; false with an exception set.
  virtual bool run_back(Value* shared) = 0;
  virtual int traverse(visitproc visit, void* arg) const = 0;
};

// Rarely used fields. Leaves and USER nodes point to theirs; other nodes have them in a side table.
struct Extra {
  Ref label;
  Ref op;        // the name that the user gave the operation of a USER node
  Ref backward;  // the user's function
  std::vector<Change> history;
  std::vector<Value*> children;  // of a USER node, owned
  std::vector<double> partials;
  bool has_partials = false;
  std::unique_ptr<Deferred> deferred;  // of a USER node: what will find its operands and partials
  Value* anchor = nullptr;             // the SLOT at whose position it found them; their numbers are of then
  std::unique_ptr<Joint> joint;        // of the node that the results of a call share
  uint32_t result = kNoResult;         // of a node that is one of them, whose only child is that node: which one

  static constexpr uint32_t kNoResult = UINT32_MAX;
};

Extra* find_extra(const Value* value);  // null when there is none
Extra* need_extra(Value* value);        // null with MemoryError set
void drop_extra(Value* value);

// The number of leaves created so far, modulo 2^32. A leaf keeps its number in `source`, so that the ages of two leaves
// can be compared.
inline uint32_t births = 0;
inline void give_birth(Value* leaf) { leaf->source = ++births; }
inline bool born_after(const Value* leaf, uint32_t births_then) {
  return leaf->code == LEAF && static_cast<int32_t>(leaf->source - births_then) > 0;
}

// New Values, with one reference; null with an exception set.
Value* new_leaf(double data, uint8_t flags = 0);
Value* new_slot(Value* node);      // reserves a position in the order of creation
bool give_slot(Value* user_node);  // the same for a USER node, as its own

// Compiled programs and optimizers keep the numbers of leaves in arrays (parameters/parameter_buffer.hpp). Every entry
// from Python that reads a Value or computes with one flushes them first, so that the Values hold the present numbers.
// False with an exception set. These functions are defined in parameters/: the tape calls them, and knows nothing else
// of buffers.
extern size_t dirty_buffers;  // buffers whose numbers are newer than their Values
bool flush_all();
inline bool flush_parameters() { return dirty_buffers == 0 || flush_all(); }
void forget_leaf(Value* leaf);  // a leaf that is in a buffer
// Adds to the gradients of what some nodes depend on, for each node what arrives from upstream times its derivative:
// all or nothing. False with an exception set.
bool push_deferred(std::span<const std::pair<Value*, double>> upstream);

inline bool same_bits(double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); }
// The same for one NaN and another: their signs are the processor's affair.
inline bool same_number(double x, double y) { return same_bits(x, y) || (x != x && y != y); }

// Assigns `.data` and remembers the old number for nodes that used it. One scope may change many values, as long as
// nothing is recorded meanwhile.
class ChangeScope {
 public:
  ChangeScope();
  // False with MemoryError set.
  bool change(Value* value, double data) {
    if (same_number(value->data, data)) return true;
    if ((!nobody_ || value->code != LEAF || value->extra) && !remember(value)) return false;
    if (value->code == LEAF) value->stamp = position_;
    value->flags = static_cast<uint8_t>((value->flags | CHANGED) & ~FRESH);
    value->data = data;
    return true;
  }

 private:
  bool remember(Value* value);

  bool nobody_;        // no living node can have used an old number
  uint64_t position_;  // the new numbers are valid from here
  uint64_t oldest_;    // no living node is older
};
// The data that `value` had when the node at `position` was recorded.
double data_used_at(const Value* value, uint64_t position);

inline uint64_t creation_position(const Value* node) { return position_of(node->code == USER ? node->slot : node); }
// The position from which the numbers of a node's operands must not have changed.
inline uint64_t use_position(const Value* node) {
  return node->code == USER && node->extra->anchor ? position_of(node->extra->anchor) : creation_position(node);
}

// A node whose derivative is found when it is wanted; null with an exception set.
Value* new_deferred(double data, PyObject* op, std::unique_ptr<Deferred> deferred);
// Whether a node waits for its derivative to be wanted, and the user has assigned none.
inline bool is_deferred(const Value* node) {
  return node->code == USER && node->extra->deferred && !node->extra->backward;
}
// A new node that depends on some operands, with these local derivatives; null with an exception set.
PyObject* new_user_node(double data, PyObject* op, std::vector<Ref> operands, std::vector<double> partials);
// New nodes for the results of a call that depends on `operands`: a list; null with an exception set.
PyObject* new_joint(std::unique_ptr<Joint> joint, std::vector<Ref> operands, const std::vector<double>& results,
                    PyObject* shared_op, PyObject* op);
// Whether a node is a result of a call with several, or what they share, and the user has assigned no derivative.
inline bool is_joint(const Value* node) {
  return node->code == USER && !node->extra->backward &&
         (node->extra->joint || node->extra->result != Extra::kNoResult);
}
bool any_deferred();
// Gives deferred nodes their operands. May throw std::bad_alloc.
void show_operands();
// Finds the derivatives of this thread's, but for those of which a leaf has changed; false with an exception set.
bool find_deferred();
void forget_deferred(Value* node);

// Whether a node belongs to another thread's tape.
inline bool is_foreign(const Value* value, const Tape* tape) {
  return value->code != LEAF && chunk_of(value->code == USER ? value->slot : value)->tape != tape;
}

// Whether `operand` still has the bits it had at `position`.
inline bool unchanged_since(const Value* operand, uint64_t position) {
  if (!(operand->flags & CHANGED)) return true;
  if (operand->code == LEAF && operand->stamp <= position) return true;
  return same_number(operand->data, data_used_at(operand, position));
}

// Turns the operand that is a plain number into a constant Value, permanently.
bool materialize(Value* node);

// Call visit(Value*) for each operand that is a Value, in order.
template <class Visit>
void each_operand(const Value* node, Visit&& visit) {
  if (node->code == LEAF) return;
  if (node->code == USER) {
    for (Value* child : node->extra->children) visit(child);
    return;
  }
  int arity = kRows[row_of(node)].arity;
  if (arity == 1 || arity == 2) {
    visit(node->a);
    if (arity == 2 && form_of(node) == VALUES) visit(node->b);
    return;
  }
  for (uint32_t i = 0; i < node->operand_list->count; ++i) visit(node->operand_list->operands[i]);
}

// Errors. Their sentences are in src/retrograd/errors.py. `format` builds a tuple. Each function sets the exception.
void raise_from(const char* function, const char* format, ...);
inline void raise_changed(const Value* value, double used) {
  raise_from("changed_value", "(Od)", as_object(value), used);
}

// After a call was refused: if its keyword arguments are a habit of another library, the error says what to write.
void answer_keywords(const char* function, PyObject* keywords);

// Whether this thread records a pure trace. A number that leaves the trace would be stale in the compiled program.
inline bool tracing() { return current_tape && current_tape->tracing; }
// Whether the tracer follows each number, too: if not, it is told of effects only, and all else proceeds as usual.
inline bool following() { return tracing() && current_tape->following; }
// Calls the tracer's method with `subject` and what `format` (a tuple) builds. The answer NotImplemented means: proceed
// as usual. Null with an exception set.
PyObject* ask_tracer(const char* method, PyObject* subject, const char* format = nullptr, ...);
// Whether the tracer takes over a call of the op `name`, asked through its method "call" or "reduce". If so, `result`
// is its answer, null with an exception set.
bool traced_call(const char* method, const char* name, PyObject* const* arguments, Py_ssize_t count, PyObject** result);
// Tells the tracer that `what` happens, which the compiled program would not do or see. False with an exception set.
bool tell_tracer(const char* what);

// Whether `object` is a real number, as src/retrograd/engine/numbers.py defines it: 1, 0, or -1 with an exception set.
int is_number(PyObject* object);
// 1 and the number; 0 when `object` is no real number; -1 with an exception set.
int read_number(PyObject* object, double* number);
// A number or an exception that names `where`.
// Reads a number, or the number of this run in a trace: 1, 0 for anything else, -1 with an exception.
int find_number(PyObject* object, double* number, const char* where);
bool need_number(PyObject* object, double* number, const char* where);

bool add_value_type(PyObject* module);

// Methods and slots of the type, defined beside what they do.
extern PyMethodDef record_methods[];
extern PyType_Slot record_slots[];
PyObject* value_backward(PyObject* self, PyObject* args, PyObject* keywords);
PyObject* value_push(PyObject* self, PyObject* unused);
PyObject* push_joint(PyObject* self, PyObject* unused);  // the same for what is_joint() told, as made
PyObject* value_local_grads(PyObject* self, void* closure);
PyObject* value_copy(PyObject* self, PyObject* unused);
PyObject* value_deepcopy(PyObject* self, PyObject* memo);
PyObject* value_reduce(PyObject* self, PyObject* unused);

// The module's functions.
extern PyMethodDef record_functions[];
extern PyMethodDef sum_functions[];
extern PyMethodDef sparse_functions[];
extern PyMethodDef sweep_functions[];
extern PyMethodDef tracer_functions[];
extern PyMethodDef extreme_functions[];
extern PyMethodDef nary_functions[];
extern PyMethodDef nary_operators[];
extern PyMethodDef operator_functions[];

}  // namespace retrograd
