// How blocks are made: the first from the given arcs, all others from a block before.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "block.hpp"
#include "crew.hpp"
#include "grouping.hpp"
#include "pairs.hpp"
#include "sum.hpp"

namespace labelcut {

// The nodes of one group before any flow, given that earlier groups have joined and later ones have not: an arc to a later
// node is paid, one from an earlier node is spared. Slopes are left to the caller.
class FirstBlock {
 public:
  FirstBlock(const Pairs& pairs, const double* cost, const Grouping& grouping, std::size_t group, Crew& crew)
      : pairs_(pairs), cost_(cost), grouping_(grouping), start_(grouping.start[group]), n_(grouping.size(group)), crew_(crew) {}

  std::unique_ptr<Block> make() {
    constexpr std::size_t kMostStrips = 4;  // each has a number for every node
    strips_.resize(std::min(crew_.n_threads(), kMostStrips));
    std::uint64_t n_arcs_at_most = 0;
    for (std::size_t s = 0; s < strips_.size(); ++s) {
      strips_[s].begin = static_cast<Index>(n_ * s / strips_.size());
      strips_[s].end = static_cast<Index>(n_ * (s + 1) / strips_.size());
      strips_[s].first_arc = n_arcs_at_most;
      for (Index k = strips_[s].begin; k < strips_[s].end; ++k) n_arcs_at_most += degree(grouping_.node_at[start_ + k]);
    }
    block_->position = start_;
    block_->resize_nodes(n_);
    block_->slope.clear();
    block_->resize_arcs(n_arcs_at_most);
    crew_.run(strips_.size(), [&](std::size_t s) { write(strips_[s]); });
    join_strips();
    for (std::uint64_t a = 0; a < block_->room.size(); ++a) {
      if (block_->room[a] == 0) block_->head[block_->mate_of(a)] &= ~head::kMateHasRoom;
    }
    return std::move(block_);
  }

 private:
  // Some of the nodes, with their arcs where there is room for all that they might have.
  struct Strip {
    Index begin, end;
    std::uint64_t first_arc, last_arc;
    std::vector<Index> n_met;  // as in write_group, of arcs from this strip alone
  };

  std::uint64_t degree(Index i) const { return static_cast<std::uint64_t>(pairs_.row_start[i + 1] - pairs_.row_start[i]); }

  void write(Strip& strip) const {
    Block& block = *block_;
    std::uint64_t n_arcs = strip.first_arc;
    strip.n_met.assign(n_, 0);
    for (Index k = strip.begin; k < strip.end; ++k) {
      const Index i = grouping_.node_at[start_ + k];
      double base = -cost_[i];
      block.first[k] = n_arcs;
      for (std::int64_t a = pairs_.row_start[i]; a < pairs_.row_start[i + 1]; ++a) {
        const Index place = grouping_.place[pairs_.column[a]], j = place - start_;
        if (j < n_) {
          block.head[n_arcs] = j | head::kMateHasRoom | (pairs_.capacity[a] > 0 ? head::kHasRoom : 0);
          block.mate[n_arcs] = strip.n_met[j]++;
          block.room[n_arcs++] = pairs_.capacity[a];
        } else {
          base += place < start_ ? pairs_.back[a] : -pairs_.capacity[a];
        }
      }
      block.id[k] = static_cast<std::int32_t>(i);
      block.held[k] = {base, base};
    }
    strip.last_arc = n_arcs;
  }

  // Closes the gaps between strips, and counts what earlier strips have met.
  void join_strips() {
    Block& block = *block_;
    std::uint64_t n_arcs = strips_.front().last_arc;
    for (std::size_t s = 1; s < strips_.size(); ++s) {
      const Strip& strip = strips_[s];
      const auto n_mine = static_cast<std::ptrdiff_t>(strip.last_arc - strip.first_arc);
      const auto move = [&](auto& by_arc) {
        const auto from = by_arc.begin() + static_cast<std::ptrdiff_t>(strip.first_arc);
        std::copy(from, from + n_mine, by_arc.begin() + static_cast<std::ptrdiff_t>(n_arcs));
      };
      move(block.head);
      move(block.mate);
      move(block.room);
      for (Index k = strip.begin; k < strip.end; ++k) block.first[k] -= strip.first_arc - n_arcs;
      n_arcs += static_cast<std::uint64_t>(n_mine);
    }
    block.first[n_] = n_arcs;
    block.resize_arcs(n_arcs);
    crew_.run_ranges(strips_.size() < 2 ? 0 : n_, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t s = 1; s < strips_.size(); ++s) {
        const auto& met_before = strips_[s - 1].n_met;
        const auto from = std::max<std::size_t>(begin, strips_[s].begin);
        for (std::uint64_t a = block.first[std::min(from, end)]; a < block.first[end]; ++a) {
          block.mate[a] += met_before[block.head[a] & head::kTo];
        }
      }
    });
  }

  const Pairs& pairs_;
  const double* const cost_;
  const Grouping& grouping_;
  const Index start_, n_;
  Crew& crew_;
  std::vector<Strip> strips_;
  std::unique_ptr<Block> block_ = std::make_unique<Block>();
};

inline std::unique_ptr<Block> first_block(const Pairs& pairs, const double* cost, const Grouping& grouping, std::size_t group,
                                          Crew& crew) {
  return FirstBlock(pairs, cost, grouping, group, crew).make();
}

// Writes the nodes of one group with the arcs among them into `to`, whose arrays are large enough. It may be the block itself:
// nothing is written before it was read.
inline void write_group(const Block& block, const Grouping& grouping, std::size_t group, Block& to) {
  const Index start = grouping.start[group], n = grouping.size(group);
  std::uint64_t n_arcs = 0;
  // Lists are sorted and nodes come in order, so each node's arcs are met from the other side in their own order.
  std::vector<Index> n_met(n, 0);
  for (Index k = 0; k < n; ++k) {
    const Index i = grouping.node_at[start + k];
    const std::uint64_t begin = block.first[i], end = block.first[i + 1];
    to.first[k] = n_arcs;
    to.held[k] = block.held[i];
    to.slope[k] = block.slope[i];
    to.id[k] = block.id[i];
    for (std::uint64_t a = begin; a < end; ++a) {
      const Index j = grouping.place[block.head[a] & head::kTo] - start;
      if (j >= n) continue;
      to.head[n_arcs] = j | (block.head[a] & ~head::kTo);
      to.mate[n_arcs] = n_met[j]++;
      to.room[n_arcs++] = block.room[a];
    }
  }
  to.first[n] = n_arcs;
  to.resize_nodes(n);
  to.resize_arcs(n_arcs);
}

// A block of one group; where it lies in the order of joining is left to the caller.
inline std::unique_ptr<Block> copy_group(const Block& block, const Grouping& grouping, std::size_t group) {
  std::uint64_t n_arcs_at_most = 0;
  for (Index k = grouping.start[group]; k < grouping.start[group + 1]; ++k) {
    const Index i = grouping.node_at[k];
    n_arcs_at_most += block.first[i + 1] - block.first[i];
  }
  auto child = std::make_unique<Block>();
  child->resize_nodes(grouping.size(group));
  child->resize_arcs(n_arcs_at_most);
  write_group(block, grouping, group, *child);
  return child;
}

// Gives a child of a careful block a start of its own: it is charged for the arcs to the rest of its parent (an arc to a
// later node is paid, one from an earlier node is spared). Slower than to go on from the parent's flow, but a node that a
// large flow has crossed keeps its small numbers.
inline void start_anew(const Block& block, const Grouping& parts, std::size_t part, Block& child) {
  for (Index k = parts.start[part]; k < parts.start[part + 1]; ++k) {
    const Index i = parts.node_at[k];
    Sum base;
    base.add(block.first_base[i]);
    double scale = block.scale[i];
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Index j = block.head[a] & head::kTo;
      if (parts.has(part, j)) {
        child.capacity.push_back(block.capacity[a]);
        continue;
      }
      const bool is_earlier = parts.place[j] < parts.start[part];
      const double charge = is_earlier ? block.capacity[block.mate_of(a)] : -block.capacity[a];
      base.add(charge);
      scale += std::abs(charge);
    }
    child.first_base.push_back(base.value());
    child.scale.push_back(scale);
  }
  child.undo_flow();
}

}  // namespace labelcut
