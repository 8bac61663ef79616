// How blocks are made: the first from the given arcs, all others from a block before.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "block.hpp"
#include "grouping.hpp"
#include "pairs.hpp"
#include "sum.hpp"

namespace labelcut {

// The nodes of one group before any flow, given that earlier groups have joined and later ones have not: an arc to a later
// node is paid, one from an earlier node is spared. Slopes are left to the caller.
inline std::unique_ptr<Block> first_block(const Pairs& pairs, const double* cost, const Grouping& grouping,
                                          std::size_t group) {
  const Index start = grouping.start[group], n = grouping.size(group);
  std::uint64_t n_arcs_at_most = 0;
  for (Index k = start; k < start + n; ++k) {
    const Index i = grouping.node_at[k];
    n_arcs_at_most += static_cast<std::uint64_t>(pairs.row_start[i + 1] - pairs.row_start[i]);
  }
  auto block = std::make_unique<Block>();
  block->reserve(n, n_arcs_at_most);
  block->resize_arcs(n_arcs_at_most);
  block->position = start;
  std::uint64_t n_arcs = 0;
  std::vector<Index> n_met(n, 0);  // as in copy_group
  for (Index k = start; k < start + n; ++k) {
    const Index i = grouping.node_at[k];
    double base = -cost[i];
    block->first.push_back(n_arcs);
    for (std::int64_t a = pairs.row_start[i]; a < pairs.row_start[i + 1]; ++a) {
      const Index place = grouping.place[pairs.column[a]], j = place - start;
      if (j < n) {
        block->head[n_arcs] = j | head::kMateHasRoom | (pairs.capacity[a] > 0 ? head::kHasRoom : 0);
        block->mate[n_arcs] = n_met[j]++;
        block->room[n_arcs++] = pairs.capacity[a];
      } else {
        base += place < start ? pairs.back[a] : -pairs.capacity[a];
      }
    }
    block->id.push_back(static_cast<std::int32_t>(i));
    block->held.push_back({base, base});
  }
  block->first.push_back(n_arcs);
  block->resize_arcs(n_arcs);
  for (std::uint64_t a = 0; a < block->room.size(); ++a) {
    if (block->room[a] == 0) block->head[block->mate_of(a)] &= ~head::kMateHasRoom;
  }
  return block;
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
