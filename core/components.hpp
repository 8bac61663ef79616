// The connected parts of a block.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "block.hpp"
#include "grouping.hpp"

namespace labelcut {

// Every cut takes arcs away, so blocks fall apart sooner or later: to go on with the parts saves many a flow. Nothing is
// returned if the block mostly hangs together, is too small for this to matter, or so large that it rarely pays.
inline std::optional<Grouping> find_components(const Block& block) {
  constexpr Index kFewNodes = 32, kManyNodes = 1 << 15;
  const Index n = block.size();
  if (n < kFewNodes || n > kManyNodes) return {};
  // Each node points to a lower one of its component; the lowest points to itself.
  std::vector<Index> lower(n);
  const auto lowest = [&](Index i) {
    while (lower[i] != i) i = lower[i] = lower[lower[i]];
    return i;
  };
  for (Index i = 0; i < n; ++i) {
    lower[i] = i;
    Index mine = i;
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1] && (block.head[a] & head::kTo) < i; ++a) {
      const Index other = lowest(block.head[a] & head::kTo);
      lower[std::max(mine, other)] = std::min(mine, other);
      mine = std::min(mine, other);
    }
  }
  std::vector<Index> component(n), size;
  for (Index i = 0; i < n; ++i) {
    component[i] = lower[i] == i ? static_cast<Index>(size.size()) : component[lower[i]];
    if (lower[i] == i) size.push_back(0);
    ++size[component[i]];
  }
  if (*std::max_element(size.begin(), size.end()) > n / 4 * 3) return {};
  return Grouping(component, size.size());
}

}  // namespace labelcut
