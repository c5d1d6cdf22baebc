// The graph of a specialization. It is looked at when the function is traced, when a program or machine code is made of
// it, and by who inspects it: between these, it is packed, into a byte or two for each node of a program with loops.
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
  size_t literals() const { return literals_; }
  size_t roots() const { return roots_; }
  // Of a packed graph, too.
  const std::vector<Value*>& leaves() const { return leaves_; }

  // The graph, for as long as somebody has it. Threads may call this.
  std::shared_ptr<const Graph> get() const;
  // Keeps it packed from now on, once nobody has it. The GIL is not needed.
  void pack();
  bool is_packed() const;
  size_t bytes() const;

 private:
  std::shared_ptr<const Graph> whole() const;

  size_t nodes_, operands_, literals_, roots_;
  std::vector<Value*> leaves_;
  std::vector<const Value*> values_;  // of an inspected graph
  mutable std::mutex mutex_;
  std::shared_ptr<const Graph> graph_;           // null if it is packed
  std::vector<uint8_t> packed_;                  // its nodes, literals and roots
  mutable std::weak_ptr<const Graph> unpacked_;  // what somebody has
};

// The nodes, literals and roots of a graph as bytes; and the graph that they were of, without its leaves.
std::vector<uint8_t> packed(const Graph& graph);
Graph unpacked(const std::vector<uint8_t>& bytes);

}  // namespace retrograd::compiler
