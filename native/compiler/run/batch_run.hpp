// Members of a batch on several threads, without the GIL.
//
// The members are divided into chunks, in the same way for any number of threads. A thread sums up the gradients of a
// chunk. Sums are added to each other in the order of the chunks, those that are there too early are kept. So each
// result has the same bits on any number of threads.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "compiler/run/twin.hpp"

namespace retrograd::compiler {

class BatchRun {
 public:
  // With the GIL. Without threads all members are one chunk, which the calling thread runs. Members without a seed run
  // forward only. The arguments must outlive this.
  BatchRun(std::shared_ptr<Specialization> entry, std::vector<const Arguments*> members, std::optional<double> seed,
           size_t threads);

  // Whether so many members are enough for it: beginning threads takes about as long as a short chunk.
  static bool pays(const Specialization& entry, size_t members, size_t threads) {
    return is_long(entry, threads ? members / 8 : members) || (entry.group_code && members > 1);
  }

  // Without the GIL.
  void run();

  Specialization& entry() const { return *entry_; }
  Outcome outcome(size_t member) const { return outcomes_[member]; }
  double value(size_t member) const { return values_[member * width_]; }
  // All results of a program with several.
  std::span<const double> values(size_t member) const { return std::span(values_).subspan(member * width_, width_); }
  // Of active arguments; empty without a seed.
  std::span<const double> input_gradients(size_t member) const {
    if (!seed_) return {};
    return std::span(input_gradients_).subspan(member * inputs_, inputs_);
  }
  // How many members each run of a machine had.
  const std::vector<uint32_t>& runs() const { return runs_; }
  // Adds the members' gradients to the parameters' buffers; with the GIL.
  void add_gradients_out();

 private:
  // A thread's twin, and what it has of its chunk.
  struct Worker {
    LeasedTwin twin;
    ParameterGradients sums;  // where passes of the twin do not add up by themselves
    bool first = true;        // no backward pass of this chunk has been run
    std::vector<uint32_t> together, broken, runs;
  };
  // What a chunk gave whose turn has not come.
  struct Sum {
    ParameterGradients sums;
    std::vector<uint32_t> runs;
  };

  void make_worker();
  void work(Worker& worker);
  void run_chunk(Worker& worker, size_t begin, size_t end);
  void run_together(Worker& worker);
  void run_group(Worker& worker, size_t begin, size_t end);
  void interpret(Worker& worker, uint32_t member);
  template <class Root>
  void take_values(uint32_t member, Root&& root);
  static void add_gradients_of(const Worker& worker, ParameterGradients& sums);
  Sum kept(const Worker& worker) const;
  void merge(Worker& worker, size_t chunk);

  std::shared_ptr<Specialization> entry_;
  std::vector<const Arguments*> members_;
  std::optional<double> seed_;
  size_t together_ = 1, chunk_ = 1, chunks_ = 1;  // members that run together, members of a chunk
  size_t inputs_, width_;                         // active inputs and results of a member
  bool sums_up_;                                  // gradients of parameters are wanted
  std::vector<Worker> workers_;
  std::vector<Outcome> outcomes_;
  std::vector<double> values_, input_gradients_;
  ParameterGradients sums_;
  std::vector<uint32_t> runs_;

  std::atomic<size_t> next_ = 0;  // chunk to be begun
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;              // of what follows, of sums_ and runs_
  std::atomic<size_t> turn_ = 0;  // chunk to be merged
  std::map<size_t, Sum> early_;   // later ones that are there
};

}  // namespace retrograd::compiler
