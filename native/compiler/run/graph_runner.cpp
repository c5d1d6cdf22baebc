#include "compiler/run/graph_runner.hpp"

#include <algorithm>

namespace retrograd::compiler {

Interpreter& GraphRunner::interpreter() {
  if (!interpreter_) interpreter_ = std::make_unique<Interpreter>(graph_.get(), leaves_, outputs_);
  return *interpreter_;
}

void GraphRunner::prepare(const GraphRunner& original) {
  install(original.code_);
  read_parameters();
}

void GraphRunner::install(std::shared_ptr<const GraphCode> code) {
  if (code == code_) return;
  code_ = std::move(code);
  run_.reset();
  checks_.reset();
  rest();
}

// With the GIL.
void GraphRunner::read_parameters() {
  if (const Tape* tape = this_tape()) std::copy_n(tape->raise, std::size(tape->raise), raises_);
  if (!code_) return interpreter().read_parameters(buffers_);
  if (!run_) run_ = std::make_unique<CodeRun>(code_, leaves_, outputs_);
  run_->read_parameters(buffers_);
}

Outcome GraphRunner::forward(const Arguments& arguments, std::span<const Guard> guards, bool strict) {
  if (!twin_) read_parameters();
  by_code_ = code_ && run_code(arguments);
  return by_code_ ? check(guards) : run_nodes(arguments, guards, strict);
}

Outcome GraphRunner::forward_by_nodes(const Arguments& arguments, std::span<const Guard> guards, bool strict) {
  if (!twin_) read_parameters();
  by_code_ = false;
  return run_nodes(arguments, guards, strict);
}

Outcome GraphRunner::run_nodes(const Arguments& arguments, std::span<const Guard> guards, bool strict) {
  Interpreter& nodes = interpreter();
  if (code_) nodes.set_leaves(run_->leaf_values());
  nodes.set_inputs(arguments);
  return nodes.forward(guards, strict, raises_);
}

bool GraphRunner::run_code(const Arguments& arguments) {
  run_->set_inputs(0, arguments);
  // What the code multiplies by zero it leaves out: an infinity that a result shows may be a NaN of the engine's.
  return run_->forward() && run_->finite_results(0);
}

Outcome GraphRunner::check(std::span<const Guard> guards) {
  if (guards.empty()) return Outcome::DONE;
  if (!checks_) {
    checks_ = std::make_unique<GuardChecks>(guards, [&](size_t which) { return run_->root_place(which); });
  }
  if (checks_->all_hold()) return Outcome::DONE;
  const auto broken = first_broken(guards, [&](size_t which) { return run_->root(0, which); });
  if (!broken) return Outcome::DONE;
  divergence_ = {*broken, *broken};
  return Outcome::GUARD;
}

void GraphRunner::backward(double seed, GradientDestination target) {
  if (twin_) target = GradientDestination::WORKSPACE;  // add_gradients_out() follows
  if (by_code_) {
    if (run_->backward(seed) && run_->finite(0)) {
      if (target == GradientDestination::BUFFERS) run_->add_gradients_to(buffers_);
      return;
    }
    // The engine's rule counts, that a gradient of zero adds nothing, which the code does not follow.
    by_code_ = false;
    interpreter().set_leaves(run_->leaf_values());
    interpreter_->forward({}, false, raises_);
  }
  interpreter_->backward(seed, target == GradientDestination::BUFFERS ? &buffers_ : nullptr);
}

void GraphRunner::input_gradients(double* gradients) const {
  if (by_code_) return run_->input_gradients(0, gradients);
  interpreter_->input_gradients(gradients);
}

double GraphRunner::leaf_gradient(size_t leaf) const {
  return by_code_ ? run_->leaf_gradient(0, leaf) : interpreter_->leaf_gradient(leaf);
}

void GraphRunner::add_gradients_out() {
  if (by_code_) return run_->add_gradients_to(buffers_);
  interpreter_->add_gradients_to(buffers_);
}

void GraphRunner::add_gradients_to(ParameterGradients& sums) const {
  if (by_code_) return run_->add_gradients_to(sums);
  interpreter_->add_gradients_to(sums);
}

}  // namespace retrograd::compiler
