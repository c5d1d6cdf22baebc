// Walks what a value depends on, from young to old, by the marks on the tape.
#pragma once

#include <new>

#include "tape/value.hpp"

namespace retrograd {

// Marks a node with an op as reached. False if it was marked already, as leaves always are.
inline bool mark_op(Value* node) {
  if (node->mark) return false;
  node->mark = 1;
  chunk_of(node)->marked = 1;
  return true;
}

// The same if there may be USER nodes, whose mark is on their slot.
inline bool mark_any(Value* node) { return mark_op(node->code == USER ? node->slot : node); }

inline Value* node_at(Value* place) { return place->code == SLOT ? place->a : place; }

// Calls visit(Value*) for each operand that existed before the node. One that did not is an instance of a subclass that
// was used before its __init__ made it a node: it was a leaf then, and no gradient passes through it.
template <class Visit>
void each_older_operand(const Value* node, const Value* place, Visit&& visit) {
  each_operand(node, [&](Value* operand) {
    if (operand->code == USER && position_of(operand->slot) >= position_of(place)) return;
    visit(operand);
  });
}

// Ctrl-C during a long walk. Its handler is Python code, which may even run a backward pass, so it must not run while
// marks are set. The walk only asks whether the signal came, and ends early; once all marks are cleared and all
// gradients restored, `deliver` runs the handler.
class Interrupt {
 public:
  // Called for every chunk; checks at every 64th, that is every 20,000 nodes or 100 microseconds.
  bool came() {
    if (!came_ && !ignored_ && (++chunks_ & 63) == 0) came_ = PyOS_InterruptOccurred() != 0;
    return came_;
  }
  bool pending() const { return came_; }
  // For a short walk, which need not be interrupted.
  void ignore() { ignored_ = true; }
  // Runs the handler. True if it returned: the caller repeats the walk. Else its exception is set.
  bool deliver() {
    came_ = false;
    PyErr_SetInterrupt();
    return PyErr_CheckSignals() == 0;
  }

 private:
  uint32_t chunks_ = 0;
  bool came_ = false;
  bool ignored_ = false;
};

// Calls visit(node) for each marked node from the youngest to the oldest, unmarking it first; `visit` marks
// further, older ones. Stops, with every mark cleared, when `visit` returns false or the user interrupts. Asks done()
// after each visit, and goes no further once no node is marked.
template <class Visit, class Done>
bool walk_until(Value* root, Interrupt& interrupt, Visit&& visit, Done&& done) {
  Value* start = root->code == USER ? root->slot : root;
  bool going = true;
  for (Chunk* chunk = chunk_of(start); chunk; chunk = chunk->older) {
    if (!chunk->marked) continue;
    if (interrupt.came()) going = false;
    uint32_t last = chunk->used == kOpen ? static_cast<uint32_t>(chunk->tape->bump - chunk->first()) : chunk->used;
    Value* place = chunk == chunk_of(start) ? start : chunk->first() + last - 1;
    for (Value* first = chunk->first(); place >= first; --place) {
      RETROGRAD_PREFETCH(place - 24);
      if (!place->mark) continue;
      place->mark = 0;
      if (!going) continue;
      try {
        going = visit(place);
      } catch (const std::bad_alloc&) {
        going = false;
        PyErr_NoMemory();
      }
      if (done()) {
        chunk->marked = 0;
        return going;
      }
    }
    chunk->marked = 0;
  }
  return going;
}

// The same down to the oldest node of the tape.
template <class Visit>
bool walk(Value* root, Interrupt& interrupt, Visit&& visit) {
  return walk_until(root, interrupt, visit, [] { return false; });
}

// Repeats `attempt` after interrupts whose handler returns. False if it fails for another reason.
template <class Attempt>
bool uninterrupted(Attempt&& attempt) {
  for (;;) {
    Interrupt interrupt;
    if (attempt(interrupt)) return true;
    if (!interrupt.pending()) return false;
    if (!interrupt.deliver()) return false;
  }
}

}  // namespace retrograd
