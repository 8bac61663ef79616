// What nodes hold, evened out along a tree: a cheap beginning for the flow of a block that is nearly balanced.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "block.hpp"
#include "crew.hpp"
#include "search.hpp"

namespace labelcut {

// Between one flow and the next t moves by little: then nearly every node holds a little, and a flow would hand it from node to
// node, over and over. Along a tree each node needs one step: the deepest first, each passes its excess to its parent, or
// takes what it lacks from there, as far as the arc between them has room. What remains lies at the root and above full
// arcs, at a few nodes of a hundred thousand, and is left to the flow. Any flow is a valid beginning, so nothing depends on
// this but time: all flows of 650 000 nodes together look at a quarter fewer arcs.
class EvenOut {
 public:
  EvenOut(Block& block, Crew& crew, Pace& pace)
      : block_(block), crew_(crew), pace_(pace), depth_(block.size()), up_(block.size()) {}

  // Whether it may pay: the block is large, and what is held is so little beside the room of its arcs that few will be full.
  static bool is_worthwhile(const Block& block) {
    constexpr Index kFewNodes = 1 << 12;
    constexpr double kLittle = 1e-4;
    if (block.size() < kFewNodes || block.is_careful()) return false;
    double held = 0, room = 0;
    for (const Holding& h : block.held) held += std::abs(h.excess);
    for (const double r : block.room) room += r;
    return held < kLittle * room;
  }

  void run() {
    measure_depths();
    choose_parents();
    settle_deepest_first();
  }

 private:
  static constexpr Index kBothWays = head::kHasRoom | head::kMateHasRoom;

  // From the node with most arcs, over arcs with room both ways.
  void measure_depths() {
    Index root = 0, most = 0;
    for (Index i = 0; i < block_.size(); ++i) {
      const auto degree = static_cast<Index>(block_.first[i + 1] - block_.first[i]);
      if (degree > most) root = i;
      most = std::max(most, degree);
      depth_.set(i, Marks::kUnreachable);
    }
    depth_.set(root, 0);
    const auto depth = [](Label steps) { return steps; };
    breadth_first(block_, depth_, {root}, Marks::kFarthest, kBothWays, depth, crew_, pace_);
  }

  bool has_parent(Index i) const { return depth_[i] != 0 && depth_[i] != Marks::kUnreachable; }

  // Of the arcs that lead one step up, the one with most room.
  void choose_parents() {
    crew_.run_ranges(block_.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const auto i = static_cast<Index>(k);
        if (has_parent(i)) up_[i] = roomiest_up(i);
      }
    });
  }

  Index roomiest_up(Index i) const {
    std::uint64_t best = block_.first[i];
    double most = 0;
    for (std::uint64_t a = block_.first[i]; a < block_.first[i + 1]; ++a) {
      const bool is_open = (block_.head[a] & kBothWays) == kBothWays;
      const bool leads_up = depth_[block_.head[a] & head::kTo] == depth_[i] - 1;
      if (!(is_open & leads_up) || block_.room[a] <= most) continue;
      best = a;
      most = block_.room[a];
    }
    return static_cast<Index>(best - block_.first[i]);
  }

  std::vector<Index> deepest_first() const {
    std::vector<Index> next;  // by depth
    for (Index i = 0; i < block_.size(); ++i) {
      if (!has_parent(i)) continue;
      const auto depth = static_cast<std::size_t>(depth_[i]);
      if (depth >= next.size()) next.resize(depth + 1, 0);
      ++next[depth];
    }
    Index n_deeper = 0;
    for (std::size_t depth = next.size(); depth-- > 0;) n_deeper += std::exchange(next[depth], n_deeper);
    std::vector<Index> order(n_deeper);
    for (Index i = 0; i < block_.size(); ++i) {
      if (has_parent(i)) order[next[static_cast<std::size_t>(depth_[i])]++] = i;
    }
    return order;
  }

  void settle_deepest_first() {
    const std::vector<Index> order = deepest_first();
    for (std::size_t k = 0; k < order.size(); ++k) {
      // Memory answers late.
      if (k + 16 < order.size()) prefetch_node(order[k + 16]);
      if (k + 8 < order.size()) prefetch_arc(block_.first[order[k + 8]] + up_[order[k + 8]]);
      if (k + 4 < order.size()) prefetch_arc(block_.mate_of(block_.first[order[k + 4]] + up_[order[k + 4]]));
      settle_with_parent(order[k]);
    }
  }

  void prefetch_node(Index i) const {
    prefetch(&block_.first[i]);
    prefetch(&block_.held[i]);
    prefetch(&up_[i]);
  }
  void prefetch_arc(std::uint64_t a) const {
    prefetch(&block_.head[a]);
    prefetch(&block_.mate[a]);
    prefetch(&block_.room[a]);
  }

  // Either the node is left with nothing or the arc is full, exactly, as in Flow::push.
  void settle_with_parent(Index i) {
    const double excess = block_.held[i].excess;
    if (excess == 0) return;
    const std::uint64_t up = block_.first[i] + up_[i], down = block_.mate_of(up);
    const Index parent = block_.head[up] & head::kTo;
    const std::uint64_t used = excess > 0 ? up : down, opened = excess > 0 ? down : up;
    const double moved = std::copysign(std::min(std::abs(excess), block_.room[used]), excess);
    block_.room[used] -= std::abs(moved);
    block_.room[opened] += std::abs(moved);
    block_.head[opened] |= head::kHasRoom;
    block_.head[used] |= head::kMateHasRoom;
    if (block_.room[used] == 0) {
      block_.head[used] &= ~head::kHasRoom;
      block_.head[opened] &= ~head::kMateHasRoom;
    }
    block_.held[i].excess -= moved;
    block_.held[i].base -= moved;
    block_.held[parent].excess += moved;
    block_.held[parent].base += moved;
  }

  Block& block_;
  Crew& crew_;
  Pace& pace_;
  Marks depth_;
  std::vector<Index> up_;  // the arc to the parent, among the node's own
};

}  // namespace labelcut
