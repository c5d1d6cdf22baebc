#include "tape/arena.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef RETROGRAD_SANITIZE
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace retrograd {

constinit thread_local Tape* current_tape = nullptr;

// --- memory: chunks are cut from slabs of 2 MiB, the size of a large page -----------------------------

constexpr size_t kSlabBytes = size_t{1} << 21;
constexpr size_t kSlabChunks = kSlabBytes / kChunkBytes;
constexpr size_t kFewSlabs = 32;  // always kept for the next graph

struct Slab {
  char* memory = nullptr;
  Chunk* free = nullptr;  // linked through `newer`
  size_t in_use = 0;
  Slab* next = nullptr;  // among slabs that have a free chunk
  Slab* previous = nullptr;
};

namespace {

Slab* available = nullptr;
size_t idle_slabs = 0;
size_t used_slabs = 0;
size_t peak_slabs = 0;       // in use at once since the arena was last empty
size_t last_peak_slabs = 0;  // and before that
uint64_t last_sequence = 0;
uint64_t change_sequence = 0;
std::vector<Tape*> tapes;

void make_available(Slab* slab) {
  slab->previous = nullptr;
  slab->next = available;
  if (available) available->previous = slab;
  available = slab;
}

void make_unavailable(Slab* slab) {
  if (slab->previous) slab->previous->next = slab->next;
  if (slab->next) slab->next->previous = slab->previous;
  if (available == slab) available = slab->next;
}

constexpr std::align_val_t kAlignment{kSlabBytes};

Slab* new_slab() {
  auto* slab = new (std::nothrow) Slab;
  if (!slab) return nullptr;
  slab->memory = static_cast<char*>(::operator new(kSlabBytes, kAlignment, std::nothrow));
  if (!slab->memory) {
    delete slab;
    return nullptr;
  }
#ifdef __linux__
  // Recording a graph larger than the caches costs half as much on large pages. The system may refuse.
  madvise(slab->memory, kSlabBytes, MADV_HUGEPAGE);
#endif
  for (size_t i = kSlabChunks; i-- > 0;) {
    auto* chunk = reinterpret_cast<Chunk*>(slab->memory + i * kChunkBytes);
    chunk->newer = slab->free;
    chunk->slab = slab;
    slab->free = chunk;
  }
  ++idle_slabs;
  make_available(slab);
  return slab;
}

void delete_slab(Slab* slab) {
  make_unavailable(slab);
#ifdef RETROGRAD_SANITIZE
  ASAN_UNPOISON_MEMORY_REGION(slab->memory, kSlabBytes);
#endif
  ::operator delete(slab->memory, kAlignment);
  delete slab;
  --idle_slabs;
}

// Deletes idle slabs, from one that is available on, until so many are left.
void delete_idle(Slab* slab, size_t left) {
  while (slab && idle_slabs > left) {
    Slab* next = slab->next;
    if (slab->in_use == 0) delete_slab(slab);
    slab = next;
  }
}

// Keeps half of the memory that was last in use: a program that builds graphs of the same size should not allocate each
// time, and one large graph should not hold its memory forever.
size_t slabs_to_keep() { return std::max(kFewSlabs, std::max(peak_slabs, last_peak_slabs) / 2); }

Chunk* take_chunk() {
  Slab* slab = available ? available : new_slab();
  if (!slab) return nullptr;
  if (slab->in_use++ == 0) {
    --idle_slabs;
    peak_slabs = std::max(peak_slabs, ++used_slabs);
  }
  Chunk* chunk = slab->free;
  slab->free = chunk->newer;
  if (!slab->free) make_unavailable(slab);
  return chunk;
}

void give_chunk(Chunk* chunk) {
  Slab* slab = chunk->slab;
  if (!slab->free) make_available(slab);
  chunk->newer = slab->free;
  slab->free = chunk;
  if (--slab->in_use > 0) return;
  ++idle_slabs;
  if (--used_slabs == 0) last_peak_slabs = std::exchange(peak_slabs, 0);
  const size_t keep = slabs_to_keep();
  if (idle_slabs > keep) delete_idle(used_slabs ? slab : available, keep);
}

// --- tapes -------------------------------------------------------------------------------------------

uint32_t nodes_in(const Tape* tape, Chunk* chunk) {
  return chunk->used == kOpen ? static_cast<uint32_t>(tape->bump - chunk->first()) : chunk->used;
}

void unlink(Chunk* chunk) {
  Tape* tape = chunk->tape;
  (chunk->older ? chunk->older->newer : tape->oldest) = chunk->newer;
  (chunk->newer ? chunk->newer->older : tape->newest) = chunk->older;
}

void start_chunk(Tape* tape, Chunk* chunk) {
  chunk->sequence = ++last_sequence;
  chunk->used = kOpen;
  chunk->dead = 0;
  chunk->marked = 0;
  tape->bump = chunk->first();
  tape->end = tape->bump + kChunkNodes;
  tape->sealed = false;
}

bool next_chunk(Tape* tape) {
  Chunk* newest = tape->newest;
  if (newest && newest->dead == nodes_in(tape, newest)) {
    start_chunk(tape, newest);  // nothing in it is alive: reuse it
    return true;
  }
  Chunk* chunk = take_chunk();
  if (!chunk) {
    PyErr_NoMemory();
    return false;
  }
  if (newest) newest->used = nodes_in(tape, newest);
  chunk->tape = tape;
  chunk->older = newest;
  chunk->newer = nullptr;
  (newest ? newest->newer : tape->oldest) = chunk;
  tape->newest = chunk;
  start_chunk(tape, chunk);
  return true;
}

void refresh_limits() {
  for (Tape* tape : tapes) tape->refresh_limit();
}

// Deletes the tapes of ended threads once their last node is freed. Deleting one may run Python code that records, so
// the list is consistent at each deletion.
void drop_orphans() {
  for (;;) {
    auto ended = std::find_if(tapes.begin(), tapes.end(), [](Tape* tape) { return tape->orphaned && tape->empty(); });
    if (ended == tapes.end()) return;
    Tape* tape = *ended;
    tapes.erase(ended);
    if (Chunk* last = tape->newest) {
      unlink(last);
      give_chunk(last);
    }
    delete tape;
  }
}

// Its destructor runs when the thread ends, without the GIL: it only sets a flag.
struct ThreadEnd {
  Tape* tape = nullptr;
  ~ThreadEnd() {
    if (tape) tape->orphaned = true;
  }
};
thread_local ThreadEnd thread_end;

}  // namespace

void trim_arena() {
  peak_slabs = last_peak_slabs = used_slabs;
  delete_idle(available, kFewSlabs);
}

void Tape::refresh_limit() {
  bool careful = !recording || observer || keeps_fallible || tapes.size() > 1;
  limit = careful ? nullptr : end;
}

bool Tape::empty() const { return !newest || (newest == oldest && newest->dead == nodes_in(this, newest)); }

uint64_t Tape::oldest_position() const { return oldest ? oldest->sequence * kChunkBytes : UINT64_MAX; }

Tape* this_tape() {
  if (current_tape) return current_tape;
  drop_orphans();
  if (current_tape) return current_tape;
  std::unique_ptr<Tape> tape(new (std::nothrow) Tape);
  if (!tape) {
    PyErr_NoMemory();
    return nullptr;
  }
  try {
    tapes.push_back(tape.get());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return nullptr;
  }
  thread_end.tape = current_tape = tape.release();
  refresh_limits();
  return current_tape;
}

bool make_room(Tape* tape) {
  if (tape->bump == tape->end && tapes.size() > 1) drop_orphans();
  if (tape->bump == tape->end && !next_chunk(tape)) return false;
  tape->refresh_limit();
  return true;
}

#ifdef RETROGRAD_SANITIZE
void forbid(Value* place) { ASAN_POISON_MEMORY_REGION(place, offsetof(Value, code)); }
void permit(Value* place) { ASAN_UNPOISON_MEMORY_REGION(place, offsetof(Value, code)); }
#endif

void free_places(Chunk* chunk, uint32_t count) {
  chunk->dead += count;
  if (chunk->dead == chunk->used) {
    unlink(chunk);
    give_chunk(chunk);
  }
}

uint64_t change_position() {
  bool recorded_since = false;
  for (Tape* tape : tapes) {
    if (tape->sealed) continue;
    recorded_since = tape->sealed = true;
    tape->end = tape->bump;
    tape->refresh_limit();
  }
  if (recorded_since) change_sequence = ++last_sequence;
  return change_sequence * kChunkBytes;
}

uint64_t last_change_position() { return change_sequence * kChunkBytes; }

bool nothing_recorded() {
  return std::all_of(tapes.begin(), tapes.end(), [](const Tape* tape) { return tape->empty(); });
}

uint64_t oldest_living_position() {
  uint64_t oldest = UINT64_MAX;
  for (const Tape* tape : tapes) oldest = std::min(oldest, tape->oldest_position());
  return oldest;
}

bool recorded_between(uint64_t from, uint64_t until) {
  // The chunks alive at the last change. Later ones are younger than any change; those that died since do no harm.
  static std::vector<uint64_t> chunks;
  static uint64_t as_of = 0;
  if (as_of != change_sequence) {
    chunks.clear();
    for (const Tape* tape : tapes) {
      for (const Chunk* chunk = tape->oldest; chunk; chunk = chunk->newer) {
        chunks.push_back(chunk->sequence * kChunkBytes);
      }
    }
    std::sort(chunks.begin(), chunks.end());
    as_of = change_sequence;
  }
  auto first = std::lower_bound(chunks.begin(), chunks.end(), from);
  return first != chunks.end() && *first < until;
}

}  // namespace retrograd
