// The nearest rows of rows.
//
// The problem. Of some rows, some of which may be equal, the k nearest to each query are wanted: by squared distance in doubles,
// rows at equal distance by their number. That is one answer only, so it does not matter in which order rows are looked at.
//
// The way, each part told where its data is:
//
//     equal_rows.hpp    which rows are equal
//     rows.hpp          rows, equal ones once; distances; rows cut short
//     tile.hpp          lower bounds for many distances at once, in the processor's widest registers
//     neighbors.cpp     rows lie in cells around centers. A query looks into cell after cell, measures the rows whose bounds are
//                         low enough, and keeps the k nearest so far, which makes it look at fewer and fewer
//     merge.hpp         lists found in several places -> one list per row
//     symmetry.hpp      each row's nearest -> a symmetric graph, its degrees and its connected parts
//
// Bounds. For a shortened query x and row y, |y|^2 / 2 - x y orders rows as the distance does. With u the rounding of a Number
// the computed sum of H products is off by at most (H + 5) u (|x| |y| + |y|^2 / 2), in whatever order it is added up; twice
// that much is allowed for. So a row that is left out is certainly not among the k nearest.
//
// Cells. By the triangle inequality a cell cannot hold one of the k nearest if its center is farther away than its radius and
// the k-th nearest so far together. The search is exact when every other cell is visited, and approximate when a query visits
// only so many of the nearest ones.
//
// Guarantees. The same bytes for any number of threads and on every processor. Nothing is copied; besides the answer, memory is
// a few hundred kilobytes per thread.

#pragma once

#include <cstdint>

#include "poll.hpp"
#include "rows.hpp"

namespace labelcut {

// Rows divided into cells; those of cell c are start[c] .. start[c + 1]. No cell is empty.
template <typename Number>
struct Cells {
  std::int64_t n_cells;
  const std::int64_t* start;
  const double* center;  // [n_cells][n_short]
  const double* radius;  // no row of the cell is farther from its center
  const Number* table;   // as made by pack_cells
};

template <typename Row>
struct Queries {
  std::int64_t n_queries;
  const Row* number;       // [n_queries][n_columns]; null if the rows themselves are asked for their nearest others
  std::int64_t k;          // at most the number of the caller's rows (others)
  std::int64_t n_visited;  // cells around each query; all of them for an exact search
};

// One line of k per query; or, if the rows are asked themselves, per row of the caller's.
template <typename Row>
struct Nearest {
  std::int32_t* row;
  Row* distance;
};

// How many Numbers the table of so many cells takes.
std::int64_t table_size(const std::int64_t* start, std::int64_t n_cells, std::int64_t n_short, std::int64_t n_lanes);

// The shortened rows of each cell with their signs turned and half their squared size, in lanes.
template <typename Row, typename Number>
void pack_cells(const DistinctRows<Row>& rows, const Shortening& shortening, const std::int64_t* start, std::int64_t n_cells,
                Number* table);

// The center nearest to each (shortened) row, ties by number, and how far it is.
template <typename Row>
void nearest_center(const Row* row, std::int64_t n_rows, const Shortening& shortening, const double* center,
                    std::int64_t n_cells, int n_threads, const Poll& poll, std::int32_t* number, double* distance);

// The k nearest rows of each query, nearest first; returned is how many distances were measured.
template <typename Row, typename Number>
std::int64_t search(const DistinctRows<Row>& rows, const Shortening& shortening, const Cells<Number>& cells,
                    const Queries<Row>& queries, int n_threads, const Poll& poll, const Nearest<Row>& answer);

}  // namespace labelcut
