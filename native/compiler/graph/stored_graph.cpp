#include "compiler/graph/stored_graph.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "compiler/graph/compression.hpp"

namespace retrograd::compiler {
namespace {

// What nodes have in common that are computed alike: those of one line in a loop, as a rule.
struct Kind {
  uint16_t row;
  uint32_t count, extra, source;
  uint32_t operands;  // what kinds of Ids the first of them are, two bits of each
  auto key() const { return std::tie(row, count, extra, source, operands); }
  bool operator<(const Kind& other) const { return key() < other.key(); }
  bool operator==(const Kind& other) const { return key() == other.key(); }
};

Kind kind_of(const Graph& graph, size_t node) {
  const auto operands = graph.operands_of(node);
  uint32_t kinds = 0;
  for (size_t i = 0; i < std::min<size_t>(operands.size(), 16); ++i) kinds |= operands[i].kind() << 2 * i;
  return {graph.rows[node], static_cast<uint32_t>(operands.size()), graph.extra[node], graph.source[node], kinds};
}

// The operands of a node as numbers, most of which are the same for, or grow by the same from, one node of a kind to
// the next: how far back the operand is, or which leaf or literal.
int64_t code_of(Id operand, size_t node) {
  const int64_t index = operand.is_node() ? static_cast<int64_t>(node) - operand.index() : operand.index();
  return index * 4 + operand.kind();
}

Id operand_of(int64_t code, size_t node) {
  const auto kind = static_cast<Id::Kind>(code & 3);
  const int64_t index = code >> 2;
  return {kind, kind == Id::NODE ? node - static_cast<size_t>(index) : static_cast<size_t>(index)};
}

// Small numbers of either sign as small numbers.
uint64_t folded(int64_t number) { return static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63); }
int64_t unfolded(uint64_t number) { return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1); }

// What the operands of the next node are expected to be: those of the last one of its kind that followed one of the
// same kind.
class Expected {
 public:
  size_t kinds() const { return kinds_.size(); }
  const Kind& kind(size_t number) const { return kinds_[number]; }

  // The number of a kind; kinds() before the call if it is new.
  size_t number_of(const Kind& kind) {
    const size_t likely = places_[places_[last_].next].kind;
    if (likely < kinds_.size() && kinds_[likely] == kind) return likely;
    const auto [found, is_new] = numbers_.try_emplace(kind, kinds_.size());
    if (is_new) add(kind);
    return found->second;
  }
  void add(const Kind& kind) { kinds_.push_back(kind); }

  // The codes of the operands of that node, none if there was none; a node of this kind comes now.
  std::vector<int64_t>& codes(size_t number) {
    size_t& next = places_[last_].next;
    if (places_[next].kind != number) {
      const auto [found, is_new] = by_kinds_.try_emplace({places_[last_].kind, number}, places_.size());
      next = found->second;
      if (is_new) places_.push_back({number, 0, {}});
      last_ = found->second;
    } else {
      last_ = next;
    }
    return places_[last_].codes;
  }

 private:
  struct Place {
    size_t kind;
    size_t next;  // the place of the node that followed
    std::vector<int64_t> codes;
  };
  std::vector<Kind> kinds_;
  std::map<Kind, size_t> numbers_;
  std::vector<Place> places_{{SIZE_MAX, 0, {}}};  // the first one stands for no node
  std::map<std::pair<size_t, size_t>, size_t> by_kinds_;
  size_t last_ = 0;
};

void put_doubles(std::vector<uint8_t>& bytes, const std::vector<double>& numbers) {
  put_number(bytes, numbers.size());
  const auto* begin = reinterpret_cast<const uint8_t*>(numbers.data());
  bytes.insert(bytes.end(), begin, begin + numbers.size() * sizeof(double));
}

void put_nodes(std::vector<uint8_t>& bytes, const Graph& graph) {
  Expected expected;
  for (size_t node = 0; node < graph.size(); ++node) {
    const Kind kind = kind_of(graph, node);
    const size_t known = expected.kinds(), number = expected.number_of(kind);
    put_number(bytes, number);
    if (number == known) {
      for (const uint32_t part : {uint32_t{kind.row}, kind.count, kind.extra, kind.source, kind.operands}) {
        put_number(bytes, part);
      }
    }
    std::vector<int64_t>& last = expected.codes(number);
    const bool first = last.empty();
    last.resize(kind.count);
    int64_t before = 0;
    for (size_t i = 0; i < kind.count; ++i) {
      const int64_t code = code_of(graph.operands[graph.first[node] + i], node);
      put_number(bytes, folded(code - (first ? before : last[i])));
      before = last[i] = code;
    }
  }
}

Kind take_kind(const uint8_t*& at) {
  uint32_t parts[5];
  for (uint32_t& part : parts) part = static_cast<uint32_t>(take_number(at));
  return {static_cast<uint16_t>(parts[0]), parts[1], parts[2], parts[3], parts[4]};
}

void take_nodes(const uint8_t*& at, size_t count, Graph& graph) {
  Expected expected;
  for (size_t node = 0; node < count; ++node) {
    const size_t number = take_number(at);
    if (number == expected.kinds()) expected.add(take_kind(at));
    const Kind& kind = expected.kind(number);
    std::vector<int64_t>& last = expected.codes(number);
    const bool first = last.empty();
    last.resize(kind.count);
    int64_t before = 0;
    for (size_t i = 0; i < kind.count; ++i) {
      before = last[i] = unfolded(take_number(at)) + (first ? before : last[i]);
      graph.operands.push_back(operand_of(before, node));
    }
    graph.rows.push_back(kind.row);
    graph.extra.push_back(kind.extra);
    graph.source.push_back(kind.source);
    graph.first.push_back(static_cast<uint32_t>(graph.operands.size()));
  }
}

// The nodes, literals and roots of a graph as bytes.
std::vector<uint8_t> packed(const Graph& graph) {
  std::vector<uint8_t> bytes;
  put_number(bytes, graph.size());
  put_number(bytes, graph.operands.size());
  put_nodes(bytes, graph);
  put_number(bytes, graph.roots.size());
  for (const Id root : graph.roots) put_number(bytes, root.bits());
  put_doubles(bytes, graph.literals);
  return compressed(bytes);
}

// The graph of which they are, without its leaves.
Graph unpacked(const std::vector<uint8_t>& packed) {
  const std::vector<uint8_t> bytes = decompressed(packed);
  const uint8_t* at = bytes.data();
  Graph graph;
  const size_t nodes = take_number(at), operands = take_number(at);
  graph.operands.reserve(operands);
  graph.rows.reserve(nodes);
  for (auto* column : {&graph.extra, &graph.source, &graph.first}) column->reserve(nodes + 1);
  graph.first.push_back(0);
  take_nodes(at, nodes, graph);
  graph.roots.resize(take_number(at));
  for (Id& root : graph.roots) root = Id::from_bits(static_cast<uint32_t>(take_number(at)));
  graph.literals.resize(take_number(at));
  if (!graph.literals.empty()) std::memcpy(graph.literals.data(), at, graph.literals.size() * sizeof(double));
  return graph;
}

}  // namespace

StoredGraph::StoredGraph(Graph graph)
    : nodes_(graph.size()),
      operands_(graph.operands.size()),
      roots_(graph.roots.size()),
      leaves_(graph.leaves),
      values_(graph.values),
      graph_(std::make_shared<const Graph>(std::move(graph))) {}

std::shared_ptr<const Graph> StoredGraph::get() const {
  const std::lock_guard lock(mutex_);
  if (graph_) return graph_;
  std::shared_ptr<const Graph> graph = unpacked_.lock();
  if (!graph) {
    Graph made = unpacked(packed_);
    made.leaves = leaves_;
    made.values = values_;
    unpacked_ = graph = std::make_shared<const Graph>(std::move(made));
  }
  return graph;
}

void StoredGraph::pack() {
  if (is_packed()) return;
  const std::shared_ptr<const Graph> graph = get();
  std::vector<uint8_t> bytes = packed(*graph);
  const std::lock_guard lock(mutex_);
  packed_ = std::move(bytes);
  unpacked_ = graph;
  graph_.reset();
}

bool StoredGraph::is_packed() const {
  const std::lock_guard lock(mutex_);
  return !graph_;
}

size_t StoredGraph::bytes() const {
  const auto of = [](const auto& vector) { return vector.capacity() * sizeof(*vector.data()); };
  const std::lock_guard lock(mutex_);
  const size_t own = of(leaves_) + of(values_) + of(packed_);
  if (!graph_) return own;
  const Graph& graph = *graph_;
  return own + of(graph.leaves) + of(graph.literals) + of(graph.rows) + of(graph.first) + of(graph.operands) +
         of(graph.extra) + of(graph.source) + of(graph.roots) + of(graph.values);
}

}  // namespace retrograd::compiler
