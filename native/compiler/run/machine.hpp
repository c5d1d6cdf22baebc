// The virtual machine: a program bound to memory, and one run of it, forward and then backward.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "compiler/lower/lower.hpp"
#include "compiler/run/workspace.hpp"
#include "parameters/parameter_buffer.hpp"

namespace retrograd::compiler {

// What a comparison decided when the function was traced, between two of the program's roots.
struct Guard {
  enum Test : uint8_t { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL };
  Test test;
  uint32_t left, right;  // numbers of roots; right is 0 when it is a plain number
  double number;
  bool outcome;

  bool decides(double a, double b) const;
  // `root(i)` is the number of the i-th root.
  template <class Root>
  bool holds(Root&& root) const {
    return decides(root(left), right ? root(right) : number);
  }
};

enum class Outcome : uint8_t {
  DONE,
  GUARD,       // a comparison came out otherwise: the trace is another one
  EXCEPTIONAL  // an operation left its domain, or a number is not finite: the tape must decide what that means
};

// What a forward pass is for.
enum class Wanted : uint8_t {
  VALUE,
  GRADIENTS,  // a backward pass comes after it, and may be made with it
};

enum class GradientDestination : uint8_t {
  BUFFERS,    // gradients of parameters are added to the buffers'
  WORKSPACE,  // they are left in the machine's own memory
};

// A program lowered for at most so many members of a batch. Its workspace is its own from the beginning of a forward
// pass to the end of the backward pass, if no other machine runs in between.
class Machine {
 public:
  Machine(const Program& program, const std::vector<double>& literals,
          std::vector<std::shared_ptr<ParameterBuffer>> buffers, uint32_t capacity, bool float32,
          Workspaces& workspaces);

  uint32_t capacity() const { return lowered_.capacity; }
  // How many members the next run has: all of them at first.
  void set_batch_size(uint32_t members);
  uint32_t batch_size() const { return batch_size_; }

  // Makes the workspace its own; before inputs are set.
  void enter();
  // Where a member's inputs go, and where the results come from. Values are given and taken as doubles.
  void set_inputs(uint32_t member, bool active, const double* numbers);
  int32_t* indices(uint32_t member) { return indices_.data() + size_t{member} * index_count_; }
  double root(uint32_t member, size_t which) const;
  void input_gradients(uint32_t member, double* gradients) const;
  double parameter_gradient(uint32_t buffer, uint32_t index) const;  // after GradientDestination::WORKSPACE

  // The outcome of the whole batch. Members of which a guard did not hold are listed in `broken`, if it is given.
  Outcome forward(std::span<const Guard> guards, Wanted wanted, std::vector<uint32_t>* broken = nullptr);
  void backward(double seed, GradientDestination target);

  // The passes that runs of a mode are made of.
  std::vector<int> passes(GradientDestination target) const;
  // The calls as they are bound, for the tier that makes machine code of them, and that code, which is for so many
  // members as there are now.
  const std::vector<KernelCall>& calls(int pass) const { return calls_[pass]; }
  using MachineCode = int32_t (*)();
  void install(int pass, MachineCode code) { use_[batch_size_].code[pass] = code; }
  bool has_code() const { return use_[batch_size_].code[FORWARD] != nullptr; }
  uint32_t runs() const { return use_[batch_size_].runs; }
  // For how many members it has run, in order.
  std::vector<uint32_t> batch_sizes() const;
  // Where its numbers and its gradients are.
  uintptr_t numbers() { return reinterpret_cast<uintptr_t>(workspace_->values.at()); }
  uintptr_t gradients() { return reinterpret_cast<uintptr_t>(workspace_->gradients.at()); }

  const Lowered& lowered() const { return lowered_; }
  // The literals: where each is, and its number.
  std::span<const std::pair<Address, double>> literals() const { return std::span(fixed_).first(literals_); }
  size_t bytes() const { return bytes_; }

 private:
  size_t width() const { return float32_ ? sizeof(float) : sizeof(double); }
  char* value_at(Address address) const { return workspace_->values.at() + static_cast<size_t>(address) * width(); }
  char* gradient_at(Address address) const {
    return workspace_->gradients.at() + static_cast<size_t>(address) * width();
  }
  double read(const char* p) const;
  void write(char* p, double number) const;
  std::vector<KernelCall> bind(int pass);
  void choose_kernel(KernelCall& call);
  char* locate(Address address, bool gradient, GradientDestination target) const;
  void copy_parameters_in();
  void add_gradients_out();
  template <class T>
  void fix();
  void find_fixed(const std::vector<double>& literals);
  void find_checked_ranges();
  bool finite(Range range) const;
  bool finite() const;
  void zero(int pass);
  void seed(double number, GradientDestination target);
  void scale_gradients(double factor);
  bool run(int pass);
  bool run_fused();
  int prepare_buffers();
  void move(std::vector<KernelCall>& list, int pass, const Repeat& repeat, int64_t strips);

  // What has happened with a number of members.
  struct Use {
    uint32_t runs = 0;
    MachineCode code[kPasses] = {};
  };

  const Program& program_;
  std::vector<std::shared_ptr<ParameterBuffer>> buffers_;
  Lowered lowered_;
  bool float32_;
  bool direct_;  // the buffers' arrays are the program's parameter memory
  uint32_t index_count_;
  uint32_t batch_size_;
  size_t bytes_;
  std::shared_ptr<Workspace> workspace_;
  std::vector<int32_t> indices_;
  std::vector<std::pair<Address, double>> fixed_;  // the literals first
  size_t literals_ = 0;
  std::vector<Range> checked_;  // results which, were they not finite, the result of the program need not show
  std::vector<ParameterBuffer*> checked_buffers_;  // the same of parameters
  std::vector<KernelCall> calls_[kPasses];
  std::deque<std::vector<int32_t>> ragged_rows_;  // of calls on ragged rows
  bool swept_ = false;  // the workspace has the gradients of the last forward pass, times `scale_`
  double scale_ = 1.0;
  std::vector<Use> use_;  // by the number of members
};

}  // namespace retrograd::compiler
