// The tape: Values in creation order, in chunks that the backward sweep walks from young to old.
//
// A node's place in the order is its *position*, a number that only grows: the sequence number of its
// chunk and the node's offset inside it. Leaves have no place; they have no operands to come after.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/ops.hpp"
#include "tape/python.hpp"

namespace retrograd {

struct Value;
struct Tape;
struct OperandList;
struct Extra;

// One number of the user's program: a Python object of 56 bytes, without a collector header in the arena.
struct Value {
  PyObject_HEAD double data;
  union {
    double grad;
    Value* next;  // links nodes that wait to be freed
  };
  union {
    Value* a;        // the first operand; of a SLOT, the node whose place it holds
    Value* slot;     // of a USER node, its place in the arena
    uint64_t stamp;  // of a leaf, the position from which on its present data holds
    uint64_t index;  // of a sequence's node, which output it is
  };
  union {
    Value* b;                   // the second operand
    double number;              // the operand that is a number
    OperandList* operand_list;  // three or more operands
    Extra* extra;               // of a leaf or USER node: what few of them have
  };
  uint16_t code;
  uint8_t mark;  // reached by the sweep in progress; a leaf, which no sweep visits, always is
  uint8_t flags;
  uint32_t source;  // where in the user's program, when sources are recorded; of a leaf, when it was born
};
static_assert(sizeof(Value) == 56, "the bytes a node costs are a promise");

enum Flag : uint8_t {
  IN_ARENA = 1,        // bumped in a chunk; otherwise an allocation of its own, which the collector may track
  CHANGED = 2,         // .data was assigned
  CONSTANT = 4,        // a leaf that the engine made from a number
  HAS_EXTRA = 8,       // an arena node with an entry in the side table
  OWNS_B = 16,         // an arena node whose second operand is a Value
  OWNS_OPERANDS = 32,  // an arena node with a block of operands
  FRESH = 64,          // a leaf that no __init__ has seen
  IN_BUFFER = 128,     // a leaf whose numbers a buffer keeps, too
};

constexpr size_t kChunkBytes = 1 << 14;
constexpr size_t kChunkHeader = 64;
constexpr size_t kChunkNodes = (kChunkBytes - kChunkHeader) / sizeof(Value);
constexpr uint32_t kOpen = UINT32_MAX;

struct Slab;

struct Chunk {
  Tape* tape;
  Chunk* older;
  Chunk* newer;
  Slab* slab;
  uint64_t sequence;
  uint32_t used;    // nodes bumped, once the chunk is sealed; kOpen while it is the newest
  uint32_t dead;    // nodes freed
  uint32_t marked;  // whether the sweep in progress has reached a node in it

  Value* first() { return reinterpret_cast<Value*>(reinterpret_cast<char*>(this) + kChunkHeader); }
};
static_assert(sizeof(Chunk) <= kChunkHeader);

inline Chunk* chunk_of(const Value* node) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(node) & ~uintptr_t{kChunkBytes - 1});
}

inline uint64_t position_of(const Value* node) {
  return chunk_of(node)->sequence * kChunkBytes + (reinterpret_cast<uintptr_t>(node) & (kChunkBytes - 1));
}

// One thread's nodes and modes.
struct Tape {
  Value* bump = nullptr;   // where the next node goes
  Value* limit = nullptr;  // recording takes the careful path from here on: the chunk's end, or null for every node
  Value* end = nullptr;    // the chunk's end
  Chunk* newest = nullptr;
  Chunk* oldest = nullptr;
  uint64_t user_nodes = 0;  // nodes alive whose derivative may be Python code
  bool sealed = false;      // some value was changed: the next node starts a chunk
  bool recording = true;
  bool raise[3] = {true, true, true};  // divide, over, invalid
  std::atomic<bool> orphaned = false;  // its thread has ended
  Ref observer;
  bool observing = false;  // the observer is at work: what it records itself is not observed
  Ref backward_hook;
  Ref tracer;                       // hears of every number that would leave a pure trace
  bool tracing = false;             // there is a tracer, and it is not at work itself
  std::vector<double> rest, after;  // where the derivatives of sequences are computed, see adjoints.hpp

  void refresh_limit();
  bool empty() const;
  uint64_t oldest_position() const;  // no living node of this tape is older
};

// The tape of this thread, made at first use; null with MemoryError set.
Tape* this_tape();

// Sees to it that `bump` is a free place; false with MemoryError set.
bool make_room(Tape* tape);

// In a sanitizer build, makes reading a freed place an error: all of it but the marks, which a sweep looks at.
#ifdef RETROGRAD_SANITIZE
void forbid(Value* place);
void permit(Value* place);
#else
inline void forbid(Value*) {}
inline void permit(Value*) {}
#endif

// Gives the memory of some nodes of a chunk back.
void free_places(Chunk* chunk, uint32_t count);

// The position from which on a value assigned now holds. Every thread starts a new chunk there, so that a
// chunk is either all older or all younger than a change.
uint64_t change_position();
// The position of the last change; a node younger than that has used present values.
uint64_t last_change_position();
// No node is alive, so that nobody can have used an old value.
bool nothing_recorded();
// Positions below this belong to no living node.
uint64_t oldest_living_position();
// Whether a node recorded in [from, until), both positions of changes, may be alive. May throw std::bad_alloc.
bool recorded_between(uint64_t from, uint64_t until);

extern thread_local Tape* current_tape;

}  // namespace retrograd
