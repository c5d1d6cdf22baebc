// A specialization: one trace of a compiled function, with its guards, its program, the machines that run it, and
// statistics.
#pragma once

#include <optional>
#include <unordered_map>

#include "compiler/guards/state_guards.hpp"
#include "compiler/passes/packing.hpp"
#include "compiler/run/comparisons.hpp"
#include "compiler/run/contest.hpp"
#include "compiler/run/graph_runner.hpp"
#include "compiler/run/machine.hpp"
#include "compiler/run/signature.hpp"
#include "tape/shared.hpp"

namespace retrograd::compiler {

// The names of Guard::Test in Python.
constexpr const char* kTestNames[] = {"<", "<=", ">", ">=", "==", "!="};

// A comparison of an index with a number, or with another index.
struct IndexGuard {
  Guard guard;  // which test, against which number, with which outcome; it has no roots
  uint32_t slot;
  std::optional<uint32_t> other_slot;
  bool holds(const std::vector<int32_t>& indices) const {
    return guard.decides(indices[slot], other_slot ? indices[*other_slot] : guard.number);
  }
};

constexpr uint32_t kNoLeaf = UINT32_MAX;

// A new graph is interpreted so many times before it is compiled, which takes as long as dozens of such passes.
constexpr size_t kRunsOfGraph = 8;
// But one of so many nodes is interpreted once: it takes much memory until it is compiled, which is then given back.
constexpr size_t kLarge = 100'000;
// A graph of so many nodes is packed when it has been compiled. Where the interpreter runs it, its program is not kept:
// that takes several times the graph's memory.
constexpr size_t kNotKept = 10'000;

// A gradient that value_and_grad returns.
struct WantedGradient {
  enum Source : uint8_t { INPUT, PARAMETER };
  Source source;
  uint32_t index;  // the offset of an active input, or the number of a leaf; kNoLeaf if the result depends on neither
  friend bool operator==(const WantedGradient&, const WantedGradient&) = default;
};

struct Options {
  bool exact = false, interpret = false, machine = false;
  bool at_once = false;       // the program is made when the function is traced, and not when it has run a few times
  bool float_errors = false;  // the function divides floats, which raise whatever rg.errstate says
  bool simplify = false;      // derivatives were recorded, in which much is computed twice
};

// How far a specialization has come: it has a graph, which the interpreter runs; it has a program besides; and that has
// been compared with the interpreter, and is in use (or it was found that the interpreter is to stay).
enum class Stage : uint8_t { TRACED, COMPILED, SETTLED };

// What a pass gave: the value, several results, and the gradient of each leaf; of passive inputs it is zero.
struct Results {
  double value = 0.0;
  std::vector<double> outputs, gradients;
};

// How much there is in a program.
struct Outline {
  size_t terms = 0, groups = 0, instructions = 0;
};

// What the passes from a graph to its program have made, one after the other.
struct Scheduled {
  Terms terms;
  Packs packs;
  Program program;
};

// How many comparisons two programs begin with, and whether they make the same one next.
struct Common {
  size_t guards = 0;
  bool asks_alike = false;
};

// Machine code rounds otherwise than the nodes: two numbers that are equal in the function may not be so in the code,
// and a comparison of them comes out otherwise. Where that is so in many calls, the code is to round as the nodes do.
class Ties {
 public:
  // The nodes answer a call that the code did not. Whether there are many, for the first time.
  bool found() {
    score_ += kCalls;
    if (score_ < kMany * kCalls || are_many_) return false;
    return are_many_ = true;
  }
  // The code answers a call.
  void none() { score_ -= score_ > 0; }
  bool are_many() const { return are_many_; }

 private:
  static constexpr size_t kCalls = 8, kMany = 16;  // one in eight calls, and so many more
  size_t score_ = 0;
  bool are_many_ = false;
};

class Twin;
class Matrix;

struct Specialization {
  Specialization(Workspaces& shared, Graph traced);
  ~Specialization();
  Specialization(const Specialization&) = delete;
  Specialization& operator=(const Specialization&) = delete;

  Workspaces& workspaces;
  size_t number = 0;
  uint64_t fingerprint = 0;  // of the arguments of the last call that it answered
  Shared<Signature> signature;
  StoredGraph graph;
  LeafLayout leaves;
  ParameterBuffers buffers;
  GraphRunner runner{graph, leaves, outputs, buffers};
  Program program;  // empty where only its outline is kept
  Outline outline;
  std::vector<double> literals;        // the program's: those of the graph, and those that its expansion added
  std::vector<uint32_t> index_limits;  // of each index argument: the number of candidates; 0 if unused
  std::vector<Guard> guards;
  std::vector<IndexGuard> index_guards;
  // Of a function with several results: their numbers among the roots. If a Value is among them, the first root is the
  // sum of the results times cotangents, which are the last passive inputs of the program; else it is a constant.
  std::vector<uint32_t> outputs;
  std::vector<WantedGradient> gradients;        // one for each leaf of a differentiated first argument
  std::shared_ptr<Machine> single, many;        // for one call, and for members of a batch; see machine()
  std::shared_ptr<const GraphCode> group_code;  // for members of a batch, where there is any
  std::vector<std::unique_ptr<Twin>> idle;      // twins that no thread has
  std::shared_ptr<const struct DeferredOperands> deferred_operands;  // see bindings/deferred_call.cpp
  std::shared_ptr<const Matrix> matrix;                              // what several results become: bindings/matrix.hpp
  size_t hits = 0, broken_guards = 0, exceptional = 0;
  std::vector<std::pair<const char*, double>> milliseconds;
  size_t runs = 0;              // of members, and of calls
  size_t tries_from = 0;        // so many runs come before it is tried again whether the program agrees
  size_t in_batches = 0;        // members that ran by nodes
  bool wants_group = false;     // code for groups has been asked for
  Ref keeps;                    // machine code that the machines run
  Shared<StateGuards> state;    // what the function read besides its arguments
  uint32_t batch_in_cache = 1;  // batch elements whose values and gradients fit in the cache
  Options options;
  Stage stage = Stage::TRACED;
  bool slow_without_code = false;
  bool comes_first = false;  // it is tried before programs of more iterations, which may stand for its calls, too
  size_t in_vain = 0;        // so often in a row has it been, and a comparison came out otherwise
  mutable std::unordered_map<size_t, Common> in_common_with;  // other programs, by their numbers
  size_t code = 0;                   // which code was traced: guards of other code are other ones
  Contest contest;                   // where there is machine code of both kinds
  Comparisons comparisons;           // with the function, in later calls
  Ties ties;                         // comparisons that machine code decides otherwise
  bool prefer_unbatched = false;     // run batch elements one by one, in machine code
  bool differentiate_first = false;  // gradients are of the first argument instead of the parameters
  bool wants_inputs = false;         // `gradients` are those of all active inputs, in order
  bool as_array = false;             // several results are one array
  bool connected = false;            // a Value is among several results
  bool kind_unknown = false;         // whether the result is a Value, a float or an int: it answers passes alone

  void want(std::vector<WantedGradient> wanted);
  // Makes the program of the graph. Throws Unsupported.
  void compile();
  // The same if there is none yet; where it is not possible, the interpreter stays.
  void compile_late();
  // Whether it is time to do so: the graph has run a few times, or somebody looked at the program.
  bool is_due() const {
    const size_t enough = graph.size() < kLarge ? kRunsOfGraph : 1;
    return may_settle() && (stage == Stage::COMPILED || runs >= enough);
  }
  bool may_settle() const { return stage != Stage::SETTLED && !options.exact && runs >= tries_from; }
  // Compiles, and puts the program into use if it gives for a call what the interpreter gives. That was compared with
  // the function itself.
  void settle(const Arguments& arguments);
  // Several results are weighted, so that each counts.
  bool agrees(const Arguments& arguments, bool* decided);
  // What the last forward pass gave, after a backward pass into the workspace.
  Results results(bool interpreted) const;
  // What the passes make of the expanded graph, in the schedule that is likely to be the fastest. Where a program is
  // not `wanted` unless it is faster than the interpreter, there may be none, and only its outline.
  Scheduled schedule(const Graph& expanded, bool wanted);
  // Makes the program again where it was not kept: listing() and to_jax() read it.
  void make_readable();

  // Where a single call left the path, if the last forward pass was the interpreter's, or the machine's.
  Divergence divergence(bool interpreted) const { return interpreted ? runner.divergence() : single->divergence(); }
  // Whether a call that left the path of `other` there may be on this one's: a function that has decided alike so far
  // makes the same comparison next.
  bool may_continue(const Specialization& other, Divergence there) const;
  Common in_common(const Specialization& other) const;

  bool has_several_results() const { return !outputs.empty(); }
  // Whether it may answer calls of a kind: passes that differentiate the first argument, or parameters, which have one
  // result; or plain calls, whose results may be any numbers and Values.
  bool is_for(bool first, bool plain_call) const {
    return differentiate_first == first && (plain_call ? !kind_unknown : !has_several_results());
  }
  // Several numbers and no Value, which are never differentiated.
  bool gives_numbers() const { return has_several_results() && !connected; }
  size_t cotangents() const { return connected ? outputs.size() : 0; }
  // The graph that programs and machine code are made of.
  Graph expanded(bool for_vectors, std::vector<Id>* renamed = nullptr) const;
  // Whether the function itself answers calls sooner, until there is machine code.
  bool awaits_code() const { return slow_without_code && !has_code(); }
  bool has_code() const { return has_graph_code() || (single && single->has_code()); }
  bool uses_interpreter() const { return options.exact || options.interpret || stage != Stage::SETTLED; }
  // Whether single calls run machine code of the whole graph.
  bool has_graph_code() const { return runner.has_code(); }
  // Whether calls run on the interpreter, or that machine code; and whether the members of batches do, one by one.
  bool runs_nodes() const { return uses_interpreter() || (has_graph_code() && !contest.favours_instructions()); }
  bool runs_nodes_in_batches() const { return uses_interpreter() || (has_graph_code() && gains_little_together()); }
  // Whether vector instructions are so many that machine code of the whole graph is faster, even where each does its
  // work for several members.
  bool gains_little_together() const;
  // How many members run side by side, where batches run nodes.
  uint32_t group_width() const { return group_code ? group_code->width : 1; }
  bool invalid() const;
  // Where backward passes of a machine leave the gradients of parameters.
  GradientDestination destination(const Machine& machine) const {
    const bool in_private = differentiate_first && machine.capacity() == 1;  // machines for several have no such pass
    return in_private ? GradientDestination::WORKSPACE : GradientDestination::BUFFERS;
  }
  // About how many tenths of a nanosecond a pass forward and back takes, so that long ones can be told from short ones.
  size_t cost() const;
  // About how many bytes it keeps, without the workspace, which it shares.
  size_t weight() const;
  // Whether `arguments`, which were read for another program, are those of a call of this one, too.
  bool reads_as(const Specialization& other) const {
    return signature == other.signature && leaves.inactive_inputs == other.leaves.inactive_inputs &&
           cotangents() == other.cotangents();
  }
  // 1 when the description fits a call, with the call's numbers in `arguments`; -1 with an exception set.
  int matches(PyObject* const* args, Py_ssize_t count, Arguments& arguments) const;
  // Whether calls with these numbers are in the program's domain: its indices select, and have passed the comparisons.
  bool accepts(const Arguments& arguments) const;

  // How many members of a batch run together at most: few enough for the cache to hold. One, where machine code does
  // so much for each of them that nothing is gained by company.
  uint32_t largest_batch() const { return prefer_unbatched && single->has_code() ? 1 : batch_in_cache; }
  // The machine for so many members (at most batch_in_cache), set to them; made when it is first wanted.
  Machine& machine(uint32_t members);
  // The same if there is one, else null.
  Machine* existing(uint32_t members) const;
  // Packs the graph, and frees the interpreter and the idle twins, which the next call that needs them makes again. Not
  // between a forward and a backward pass.
  void rest();

  void plan_batches();
  void give(Machine& machine, uint32_t member, const Arguments& arguments) const;
  // Whether the function must run as it is for these numbers: derivatives were simplified, which holds for finite ones.
  bool must_be_plain(const Arguments& arguments) const;
  // A forward pass node by node, or of code for the whole graph. Exceptional, too, where derivatives are not finite.
  Outcome run_graph(const Arguments& arguments);
  // The same node by node, whatever code there is.
  Outcome run_by_nodes(const Arguments& arguments);
  // What a pass gave, which is exceptional where derivatives were simplified and a result is not finite.
  Outcome checked(Outcome outcome) const;
};

}  // namespace retrograd::compiler
