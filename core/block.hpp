// A block: nodes that join inside an interval of the trade-off, with the arcs among them. See parametric_cut.hpp.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "parametric_cut.hpp"

namespace labelcut {

using Index = std::uint32_t;  // a node of a block
using Label = std::int32_t;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kEnough = 1e300;  // beyond it products overflow, and no cost can matter

// Where an arc leads, and whether it and the opposite arc have room: searches read nothing else of an arc. Hence
// blocks have at most 2^30 nodes.
namespace head {
constexpr Index kMateHasRoom = Index{1} << 31;
constexpr Index kHasRoom = Index{1} << 30;
constexpr Index kTo = kHasRoom - 1;
}  // namespace head

// What a node holds. `base` is -cost plus what flowed in minus what flowed out: it does not depend on t, so a large
// t leaves no rounding in it. `excess` is t * slope + base, kept along with it during a flow; negative: a deficit.
struct Holding {
  double excess;
  double base;
};

// Nodes that join inside (low, high), with the arcs among them. They take the places position .. position + size in
// the order of joining.
struct Block {
  std::vector<std::uint64_t> first;  // arcs of node i: first[i] .. first[i + 1], by where they lead
  std::vector<Index> head;
  std::vector<Index> mate;   // the opposite arc's place among the arcs of the node it starts from
  std::vector<double> room;  // how much more may flow
  std::vector<Holding> held;
  std::vector<double> slope;
  std::vector<std::int32_t> id;  // in the given graph
  // Careful blocks only, where numbers lie far apart: what arcs and nodes had before any flow.
  std::vector<double> capacity;
  std::vector<double> first_base;
  std::vector<double> scale;  // the sizes of the terms that were added up in first_base
  bool is_balanced = false;   // see balance.hpp
  double nudge = 0.0;         // how far t was moved, because rounding had put all nodes on one side of it
  double t = 0.0;
  double low = -kInfinity;
  double high = kInfinity;
  std::int64_t position = 0;
  Index heaviest = 0;  // the node with the largest terms at t

  Index size() const { return static_cast<Index>(id.size()); }
  std::uint64_t mate_of(std::uint64_t arc) const { return first[head[arc] & head::kTo] + mate[arc]; }
  double terms(Index i) const { return std::abs(t * slope[i]) + std::abs(held[i].base); }
  bool is_careful() const { return !first_base.empty(); }
  void move_to(double new_t, bool is_mean);
  void undo_flow();
  void resize_arcs(std::size_t n_arcs) {
    head.resize(n_arcs);
    mate.resize(n_arcs);
    room.resize(n_arcs);
  }
  void reserve(std::size_t n_nodes, std::size_t n_arcs) {
    first.reserve(n_nodes + 1);
    for (auto* by_arc : {&head, &mate}) by_arc->reserve(n_arcs);
    room.reserve(n_arcs);
    held.reserve(n_nodes);
    slope.reserve(n_nodes);
    id.reserve(n_nodes);
  }
};

// Neumaier's compensated sum.
class Sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  void add(const Sum& other) {
    add(other.sum_);
    lost_ += other.lost_;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

// At its mean a block's excesses add up to nothing. Rounding at the heaviest node may be larger than all the others
// hold, so it gets what the others leave.
inline void Block::move_to(double new_t, bool is_mean) {
  t = new_t;
  for (Index i = 0; i < size(); ++i) {
    held[i].excess = std::min(std::max(t * slope[i] + held[i].base, -kEnough), kEnough);
    if (terms(i) > terms(heaviest)) heaviest = i;
  }
  if (!is_mean || is_careful()) return;
  Sum others;
  for (Index i = 0; i < size(); ++i) others.add(i == heaviest ? 0.0 : held[i].excess);
  held[heaviest].excess = -others.value();
}

// Gives a careful block its first numbers back.
inline void Block::undo_flow() {
  room = capacity;
  for (Index i = 0; i < size(); ++i) {
    held[i].base = first_base[i];
    for (std::uint64_t a = first[i]; a < first[i + 1]; ++a) {
      const Index j = head[a] & head::kTo;
      const bool mate_has_room = capacity[mate_of(a)] > 0;
      head[a] = j | (capacity[a] > 0 ? head::kHasRoom : 0) | (mate_has_room ? head::kMateHasRoom : 0);
    }
  }
}

// Nodes by group, in ascending order within each.
struct Grouping {
  template <typename Group>
  Grouping(const std::vector<Group>& group_of, std::size_t n_groups)
      : place(group_of.size()), node_at(group_of.size()), start(n_groups + 1, 0) {
    for (const Group group : group_of) ++start[group + 1];
    for (std::size_t k = 0; k < n_groups; ++k) start[k + 1] += start[k];
    std::vector<Index> next = start;
    for (Index i = 0; i < group_of.size(); ++i) {
      place[i] = next[group_of[i]]++;
      node_at[place[i]] = i;
    }
  }
  std::size_t n_groups() const { return start.size() - 1; }
  Index size(std::size_t group) const { return start[group + 1] - start[group]; }
  bool has(std::size_t group, Index node) const { return place[node] - start[group] < size(group); }

  std::vector<Index> place;    // by node
  std::vector<Index> node_at;  // by place
  std::vector<Index> start;    // places of group k: start[k] .. start[k + 1]
};

// The nodes of one group with the arcs among them; where they lie in the order of joining is left to the caller.
inline std::unique_ptr<Block> copy_group(const Block& block, const Grouping& grouping, std::size_t group) {
  const Index start = grouping.start[group], n = grouping.size(group);
  std::uint64_t n_arcs_at_most = 0;
  for (Index k = start; k < start + n; ++k) {
    const Index i = grouping.node_at[k];
    n_arcs_at_most += block.first[i + 1] - block.first[i];
  }
  auto child = std::make_unique<Block>();
  child->reserve(n, n_arcs_at_most);
  child->resize_arcs(n_arcs_at_most);
  std::uint64_t n_arcs = 0;
  // Lists are sorted and nodes come in order, so each node's arcs are met from the other side in their own order.
  std::vector<Index> n_met(n, 0);
  for (Index k = start; k < start + n; ++k) {
    const Index i = grouping.node_at[k];
    child->first.push_back(n_arcs);
    child->held.push_back(block.held[i]);
    child->slope.push_back(block.slope[i]);
    child->id.push_back(block.id[i]);
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Index j = grouping.place[block.head[a] & head::kTo] - start;
      if (j >= n) continue;
      child->head[n_arcs] = j | (block.head[a] & ~head::kTo);
      child->mate[n_arcs] = n_met[j]++;
      child->room[n_arcs++] = block.room[a];
    }
  }
  child->first.push_back(n_arcs);
  child->resize_arcs(n_arcs);
  return child;
}

// The given graph with every arc's opposite present (capacity 0 if need be) and no arcs from a node to itself.
struct PairedArcs {
  std::vector<std::int64_t> row_start;
  std::vector<std::int32_t> column;
  std::vector<double> capacity;
};

// The mate of every arc; nothing if one is missing, or if a node has an arc to itself. Rows are visited in order and lists
// are sorted, so each node's arcs to lower nodes are met from the other side in their own order.
inline std::vector<Index> find_mates(const Graph& graph) {
  std::vector<Index> mate(static_cast<std::size_t>(graph.row_start[graph.n_nodes]));
  std::vector<std::int64_t> next(graph.row_start, graph.row_start + graph.n_nodes);
  for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
    for (std::int64_t a = next[i]; a < graph.row_start[i + 1]; ++a) {
      const std::int32_t j = graph.column[a];
      if (j <= i || next[j] == graph.row_start[j + 1] || graph.column[next[j]] != i) return {};
      mate[a] = static_cast<Index>(next[j] - graph.row_start[j]);
      mate[next[j]++] = static_cast<Index>(a - graph.row_start[i]);
    }
  }
  return mate;
}

inline PairedArcs pair_arcs(const Graph& graph) {
  const std::int64_t n = graph.n_nodes;
  // Columns of each node's incoming arcs, ascending because rows are visited in order.
  std::vector<std::int64_t> in_start(n + 1, 0);
  for (std::int64_t a = 0; a < graph.row_start[n]; ++a) ++in_start[graph.column[a] + 1];
  for (std::int64_t i = 0; i < n; ++i) in_start[i + 1] += in_start[i];
  std::vector<std::int32_t> from(graph.row_start[n]);
  std::vector<std::int64_t> next(in_start.begin(), in_start.end() - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
      from[next[graph.column[a]]++] = static_cast<std::int32_t>(i);
    }
  }
  PairedArcs paired;
  paired.row_start.reserve(n + 1);
  paired.row_start.push_back(0);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t out = graph.row_start[i], in = in_start[i];
    while (out < graph.row_start[i + 1] || in < in_start[i + 1]) {
      const bool take_out = out < graph.row_start[i + 1] && (in == in_start[i + 1] || graph.column[out] <= from[in]);
      const bool take_in = in < in_start[i + 1] && (!take_out || from[in] == graph.column[out]);
      const std::int32_t j = take_out ? graph.column[out] : from[in];
      if (j != i) {
        paired.column.push_back(j);
        paired.capacity.push_back(take_out ? graph.capacity[out] : 0.0);
      }
      out += take_out;
      in += take_in;
    }
    paired.row_start.push_back(static_cast<std::int64_t>(paired.column.size()));
  }
  return paired;
}

// All nodes as one block before any flow; what they hold is left to the caller.
inline std::unique_ptr<Block> whole_graph(const Graph& graph) {
  PairedArcs paired;
  Graph arcs = graph;
  std::vector<Index> mate = find_mates(graph);
  if (mate.empty()) {
    paired = pair_arcs(graph);
    arcs = {graph.n_nodes, paired.row_start.data(), paired.column.data(), paired.capacity.data()};
    mate = find_mates(arcs);
  }
  auto block = std::make_unique<Block>();
  block->first.assign(arcs.row_start, arcs.row_start + arcs.n_nodes + 1);
  block->mate = std::move(mate);
  block->room.assign(arcs.capacity, arcs.capacity + arcs.row_start[arcs.n_nodes]);
  block->head.reserve(block->room.size());
  for (std::size_t a = 0; a < block->room.size(); ++a) {
    const auto to = static_cast<Index>(arcs.column[a]);
    block->head.push_back(to | head::kMateHasRoom | (arcs.capacity[a] > 0 ? head::kHasRoom : 0));
  }
  for (std::size_t a = 0; a < block->room.size(); ++a) {
    if (block->room[a] == 0) block->head[block->mate_of(a)] &= ~head::kMateHasRoom;
  }
  block->id.resize(static_cast<std::size_t>(arcs.n_nodes));
  std::iota(block->id.begin(), block->id.end(), 0);
  return block;
}

}  // namespace labelcut
