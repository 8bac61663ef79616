// Nodes by group.

#pragma once

#include <cstddef>
#include <vector>

#include "numbers.hpp"

namespace labelcut {

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

}  // namespace labelcut
