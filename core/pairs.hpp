// The given graph with every arc's opposite.

#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "crew.hpp"
#include "parametric_cut.hpp"
#include "prefetch.hpp"

namespace labelcut {

// Arcs by row, every one with its opposite (of capacity 0 if need be), none from a node to itself.
class Pairs {
 public:
  Pairs(const Graph& given, Crew& crew)
      : row_start(given.row_start), column(given.column), capacity(given.capacity), back(given.capacity) {
    std::atomic<bool> is_symmetric{true};
    const auto compare = [&](std::int64_t one, std::int64_t other) {
      if (capacity[one] != capacity[other]) is_symmetric = false;
    };
    if (!for_each_pair(given.n_nodes, compare, crew)) {
      add_opposites(given);
      row_start = own_row_start_.data();
      column = own_column_.data();
      capacity = own_capacity_.data();
      is_symmetric = false;
    }
    if (is_symmetric) return;
    own_back_.resize(row_start[given.n_nodes]);
    const auto exchange = [this](std::int64_t one, std::int64_t other) {
      own_back_[one] = capacity[other];
      own_back_[other] = capacity[one];
    };
    for_each_pair(given.n_nodes, exchange, crew);
    back = own_back_.data();
  }
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;

  const std::int64_t* row_start;
  const std::int32_t* column;
  Capacities capacity;
  Capacities back;  // the opposite arc's capacity

 private:
  // Calls visit(arc, its opposite), by several threads. False, half-way, if one has none or is from a node to itself.
  template <typename Visit>
  bool for_each_pair(std::int64_t n_nodes, const Visit& visit, Crew& crew) const {
    // A row has the fewer arcs to later ones the later it comes: strips of about as many pairs each.
    constexpr std::size_t kMostStrips = 4;  // each has a number for every node
    const std::size_t n_strips = std::min(crew.n_threads(), kMostStrips);
    const auto border = [&](std::size_t strip) {
      const double left = 1.0 - static_cast<double>(strip) / static_cast<double>(n_strips);
      return n_nodes - static_cast<std::int64_t>(static_cast<double>(n_nodes) * std::sqrt(left));
    };
    std::atomic<bool> are_paired{true};
    crew.run(n_strips, [&](std::size_t strip) {
      if (!visit_strip(border(strip), border(strip + 1), n_nodes, visit)) are_paired = false;
    });
    return are_paired;
  }

  // The pairs of the rows begin .. end - 1 with later ones. Rows are visited in order and lists are sorted, so each node's arcs
  // to nodes of the strip are met from the other side in their own order.
  template <typename Visit>
  bool visit_strip(std::int64_t begin, std::int64_t end, std::int64_t n_nodes, const Visit& visit) const {
    std::vector<std::int64_t> nexts(n_nodes - begin);
    const auto next = [&](std::int64_t i) -> std::int64_t& { return nexts[i - begin]; };
    for (std::int64_t i = begin; i < n_nodes; ++i) next(i) = first_from(begin, i);
    for (std::int64_t i = begin; i < end; ++i) {
      // The next opposite arcs of a row's neighbours sixteen rows early, these arcs themselves eight.
      if (i + 16 < end) {
        for (std::int64_t a = next(i + 16); a < row_start[i + 17]; ++a) prefetch(&next(column[a]));
      }
      if (i + 8 < end) {
        for (std::int64_t a = next(i + 8); a < row_start[i + 9]; ++a) prefetch_arc(next(column[a]));
      }
      for (std::int64_t a = next(i); a < row_start[i + 1]; ++a) {
        const std::int32_t j = column[a];
        if (j <= i || next(j) == row_start[j + 1] || column[next(j)] != i) return false;
        visit(a, next(j)++);
      }
    }
    for (std::int64_t i = end; i < n_nodes; ++i) {
      if (next(i) < row_start[i + 1] && column[next(i)] < end) return false;
    }
    return true;
  }

  void prefetch_arc(std::int64_t a) const {
    prefetch(column + a);
    prefetch(capacity.address(a));
  }

  // The first arc of a node to another from this one on.
  std::int64_t first_from(std::int64_t other, std::int64_t node) const {
    if (other == 0) return row_start[node];
    return std::lower_bound(column + row_start[node], column + row_start[node + 1], other) - column;
  }

  void add_opposites(const Graph& graph) {
    const std::int64_t n = graph.n_nodes;
    // Columns of each node's incoming arcs, ascending because rows are visited in order.
    std::vector<std::int64_t> in_start(n + 1, 0);
    for (std::int64_t a = 0; a < graph.row_start[n]; ++a) ++in_start[graph.column[a] + 1];
    for (std::int64_t i = 0; i < n; ++i) in_start[i + 1] += in_start[i];
    std::vector<std::int32_t> from(graph.row_start[n]);
    std::vector<std::int64_t> next(in_start.begin(), in_start.end() - 1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
        from[next[graph.column[a]]++] = static_cast<std::int32_t>(i);
      }
    }
    own_row_start_.reserve(n + 1);
    own_row_start_.push_back(0);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t out = graph.row_start[i], in = in_start[i];
      while (out < graph.row_start[i + 1] || in < in_start[i + 1]) {
        const bool take_out = out < graph.row_start[i + 1] && (in == in_start[i + 1] || graph.column[out] <= from[in]);
        const bool take_in = in < in_start[i + 1] && (!take_out || from[in] == graph.column[out]);
        const std::int32_t j = take_out ? graph.column[out] : from[in];
        if (j != i) {
          own_column_.push_back(j);
          own_capacity_.push_back(take_out ? graph.capacity[out] : 0.0);
        }
        out += take_out;
        in += take_in;
      }
      own_row_start_.push_back(static_cast<std::int64_t>(own_column_.size()));
    }
  }

  // Empty where the given ones will do.
  std::vector<std::int64_t> own_row_start_;
  std::vector<std::int32_t> own_column_;
  std::vector<double> own_capacity_, own_back_;
};

}  // namespace labelcut
