// The inner loops of the neighbour search: written once, compiled for each kind of processor (tile_*.cpp).
//
// Numbers lie in lanes: a group holds the same column of 64 bytes' worth of rows (16 floats, 8 doubles) side by side.

#pragma once

#include <cstddef>
#include <cstdint>

namespace labelcut {

template <typename Number>
constexpr std::size_t kLanes = 64 / sizeof(Number);

constexpr std::size_t kQueriesAtOnce = 6;  // so many sums fit into the registers of AVX2
constexpr std::size_t kGroupsAtOnce = 4;
constexpr std::size_t kPointsAtOnce = 4;

// Some queries against some groups of rows. The bound of query x and row y is first[y] + sum of x[h] * column[y][h], added up in
// any order and with or without rounding the products: bounds leave room for that.
template <typename Number>
struct Tile {
  std::size_t n_columns, n_groups;
  const Number* factor;  // [n_columns][kQueriesAtOnce]
  const Number* limit;   // [kQueriesAtOnce]
  const Number* table;   // [n_groups][1 + n_columns][lanes]
  std::uint32_t* hits;   // [n_groups][kQueriesAtOnce]: bit l is set if the bound of row l is at most the limit
};

// Some points against some groups of centers. Each squared distance is added up column by column, every product and every
// sum rounded: the same bytes on every processor.
struct Away {
  std::size_t n_columns, n_groups;
  const double* point;   // [n_columns][kPointsAtOnce]
  const double* center;  // [n_groups][n_columns][lanes]
  double* squared;       // [kPointsAtOnce][n_groups][lanes]
};

struct Loops {
  void (*scan_float)(const Tile<float>&);
  void (*scan_double)(const Tile<double>&);
  void (*measure)(const Away&);

  void scan(const Tile<float>& tile) const { scan_float(tile); }
  void scan(const Tile<double>& tile) const { scan_double(tile); }
};

extern const Loops plain_loops;
#ifdef LABELCUT_X86
extern const Loops avx2_loops, avx512_loops;
#endif

// The quickest that this processor has.
inline const Loops& loops() {
#ifdef LABELCUT_X86
  if (__builtin_cpu_supports("avx512f")) return avx512_loops;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_loops;
#endif
  return plain_loops;
}

// For tile_*.cpp alone. Lanes<Number> are 64 bytes of numbers with load, store, all, add_product, add_square and at_most. In a
// namespace without name: no other file may be given code that only one kind of processor has.
namespace {

template <typename Lanes, typename Number>
inline void scan_tile(const Tile<Number>& tile) {
  for (std::size_t g = 0; g < tile.n_groups; ++g) {
    const Number* column = tile.table + g * (1 + tile.n_columns) * kLanes<Number>;
    Lanes sum[kQueriesAtOnce];
    for (std::size_t q = 0; q < kQueriesAtOnce; ++q) sum[q] = Lanes::load(column);
    for (std::size_t h = 0; h < tile.n_columns; ++h) {
      column += kLanes<Number>;
      const Lanes y = Lanes::load(column);
      const Number* x = tile.factor + h * kQueriesAtOnce;
      for (std::size_t q = 0; q < kQueriesAtOnce; ++q) sum[q].add_product(Lanes::all(x[q]), y);
    }
    for (std::size_t q = 0; q < kQueriesAtOnce; ++q) {
      tile.hits[g * kQueriesAtOnce + q] = sum[q].at_most(Lanes::all(tile.limit[q]));
    }
  }
}

template <typename Lanes>
inline void measure_away(const Away& away) {
  constexpr std::size_t kWide = kLanes<double>;
  for (std::size_t g = 0; g < away.n_groups; ++g) {
    const double* center = away.center + g * away.n_columns * kWide;
    Lanes sum[kPointsAtOnce];
    for (std::size_t p = 0; p < kPointsAtOnce; ++p) sum[p] = Lanes::all(0.0);
    for (std::size_t h = 0; h < away.n_columns; ++h) {
      const Lanes c = Lanes::load(center + h * kWide);
      const double* x = away.point + h * kPointsAtOnce;
      for (std::size_t p = 0; p < kPointsAtOnce; ++p) sum[p].add_square(Lanes::all(x[p]), c);
    }
    for (std::size_t p = 0; p < kPointsAtOnce; ++p) sum[p].store(away.squared + (p * away.n_groups + g) * kWide);
  }
}

}  // namespace

}  // namespace labelcut
