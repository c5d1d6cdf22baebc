// The graph of a specialization. The passes and the backends read it, and so does inspection (f.program(…)). In between
// it is packed: a loop's nodes take a byte or less each.
#pragma once

#include <memory>
#include <mutex>

#include "compiler/graph/graph.hpp"

namespace retrograd::compiler {

class StoredGraph {
 public:
  explicit StoredGraph(Graph graph);

  size_t size() const { return nodes_; }
  size_t operands() const { return operands_; }
  size_t roots() const { return roots_; }
  // Of a packed graph, too.
  const std::vector<Value*>& leaves() const { return leaves_; }

  // The graph, unpacked if need be; it lives as long as a caller holds the pointer. Any thread may call this.
  std::shared_ptr<const Graph> get() const;
  // Packs the graph. Callers of get() that still hold it are not affected. The GIL is not needed.
  void pack();
  size_t bytes() const;

 private:
  bool is_packed() const;

  size_t nodes_, operands_, roots_;
  std::vector<Value*> leaves_;
  std::vector<const Value*> values_;  // of an inspected graph
  mutable std::mutex mutex_;
  std::shared_ptr<const Graph> graph_;           // null if it is packed
  std::vector<uint8_t> packed_;                  // its nodes, literals and roots
  mutable std::weak_ptr<const Graph> unpacked_;  // the last one that get() gave, if a caller still holds it
};

}  // namespace retrograd::compiler
