// A block: nodes that join inside an interval of the trade-off, with the arcs among them. See parametric_cut.hpp.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
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
  void rescale(double cost_factor, double slope_factor);
  void remember_start();
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

// A sum that keeps what each addition rounds off (Neumaier), found without a branch (Knuth).
class Sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    const double added = next - sum_;
    lost_ += (sum_ - (next - added)) + (x - added);
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

// Before any flow: counts costs and slopes in other units.
inline void Block::rescale(double cost_factor, double slope_factor) {
  for (double& r : room) r *= cost_factor;
  for (Holding& h : held) h.base *= cost_factor;
  for (double& m : slope) m *= slope_factor;
}

// Makes a block without flow careful.
inline void Block::remember_start() {
  capacity = room;
  for (const Holding& h : held) {
    first_base.push_back(h.base);
    scale.push_back(std::abs(h.base));
  }
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

}  // namespace labelcut
