// A block: nodes that join inside an interval of the trade-off, given that everything earlier is in S and everything later
// is not, with the arcs among them.
//
// Its state is the residual arcs and one signed excess per node: no source, no sink, no costs. For any flow,
//
//     cost(S) = (room on arcs leaving S) - (excess in S) + constant,
//
// so a child may go on from its parent's flow, and excess never has to be carried back. Arcs from an earlier to a later part
// of a split are full, and one back is never paid, since the earlier part has joined: arcs between parts are dropped.
//
// Its threshold is the t at which taking all of it costs nothing, which is where its excesses add up to zero.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "numbers.hpp"
#include "sum.hpp"

namespace labelcut {

// Where an arc leads, and whether it and the opposite arc have room: searches read nothing else of an arc. Hence
// blocks have at most 2^30 nodes.
namespace head {
constexpr Index kMateHasRoom = Index{1} << 31;
constexpr Index kHasRoom = Index{1} << 30;
constexpr Index kTo = kHasRoom - 1;
}  // namespace head

// Numbers that are not written when room is made for them: the first block makes room for arcs that it may not have, and memory
// that nobody has written to is none.
template <typename Number>
struct Unwritten : std::allocator<Number> {
  template <typename Other>
  struct rebind {
    using other = Unwritten<Other>;
  };
  template <typename Other>
  void construct(Other* place) noexcept {
    ::new (static_cast<void*>(place)) Other;
  }
  template <typename Other, typename... Given>
  void construct(Other* place, Given&&... given) {
    ::new (static_cast<void*>(place)) Other(std::forward<Given>(given)...);
  }
};
template <typename Number>
using ByArc = std::vector<Number, Unwritten<Number>>;

// What a node holds. `base` is -cost plus what flowed in minus what flowed out: it does not depend on t, so a large
// t leaves no rounding in it. `excess` is t * slope + base, kept along with it during a flow; negative: a deficit.
struct Holding {
  double excess;
  double base;
};

// Nodes that join inside (low, high), with the arcs among them. They take the places position .. position + size in
// the order of joining.
struct Block {
  // By arc. Every arc has its mate, the opposite one, and room[arc] + room[mate] never changes but by rounding. The flags in
  // head say what room says: kHasRoom of an arc and kMateHasRoom of its mate are set exactly if room[arc] > 0.
  std::vector<std::uint64_t> first;  // arcs of node i: first[i] .. first[i + 1], by where they lead
  ByArc<Index> head;
  ByArc<Index> mate;   // the opposite arc's place among the arcs of the node it starts from
  ByArc<double> room;  // how much more may flow

  // By node.
  std::vector<Holding> held;
  std::vector<double> slope;
  std::vector<std::int32_t> id;  // in the given graph, ascending

  // Careful blocks only: what arcs and nodes had before any flow. Where numbers lie more than 1e25 apart (outliers under a
  // Gaussian kernel do), a small node that a large flow has crossed would have lost its own. So every child starts without
  // flow from these (start_anew), an excess within the rounding of all that has passed its node is none (Flow::is_real), and
  // a block that lies entirely on one side of its rounded threshold is tried again a few roundings further on (nudge). About
  // half as fast.
  ByArc<double> capacity;
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
  void resize_nodes(std::size_t n_nodes) {
    first.resize(n_nodes + 1);
    held.resize(n_nodes);
    slope.resize(n_nodes);
    id.resize(n_nodes);
  }
  void resize_arcs(std::size_t n_arcs) {
    head.resize(n_arcs);
    mate.resize(n_arcs);
    room.resize(n_arcs);
  }
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

}  // namespace labelcut
