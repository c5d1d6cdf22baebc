// The tape (Wengert, 1964): Values in order of creation, in chunks that the backward sweep walks from young to old.
//
// A node's *position* in that order is a number that only grows: the sequence number of its chunk and the node's offset
// inside it. Leaves have no position; they have no operands to come after.
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
    Value* a;        // the first operand; of a SLOT, the node whose position it holds
    Value* slot;     // of a USER node: the SLOT that holds its position
    uint64_t stamp;  // of a leaf: the position from which its present data is valid
    uint64_t index;  // of a softmax output: which one
  };
  union {
    Value* b;                   // the second operand
    double number;              // the operand that is a number
    OperandList* operand_list;  // three or more operands
    Extra* extra;               // of a leaf or USER node: rarely used fields
  };
  uint16_t code;
  uint8_t mark;  // reached by the sweep in progress; always set for leaves, which no sweep visits
  uint8_t flags;
  uint32_t source;  // the user's source line, if recorded; of a leaf, its birth number
};
static_assert(sizeof(Value) == 56, "the bytes a node costs are a promise");

enum Flag : uint8_t {
  IN_ARENA = 1,        // bumped in a chunk; otherwise an allocation of its own, which the collector may track
  CHANGED = 2,         // .data was assigned
  CONSTANT = 4,        // a leaf that the engine made from a number
  HAS_EXTRA = 8,       // an arena node with an entry in the side table
  OWNS_B = 16,         // an arena node whose second operand is a Value
  OWNS_OPERANDS = 32,  // an arena node with an operand list
  UNRECORDED = 32,     // a leaf that is the result of an operation inside no_grad
  FRESH = 64,          // a leaf whose __init__ has not run
  IN_BUFFER = 128,     // a leaf whose numbers are also in a parameter buffer
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
  bool sealed = false;      // a value was changed: the next node starts a chunk
  bool recording = true;
  bool raise[3] = {true, true, true};  // divide, over, invalid
  std::atomic<bool> orphaned = false;  // its thread has ended
  Ref observer;
  bool observing = false;  // the observer is running: what it records is not observed
  Ref backward_hook;
  Ref tracer;                       // is told of every number that would leave a pure trace
  bool tracing = false;             // there is a tracer, and it is not running
  bool following = false;           // it follows each number, and is not only told of what happens
  Ref comparison_type;              // what comparisons give in such a trace: tracers, or bools that have decided
  bool told_of_raising = false;     // the tracer knows that floats are divided
  bool keeps_fallible = false;      // a trace keeps the nodes whose operands may be outside a domain in later calls:
  std::vector<Ref> fallible;        // the function raises there, whether its result depends on them or not
  std::vector<double> rest, after;  // scratch memory for the derivatives of n-ary ops, see adjoints.hpp

  void refresh_limit();
  bool empty() const;
  uint64_t oldest_position() const;  // no living node of this tape is older
};

// The tape of this thread, made at first use; null with MemoryError set.
Tape* this_tape();

// Makes `bump` a free slot. False with MemoryError set.
bool make_room(Tape* tape);

// In a sanitizer build, makes it an error to read a freed slot, except for its mark, which sweeps read.
#ifdef RETROGRAD_SANITIZE
void forbid(Value* place);
void permit(Value* place);
#else
inline void forbid(Value*) {}
inline void permit(Value*) {}
#endif

// Frees some slots of a chunk.
void free_places(Chunk* chunk, uint32_t count);

// Gives memory back that no node is in, but for what the next small graph will want: a large one has been compiled.
void trim_arena();

// The position from which a value assigned now is valid. Every thread starts a new chunk there, so that a chunk is
// either entirely older or entirely younger than a change.
uint64_t change_position();
// The position of the last change. Younger nodes have used present values.
uint64_t last_change_position();
// Whether no node is alive, so that none can have used an old value.
bool nothing_recorded();
// No living node has a position below this.
uint64_t oldest_living_position();
// Whether a node recorded in [from, until), both positions of changes, may be alive. May throw std::bad_alloc.
bool recorded_between(uint64_t from, uint64_t until);

extern constinit thread_local Tape* current_tape;

}  // namespace retrograd
