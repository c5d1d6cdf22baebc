// The life of a Value: construction, freeing, operands, and the numbers that a changed leaf had before.
#include "tape/value.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

#include "tape/docs.hpp"
#include "tape/record.hpp"

namespace retrograd {

PyTypeObject* value_type = nullptr;

// --- errors and numbers ------------------------------------------------------------------------------------

void raise_from(const char* function, const char* format, ...) {
  Ref module(PyImport_ImportModule("retrograd.errors"));
  Ref make(module ? PyObject_GetAttrString(module.get(), function) : nullptr);
  if (!make) return;
  va_list arguments;
  va_start(arguments, format);
  Ref tuple(Py_VaBuildValue(format, arguments));
  va_end(arguments);
  Ref error(tuple ? PyObject_CallObject(make.get(), tuple.get()) : nullptr);
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
}

void answer_keywords(const char* function, PyObject* keywords) {
  if (!keywords) return;
  PyObject *type, *refusal, *traceback;
  PyErr_Fetch(&type, &refusal, &traceback);
  Ref module(PyImport_ImportModule("retrograd.habits"));
  Ref error(module ? PyObject_CallMethod(module.get(), "error_of_engine", "sO", function, keywords) : nullptr);
  if (!error || error.get() == Py_None) {
    PyErr_Restore(type, refusal, traceback);
    return;
  }
  Ref forgotten[] = {Ref(type), Ref(refusal), Ref(traceback)};
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
}

int is_number(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object)) return 1;
  if (is_value(object)) return 0;
  // NumPy scalars, fractions and the like are rare: ask the same Python function as the reference engine does.
  Ref module(PyImport_ImportModule("retrograd.engine.numbers"));
  Ref function(module ? PyObject_GetAttrString(module.get(), "is_number") : nullptr);
  Ref answer(function ? PyObject_CallFunctionObjArgs(function.get(), object, nullptr) : nullptr);
  return answer ? PyObject_IsTrue(answer.get()) : -1;
}

int read_number(PyObject* object, double* number) {
  if (PyFloat_Check(object)) {
    *number = PyFloat_AsDouble(object);
    return 1;
  }
  int known = is_number(object);
  if (known <= 0) return known;
  Ref as_float(PyLong_Check(object) ? PyFloat_FromDouble(PyLong_AsDouble(object)) : PyNumber_Float(object));
  if (as_float && !PyErr_Occurred()) {
    *number = PyFloat_AsDouble(as_float.get());
    return 1;
  }
  if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    raise_from("number_too_large", "(Os)", object, "a Value");
  }
  return -1;
}

int find_number(PyObject* object, double* number, const char* where) {
  int known = read_operand(object, number);
  if (known != 0 || !following()) return known;
  Ref answer(ask_tracer("number_of", object, "(s)", where));
  if (!answer) return -1;
  return answer.get() == Py_NotImplemented ? 0 : read_operand(answer.get(), number);
}

bool need_number(PyObject* object, double* number, const char* where) {
  int known = find_number(object, number, where);
  if (known == 0) raise_from("not_a_number", "(Os)", object, where);
  return known > 0;
}

// --- blocks and extras ---------------------------------------------------------------------------------------

OperandList* OperandList::make(uint32_t count, bool with_probabilities) {
  size_t bytes = sizeof(OperandList) + count * sizeof(Value*) + (with_probabilities ? count * sizeof(double) : 0);
  auto* block = static_cast<OperandList*>(std::malloc(bytes));
  if (!block) {
    PyErr_NoMemory();
    return nullptr;
  }
  longest_operand_list = std::max(longest_operand_list, count);
  block->references = 1;
  block->count = 0;
  block->probabilities = with_probabilities
                             ? reinterpret_cast<double*>(reinterpret_cast<char*>(block + 1) + count * sizeof(Value*))
                             : nullptr;
  return block;
}

void release_operands(OperandList* block) {
  if (--block->references > 0) return;
  for (uint32_t i = 0; i < block->count; ++i) Py_DECREF(as_object(block->operands[i]));
  std::free(block);
}

namespace {
// The extras of arena nodes, which have no room for a pointer.
std::unordered_map<const Value*, Extra*>& side_table() {
  static auto* table = new std::unordered_map<const Value*, Extra*>;
  return *table;
}
bool keeps_own_extra(const Value* value) { return value->code == LEAF || value->code == USER; }
}  // namespace

Extra* find_extra(const Value* value) {
  if (keeps_own_extra(value)) return value->extra;
  if (!(value->flags & HAS_EXTRA)) return nullptr;
  return side_table().find(value)->second;
}

Extra* need_extra(Value* value) try {
  if (Extra* extra = find_extra(value)) return extra;
  auto* extra = new Extra;
  if (keeps_own_extra(value)) {
    value->extra = extra;
  } else {
    try {
      side_table().emplace(value, extra);
    } catch (...) {
      delete extra;
      throw;
    }
    value->flags |= HAS_EXTRA;
  }
  return extra;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return nullptr;
}

void drop_extra(Value* value) {
  Extra* extra = find_extra(value);
  if (!extra) return;
  if (keeps_own_extra(value)) {
    value->extra = nullptr;
  } else {
    side_table().erase(value);
    value->flags &= static_cast<uint8_t>(~HAS_EXTRA);
  }
  if (extra->deferred) forget_deferred(value);
  for (Value* child : extra->children) Py_DECREF(as_object(child));
  delete extra;
}

// --- leaves, and places for nodes that are not bumped ------------------------------------------------------------

namespace {

// Memory of freed leaves for the next ones: a transform makes and frees a leaf for each of its inputs in each call.
// None under the sanitizers, which then see every use of a freed leaf.
#ifdef RETROGRAD_SANITIZE
constexpr size_t kSpareLeaves = 0;
#else
constexpr size_t kSpareLeaves = 1 << 13;
#endif
Value* spare_leaves = nullptr;  // linked through `next`
size_t spare_count = 0;

Value* allocate_leaf() {
  if (!spare_leaves) return PyObject_GC_New(Value, value_type);
  Value* leaf = spare_leaves;
  spare_leaves = leaf->next;
  --spare_count;
  return as_value(PyObject_Init(as_object(leaf), value_type));
}

}  // namespace

Value* new_leaf(double data, uint8_t flags) {
  Value* leaf = allocate_leaf();
  if (!leaf) return nullptr;
  leaf->data = data;
  leaf->grad = 0.0;
  leaf->stamp = 0;
  leaf->extra = nullptr;
  leaf->code = LEAF;
  leaf->mark = 1;
  leaf->flags = flags;
  give_birth(leaf);
  return leaf;
}

Value* new_slot(Value* node) {
  Tape* tape = this_tape();
  if (!tape || !make_room(tape)) return nullptr;
  Value* slot = tape->bump++;
  permit(slot);
  std::memset(static_cast<void*>(slot), 0, sizeof *slot);
  slot->code = SLOT;
  slot->flags = IN_ARENA;
  slot->a = node;
  return slot;
}

bool give_slot(Value* user_node) {
  Value* slot = new_slot(user_node);
  if (!slot) return false;
  user_node->code = USER;
  user_node->source = 0;
  user_node->slot = slot;
  ++current_tape->user_nodes;
  // Its children may be instances of a subclass with attributes that lead back to it.
  if (!PyObject_GC_IsTracked(as_object(user_node))) PyObject_GC_Track(as_object(user_node));
  return true;
}

bool materialize(Value* node) {
  Form form = form_of(node);
  if (!is_op(node->code) || form == VALUES || row_of(node) == ROW_pow) return true;
  Value* constant = new_leaf(node->number, CONSTANT);
  if (!constant) return false;
  if (form_of(node) != form) {  // the garbage collector ran for the new leaf, and visited this node
    Py_DECREF(as_object(constant));
    return true;
  }
  node->b = constant;
  node->flags |= OWNS_B;
  if (form == NUMBER_LEFT) std::swap(node->a, node->b);
  node->code = code_of(row_of(node));
  return true;
}

// --- changed data ----------------------------------------------------------------------------------------------

ChangeScope::ChangeScope()
    : nobody_(nothing_recorded()),
      position_(change_position()),
      oldest_(nobody_ ? UINT64_MAX : oldest_living_position()) {}

namespace {
// Drops the old numbers that no living node used: one old node would otherwise keep all later ones.
void forget_unused(std::vector<Change>& history) {
  std::vector<Change> used;
  uint64_t from = 0;
  for (const Change& change : history) {
    if (recorded_between(from, change.until)) used.push_back(change);
    from = change.until;
  }
  used.reserve(std::max(size_t{2}, 2 * used.size()));  // so that this is rare
  history.swap(used);
}
}  // namespace

bool ChangeScope::remember(Value* value) try {
  Extra* extra = nobody_ ? find_extra(value) : need_extra(value);
  if (!extra) return nobody_;
  auto& history = extra->history;
  history.erase(history.begin(), std::find_if(history.begin(), history.end(),
                                              [&](const Change& change) { return change.until > oldest_; }));
  // If nothing was recorded since the last change, no node used the number in between.
  if (nobody_ || (!history.empty() && history.back().until == position_)) return true;
  if (history.size() == history.capacity()) forget_unused(history);
  history.push_back({position_, value->data});
  return true;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return false;
}

double data_used_at(const Value* value, uint64_t position) {
  if (const Extra* extra = find_extra(value)) {
    for (const Change& change : extra->history) {
      if (change.until > position) return change.data;
    }
  }
  return value->data;
}

// --- freeing: a work list, never recursion -----------------------------------------------------------------------

namespace {

thread_local Value* waiting = nullptr;
thread_local bool freeing = false;

void wait(Value* value) {
  value->next = waiting;
  waiting = value;
}

// Frees slots chunk by chunk: neighbours mostly die together.
class Places {
 public:
  ~Places() { flush(); }
  void free(Value* node) {
    Chunk* chunk = chunk_of(node);
    if (chunk != chunk_) {
      flush();
      chunk_ = chunk;
    }
    ++count_;
  }

 private:
  void flush() {
    if (count_) free_places(chunk_, count_);
    count_ = 0;
  }
  Chunk* chunk_ = nullptr;
  uint32_t count_ = 0;
};

// Drops one reference. True if it was the last one to an arena node, which the caller must free.
bool release(Value* value) {
  if (Py_REFCNT(as_object(value)) == 1 && (value->flags & IN_ARENA)) return true;
  Py_DECREF(as_object(value));
  return false;
}

// Frees a node and returns one of its operands that died with it, if any; others wait.
Value* free_in_arena(Value* node, Places& places) {
  if (node->flags & HAS_EXTRA) {
    if (find_extra(node)->backward) --chunk_of(node)->tape->user_nodes;
    drop_extra(node);
  }
  places.free(node);
  if (node->flags & OWNS_OPERANDS) {
    OperandList* block = node->operand_list;
    forbid(node);
    release_operands(block);
    return nullptr;
  }
  Value *a = node->a, *b = node->flags & OWNS_B ? node->b : nullptr;
  forbid(node);
  if (b && !release(b)) b = nullptr;
  if (!release(a)) return b;
  if (b) wait(b);
  return a;
}

void free_outside(Value* value, Places& places) {
  Value* slot = value->code == USER ? value->slot : nullptr;
  Value* anchor = slot ? value->extra->anchor : nullptr;
  if (value->flags & IN_BUFFER) forget_leaf(value);
  drop_extra(value);
  if (slot) --chunk_of(slot)->tape->user_nodes;
  for (Value* place : {slot, anchor}) {
    if (!place) continue;
    places.free(place);
    forbid(place);
  }
  PyTypeObject* type = Py_TYPE(as_object(value));
  auto free_object = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free_object(value);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Its layout differs from that of every subclass, so Python refuses to assign __class__ between them, and what is in
// the arena can be nothing else.
void value_free(void* self) {
  if (spare_count == kSpareLeaves) {
    PyObject_GC_Del(self);
    return;
  }
  auto* leaf = static_cast<Value*>(self);
  leaf->next = spare_leaves;
  spare_leaves = leaf;
  ++spare_count;
}

// A leaf that nothing is attached to: the collector does not know it, and freeing it frees nothing else.
bool is_bare(const Value* value) {
  return value->code == LEAF && !value->extra && !(value->flags & IN_BUFFER) && Py_TYPE(as_object(value)) == value_type;
}

void value_dealloc(PyObject* self) {
  Value* value = as_value(self);
  if (is_bare(value)) {
    value_free(value);
    Py_DECREF(reinterpret_cast<PyObject*>(value_type));
    return;
  }
  if (!(value->flags & IN_ARENA)) PyObject_GC_UnTrack(self);
  if (freeing) {
    if (value->flags & IN_BUFFER) forget_leaf(value);  // a buffer that is freed meanwhile would write a gradient to it
    wait(value);
    return;
  }
  freeing = true;
  Places places;
  while (value) {
    Value* next = nullptr;
    if (value->flags & IN_ARENA) {
      next = free_in_arena(value, places);
    } else {
      free_outside(value, places);
    }
    if (!next && waiting) {
      next = waiting;
      waiting = next->next;
    }
    value = next;
  }
  freeing = false;
}

int value_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const Extra* extra = find_extra(as_value(self));
  if (!extra) return 0;
  Py_VISIT(extra->op.get());
  Py_VISIT(extra->backward.get());
  for (Value* child : extra->children) Py_VISIT(as_object(child));
  if (extra->joint) return extra->joint->traverse(visit, arg);
  return extra->deferred ? extra->deferred->traverse(visit, arg) : 0;
}

int value_clear(PyObject* self) {
  if (Extra* extra = find_extra(as_value(self))) extra->backward = Ref();
  return 0;
}

// Nodes in the arena have no collector header; all others do.
int value_is_gc(PyObject* self) { return !(as_value(self)->flags & IN_ARENA); }

// --- construction --------------------------------------------------------------------------------------------------

PyObject* value_new(PyTypeObject* type, PyObject* args, PyObject*) {
  if (type == value_type) {
    if (!following() || PyTuple_Size(args) != 1) return as_object(new_leaf(0.0, FRESH));
    Ref leaf(ask_tracer("leaf", PyTuple_GetItem(args, 0)));
    if (!leaf || leaf.get() != Py_NotImplemented) return leaf.release();
    return as_object(new_leaf(0.0, FRESH));
  }
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* leaf = allocate(type, 0);  // all zeros is an empty leaf, except for its mark
  if (!leaf) return nullptr;
  as_value(leaf)->mark = 1;
  as_value(leaf)->flags = FRESH;
  give_birth(as_value(leaf));
  return leaf;
}

// A sequence as a tuple; null with an exception that names `where`.
Ref tuple_of(PyObject* sequence, const char* where) {
  if (!Ref(PyObject_GetIter(sequence))) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Clear();
      raise_from("not_a_sequence", "(Os)", sequence, where);
    }
    return Ref();
  }
  return Ref(PySequence_Tuple(sequence));
}

// The arguments of Value(…) besides its number. They are all read before anything is assigned, because reading runs
// user code.
struct Given {
  std::vector<Ref> children;
  std::vector<double> partials;
  bool has_partials = false;

  bool read_children(PyObject* sequence) {
    Ref items = tuple_of(sequence, "Value(data, children)");
    if (!items) return false;
    Py_ssize_t count = PyTuple_Size(items.get());
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* child = PyTuple_GetItem(items.get(), i);
      if (!is_value(child)) {
        raise_from("not_a_child", "(O)", child);
        return false;
      }
      children.push_back(Ref::borrow(child));
    }
    return true;
  }

  bool read_partials(PyObject* sequence) {
    Ref items(PySequence_Tuple(sequence));
    if (!items) return false;
    Py_ssize_t count = PyTuple_Size(items.get());
    if (count != static_cast<Py_ssize_t>(children.size())) {
      Ref expected(PyUnicode_FromFormat("one local derivative for each of the %zd children", children.size()));
      if (expected) raise_from("wrong_length", "(sOn)", "Value(data, children, local_grads)", expected.get(), count);
      return false;
    }
    partials.resize(static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!need_number(PyTuple_GetItem(items.get(), i), &partials[static_cast<size_t>(i)], "local_grads")) return false;
    }
    has_partials = true;
    return true;
  }
};

// Turns a new leaf into a USER node. False with an exception set.
bool become_node(Value* value, Tape* tape, Extra* extra, Given& given) {
  for (const Ref& child : given.children) {
    if (!is_foreign(as_value(child.get()), tape)) continue;
    raise_from("foreign_thread", "()");
    return false;
  }
  if (!tape->recording) {
    value->flags |= UNRECORDED;
    return true;
  }
  extra->children.reserve(given.children.size());
  if (!give_slot(value)) return false;
  for (Ref& child : given.children) extra->children.push_back(as_value(child.release()));
  extra->partials = std::move(given.partials);
  extra->has_partials = given.has_partials;
  return observe(tape, value);
}

int value_init(PyObject* self, PyObject* args, PyObject* keywords) try {
  Value* value = as_value(self);
  double number;
  if (row_of(value) == ROW_detach && tracing()) {  // what Value(x) of a traced number is: value_new
    PyObject* label = keywords ? PyDict_GetItemString(keywords, "label") : nullptr;
    return label ? PyObject_SetAttrString(self, "label", label) : 0;
  }
  if (!keywords && PyTuple_Size(args) == 1 && value->flags & FRESH) {
    if (!need_number(PyTuple_GetItem(args, 0), &number, "Value(…)")) return -1;
    value->flags &= static_cast<uint8_t>(~FRESH);
    value->data = number;
    return 0;
  }
  if (!flush_parameters()) return -1;
  static const char* names[] = {"data", "_children", "_op", "label", "children", "local_grads", nullptr};
  PyObject *data, *children = nullptr, *op = nullptr, *label = nullptr, *also_children = nullptr, *partials = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OOO$OO:Value", const_cast<char**>(names), &data, &children, &op,
                                   &label, &also_children, &partials)) {
    answer_keywords("Value", keywords);
    return -1;
  }
  if (op && !PyUnicode_Check(op)) partials = std::exchange(op, nullptr);  // the third argument is _op or local_grads
  if (partials == Py_None) partials = nullptr;
  if (label && !PyUnicode_Check(label)) {
    raise_from("not_a_label", "(O)", label);
    return -1;
  }
  Given given;
  if (!need_number(data, &number, "Value(…)")) return -1;
  if (children && !given.read_children(children)) return -1;
  const size_t by_position = given.children.size();
  if (also_children && !given.read_children(also_children)) return -1;
  if (by_position > 0 && given.children.size() > by_position) {
    raise_from("children_twice", "()");
    return -1;
  }
  if (partials && !given.read_partials(partials)) return -1;
  if (value->code != LEAF || !(given.children.empty() || value->flags & FRESH)) {
    PyErr_SetString(PyExc_TypeError,
                    "this Value has been made already: make another one instead of calling __init__ again.");
    return -1;
  }
  bool has_op = op && PyUnicode_GetLength(op) > 0, has_label = label && PyUnicode_GetLength(label) > 0;
  Extra* extra = has_op || has_label || !given.children.empty() ? need_extra(value) : find_extra(value);
  if (!extra && PyErr_Occurred()) return -1;
  Ref old_label, old_op;  // freeing them may run Python code, so they go last
  if (extra) {
    old_label = std::exchange(extra->label, Ref::borrow(has_label ? label : nullptr));
    old_op = std::exchange(extra->op, Ref::borrow(has_op ? op : nullptr));
  }
  if (value->flags & FRESH) {
    value->flags &= static_cast<uint8_t>(~FRESH);
    value->data = number;
  } else if (!ChangeScope().change(value, number)) {
    return -1;
  }
  if (given.children.empty()) return 0;
  Tape* tape = this_tape();
  return tape && extra && become_node(value, tape, extra, given) ? 0 : -1;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return -1;
}

}  // namespace

// --- the type --------------------------------------------------------------------------------------------------------

extern PyType_Slot attribute_slots[];
extern PyMethodDef attribute_methods[];

bool add_value_type(PyObject* module) {
  std::vector<PyMethodDef> methods;
  for (const PyMethodDef* table : {attribute_methods, record_methods}) {
    for (; table->ml_name; ++table) methods.push_back(*table);
  }
  methods.push_back({nullptr, nullptr, 0, nullptr});
  static std::vector<PyMethodDef> kept;  // the type keeps pointers into it
  kept = std::move(methods);

  auto slot = [](auto function) { return reinterpret_cast<void*>(function); };
  std::vector<PyType_Slot> slots = {
      {Py_tp_new, slot(value_new)},
      {Py_tp_init, slot(value_init)},
      {Py_tp_dealloc, slot(value_dealloc)},
      {Py_tp_free, slot(value_free)},
      {Py_tp_traverse, slot(value_traverse)},
      {Py_tp_clear, slot(value_clear)},
      {Py_tp_is_gc, slot(value_is_gc)},
      {Py_tp_methods, kept.data()},
      {Py_tp_doc, const_cast<char*>(docs::value("Value"))},
  };
  for (const PyType_Slot* table : {record_slots, attribute_slots}) {
    for (; table->slot; ++table) slots.push_back(*table);
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"retrograd.engine.Value", sizeof(Value), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  value_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  if (!value_type) return false;
  // The module holds the last reference to the type: arena nodes rely on the type without a reference to it.
  Py_INCREF(reinterpret_cast<PyObject*>(value_type));
  static Value scratch;
  PyObject_Init(as_object(&scratch), value_type);
  prototype = scratch.ob_base;
  return PyModule_AddObjectRef(module, "Value", reinterpret_cast<PyObject*>(value_type)) == 0;
}

}  // namespace retrograd
