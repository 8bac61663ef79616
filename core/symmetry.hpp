// Each row's nearest rows -> a symmetric graph, in the very arrays that hold them; its degrees and its connected parts.
//
// A list of neighbours becomes a row of the graph: its own choices first, then the rows that chose it without being chosen. Since
// rows only grow, they can be moved apart from the last to the first without a second copy.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sum.hpp"

namespace labelcut {

// Lists of other rows with weights: those of row i are at start[i] .. start[i + 1].
template <typename Weight>
struct Lists {
  std::int64_t n_rows;
  const std::int64_t* start;
  std::int32_t* column;
  Weight* weight;
};

template <typename Weight>
void sort_list(const Lists<Weight>& lists, std::int64_t begin, std::int64_t end,
               std::vector<std::pair<std::int32_t, Weight>>& buffer) {
  buffer.clear();
  for (std::int64_t a = begin; a < end; ++a) buffer.push_back({lists.column[a], lists.weight[a]});
  std::sort(buffer.begin(), buffer.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t a = begin; a < end; ++a) {
    lists.column[a] = buffer[static_cast<std::size_t>(a - begin)].first;
    lists.weight[a] = buffer[static_cast<std::size_t>(a - begin)].second;
  }
}

// Sorts each list by column and writes where the rows of the symmetric graph will begin, n_rows + 1 numbers.
template <typename Weight>
void prepare_symmetry(const Lists<Weight>& lists, std::int64_t* new_start) {
  std::vector<std::pair<std::int32_t, Weight>> buffer;
  for (std::int64_t i = 0; i < lists.n_rows; ++i) sort_list(lists, lists.start[i], lists.start[i + 1], buffer);
  const auto begin = [&](std::int64_t i) { return lists.column + lists.start[i]; };
  std::fill(new_start, new_start + lists.n_rows + 1, 0);
  for (std::int64_t i = 0; i < lists.n_rows; ++i) {
    new_start[i + 1] += lists.start[i + 1] - lists.start[i];
    for (const std::int32_t* j = begin(i); j != begin(i + 1); ++j) {
      new_start[*j + 1] += !std::binary_search(begin(*j), begin(*j + 1), static_cast<std::int32_t>(i));
    }
  }
  for (std::int64_t i = 0; i < lists.n_rows; ++i) new_start[i + 1] += new_start[i];
}

// Makes lists that were prepared symmetric, in arrays that have grown to new_start[n_rows]. The weight of a pair is the mean of
// both directions, of which a missing one counts 0, or their maximum. Weights of 0 are left out: new_start is corrected.
template <typename Weight>
void symmetrise(const Lists<Weight>& lists, bool is_mean, std::int64_t* new_start) {
  std::int32_t* const column = lists.column;
  Weight* const weight = lists.weight;
  const auto n_own = [&](std::int64_t i) { return lists.start[i + 1] - lists.start[i]; };
  for (std::int64_t i = lists.n_rows; i-- > 0;) {
    std::copy_backward(column + lists.start[i], column + lists.start[i + 1], column + new_start[i] + n_own(i));
    std::copy_backward(weight + lists.start[i], weight + lists.start[i + 1], weight + new_start[i] + n_own(i));
  }
  const auto combine = [is_mean](Weight a, Weight b) { return is_mean ? (a + b) * Weight(0.5) : std::max(a, b); };
  std::vector<std::int32_t> n_more(static_cast<std::size_t>(lists.n_rows), 0);  // rows that chose it without being chosen
  for (std::int64_t i = 0; i < lists.n_rows; ++i) {
    const auto me = static_cast<std::int32_t>(i);
    for (std::int64_t a = new_start[i]; a < new_start[i] + n_own(i); ++a) {
      const std::int32_t j = column[a];
      std::int32_t* const end = column + new_start[j] + n_own(j);
      std::int32_t* const back = std::lower_bound(column + new_start[j], end, me);
      if (back != end && *back == me) {
        if (i < j) weight[a] = weight[back - column] = combine(weight[a], weight[back - column]);
      } else {
        const std::int64_t more = end - column + n_more[static_cast<std::size_t>(j)]++;
        weight[a] = combine(weight[a], 0);
        column[more] = me;
        weight[more] = weight[a];
      }
    }
  }
  std::vector<std::pair<std::int32_t, Weight>> buffer;
  std::int64_t to = 0, begin = 0;
  for (std::int64_t i = 0; i < lists.n_rows; ++i) {
    const std::int64_t end = new_start[i + 1];
    sort_list(lists, begin, end, buffer);
    for (std::int64_t a = begin; a < end; ++a) {
      if (weight[a] == 0) continue;
      column[to] = column[a];
      weight[to++] = weight[a];
    }
    begin = end;
    new_start[i + 1] = to;
  }
}

// The sum of each row in doubles, with the bytes of scipy: the first number, and all others added up.
template <typename Weight>
void add_up_rows(std::int64_t n_rows, const std::int64_t* start, const Weight* weight, double* sum) {
  const auto number = [weight](std::int64_t a) { return static_cast<double>(weight[a]); };
  for (std::int64_t i = 0; i < n_rows; ++i) {
    sum[i] = start[i] < start[i + 1] ? number(start[i]) + add_up(start[i] + 1, start[i + 1], number) : 0.0;
  }
}

// The connected part of each row, numbered in the order of their first rows; returned is how many there are. An arc connects
// both its ends.
inline std::int64_t number_parts(std::int64_t n_rows, const std::int64_t* start, const std::int32_t* column, std::int32_t* part) {
  // Each row points to a lower one of its part; the lowest points to itself.
  for (std::int64_t i = 0; i < n_rows; ++i) part[i] = static_cast<std::int32_t>(i);
  const auto lowest = [&](std::int32_t i) {
    while (part[i] != i) i = part[i] = part[part[i]];
    return i;
  };
  for (std::int64_t i = 0; i < n_rows; ++i) {
    for (std::int64_t a = start[i]; a < start[i + 1]; ++a) {
      const std::int32_t one = lowest(static_cast<std::int32_t>(i)), other = lowest(column[a]);
      part[std::max(one, other)] = std::min(one, other);
    }
  }
  std::int32_t n_parts = 0;
  // What a row points to is lower, so it has its number already.
  for (std::int64_t i = 0; i < n_rows; ++i) part[i] = part[i] == i ? n_parts++ : part[part[i]];
  return n_parts;
}

}  // namespace labelcut
