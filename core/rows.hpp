// Rows of numbers: the different ones, how far apart two of them are, and how they are shortened.

#pragma once

#include <cmath>
#include <cstdint>

#include "sum.hpp"

namespace labelcut {

// The different rows among the caller's, and which of the caller's are equal to each.
template <typename Row>
struct DistinctRows {
  std::int64_t n_rows, n_columns;
  const Row* number;                // [n_rows][n_columns]
  const std::int32_t* equal;        // the caller's rows, those equal to row 0 first, ascending
  const std::int64_t* equal_start;  // [n_rows + 1]

  const Row* row(std::int64_t i) const { return number + i * n_columns; }
};

// |a - b|^2 in doubles, added up as numpy adds up a row: a pair has the same bytes here, in the twin and in a full table of
// distances.
template <typename Row>
double squared_distance(const Row* a, const Row* b, std::int64_t n) {
  return add_up(0, n, [a, b](std::int64_t h) {
    const double difference = static_cast<double>(a[h]) - static_cast<double>(b[h]);
    return difference * difference;
  });
}

// Shortened rows are centered and scaled by a power of two, so that no number is above 1; the columns that vary most are kept,
// and one more holds the size of the others together, which can only bring rows nearer to each other.
struct Shortening {
  std::int64_t n_columns, n_kept;
  const double* center;        // by column
  const std::int32_t* column;  // all columns, the kept ones first
  double unit;

  std::int64_t n_short() const { return n_kept + (n_kept < n_columns); }

  // Writes the shortened row and returns its squared size.
  template <typename Row>
  double shorten(const Row* row, double* to) const {
    const auto number = [&](std::int64_t k) {
      const std::int32_t h = column[k];
      return (static_cast<double>(row[h]) - center[h]) * unit;
    };
    double kept = 0.0, rest = 0.0;
    for (std::int64_t k = 0; k < n_kept; ++k) {
      to[k] = number(k);
      kept += to[k] * to[k];
    }
    for (std::int64_t k = n_kept; k < n_columns; ++k) rest += number(k) * number(k);
    if (n_kept < n_columns) to[n_kept] = std::sqrt(rest);
    return kept + rest;
  }
};

}  // namespace labelcut
