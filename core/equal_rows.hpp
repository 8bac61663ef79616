// Which rows of a matrix are equal.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace labelcut {

// Numbers the different rows in the order in which they first occur, writes the number of each row, and returns how many there
// are. -0.0 is 0.0; no number is NaN.
inline std::int64_t number_equal_rows(const double* matrix, std::int64_t n_rows, std::int64_t n_columns, std::int32_t* number) {
  const auto row = [&](std::int64_t i) { return matrix + i * n_columns; };
  const auto scatter = [&](std::int64_t i) {
    std::uint64_t mixed = 0;
    for (std::int64_t h = 0; h < n_columns; ++h) {
      const double x = row(i)[h] + 0.0;
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      mixed = (mixed ^ bits) * 0x9E3779B97F4A7C15u;
      mixed ^= mixed >> 29;
    }
    return mixed;
  };
  std::uint64_t n_slots = 16;
  while (n_slots < 2 * static_cast<std::uint64_t>(n_rows)) n_slots *= 2;
  constexpr std::int32_t kFree = -1;
  std::vector<std::int32_t> first(n_slots, kFree);  // the first of equal rows, at its slot or the next free one
  std::int64_t n_distinct = 0;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    std::uint64_t slot = scatter(i) & (n_slots - 1);
    while (first[slot] != kFree && !std::equal(row(i), row(i) + n_columns, row(first[slot]))) slot = (slot + 1) & (n_slots - 1);
    if (first[slot] == kFree) {
      first[slot] = static_cast<std::int32_t>(i);
      number[i] = static_cast<std::int32_t>(n_distinct++);
    } else {
      number[i] = number[first[slot]];
    }
  }
  return n_distinct;
}

}  // namespace labelcut
