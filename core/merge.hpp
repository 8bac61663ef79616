// Lists of nearest rows from several places -> one list per row, in the very arrays that hold what was found so far.
//
// A list is sorted by distance, ties by row number; it ends with rows -1 at infinite distance where fewer were found. A row may be
// found in several places, at distances that differ by rounding: the least one counts. So the result does not depend on the
// order in which places are merged.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace labelcut {

struct NearestLists {
  std::int64_t k;
  std::int32_t* row;
  float* distance;
};

// Merges list i of `more` into list at[i] of `best`, for i = 0 .. n_lists - 1.
inline void merge_nearest(std::int64_t n_lists, const std::int32_t* at, const std::int32_t* more_row, const float* more_distance,
                          const NearestLists& best) {
  const auto k = static_cast<std::size_t>(best.k);
  std::vector<std::pair<float, std::int32_t>> found;
  found.reserve(2 * k);
  for (std::int64_t i = 0; i < n_lists; ++i) {
    found.clear();
    const auto take = [&](const std::int32_t* row, const float* distance) {
      for (std::size_t j = 0; j < k && row[j] >= 0; ++j) found.push_back({distance[j], row[j]});
    };
    std::int32_t* const row = best.row + at[i] * best.k;
    float* const distance = best.distance + at[i] * best.k;
    take(row, distance);
    take(more_row + i * best.k, more_distance + i * best.k);
    std::sort(found.begin(), found.end());
    std::size_t n = 0;
    for (const auto& [away, other] : found) {
      if (n == k) break;
      // The nearer copy of a row came first.
      if (std::find(row, row + n, other) != row + n) continue;
      row[n] = other;
      distance[n++] = away;
    }
    std::fill(row + n, row + k, -1);
    std::fill(distance + n, distance + k, std::numeric_limits<float>::infinity());
  }
}

}  // namespace labelcut
