// The threshold of every group, computed anew from the given numbers once all splits are done.
//
// The splits decide who joins with whom, and nothing else is taken from them: each threshold is a quotient of compensated
// sums over the given capacities, costs and slopes, in the order of the rows. The order of groups that share arcs is kept, if
// need be by raising a threshold by its rounding error.
//
// While blocks are split, costs and slopes are counted in powers of two near the largest of them. That rounds nothing and
// keeps thresholds inside the range of a double; those beyond it in the caller's units are reported as infinite.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "numbers.hpp"
#include "pairs.hpp"
#include "parametric_cut.hpp"
#include "sum.hpp"

namespace labelcut {

// Groups of nodes that join together. A group is named by its place, which is before those of later groups it has arcs to.
struct Groups {
  explicit Groups(std::size_t n_nodes) : of(n_nodes), join_at(n_nodes, kInfinity) {}

  std::vector<std::int32_t> of;  // by node
  std::vector<double> join_at;   // by group, as the splits found it; +inf at places where no group begins
};

// The sizes of numbers that are not zero.
struct Range {
  double low = kInfinity, high = 0;
  void include(double x) {
    if (x == 0) return;
    low = std::min(low, std::abs(x));
    high = std::max(high, std::abs(x));
  }
  // Whether they lie so far apart that a carried flow would lose the small beside the large.
  bool is_wide() const { return high / low > 1e25; }
  int exponent() const { return high > 0 ? std::clamp(std::ilogb(high), -1000, 1000) : 0; }
};

// The wanted range of t as it was given. Inside, t is counted in units of 2^exponent.
struct Units {
  double t_min, t_max;
  int exponent;

  // Away from zero if t is not zero, and never infinite.
  double inside(double t) const {
    const double scaled = std::ldexp(t, -exponent);
    if (scaled == 0 && t != 0) return std::copysign(std::numeric_limits<double>::denorm_min(), t);
    return std::clamp(scaled, -kLargest, kLargest);
  }
};

// The largest double that is not above cost / slope: a node is to be outside at its own threshold, and a tiny
// quotient may have been rounded up past it.
inline double quotient(double cost, double slope) {
  constexpr double kTiny = 1e-290;
  const double t = cost / slope;
  if (std::abs(t) < kTiny && std::fma(t, slope, -cost) > 0) return std::nextafter(t, -kInfinity);
  return t;
}

// The groups of an order that are later than one that comes after them, or earlier than one before, in that order.
inline std::vector<std::int32_t> out_of_order(const std::vector<std::int32_t>& order, const std::vector<double>& by_group) {
  std::vector<double> least_from(order.size() + 1, kInfinity);
  for (std::size_t k = order.size(); k-- > 0;) least_from[k] = std::min(by_group[order[k]], least_from[k + 1]);
  std::vector<std::int32_t> found;
  double most = -kInfinity;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double t = by_group[order[k]];
    if (t < most || t > least_from[k + 1]) found.push_back(order[k]);
    most = std::max(most, t);
  }
  return found;
}

// Raises thresholds until no group is later than one that comes after it in the order and shares an arc with it. Groups that
// share none have nothing to tell each other: the rounding error of one may be the whole threshold of another. Only groups
// out of order can raise another or be raised, also by one that was raised itself.
inline void keep_order(const Graph& graph, const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& group_of,
                       std::vector<double>& by_group) {
  const std::vector<std::int32_t> concerned = out_of_order(order, by_group);
  if (concerned.empty()) return;
  const auto n = static_cast<Index>(graph.n_nodes);
  std::vector<Index> rank(n, n);
  for (Index k = 0; k < concerned.size(); ++k) rank[concerned[k]] = k;
  std::vector<Index> nodes;  // of these groups, by rank
  for (Index i = 0; i < n; ++i) {
    if (rank[group_of[i]] < n) nodes.push_back(i);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](Index i, Index j) { return rank[group_of[i]] < rank[group_of[j]]; });
  // Every arc is listed at one end: seen from the later group it looks back, from the earlier one ahead.
  for (auto begin = nodes.begin(); begin != nodes.end();) {
    const std::int32_t mine = group_of[*begin];
    const auto end = std::find_if(begin, nodes.end(), [&](Index i) { return group_of[i] != mine; });
    const auto for_each_arc = [&](const auto& visit) {
      for (auto node = begin; node != end; ++node) {
        for (std::int64_t a = graph.row_start[*node]; a < graph.row_start[*node + 1]; ++a) {
          const std::int32_t other = group_of[graph.column[a]];
          if (rank[other] < n && graph.capacity[a] > 0) visit(other);
        }
      }
    };
    double& t = by_group[mine];
    for_each_arc([&](std::int32_t other) { t = rank[other] < rank[mine] ? std::max(t, by_group[other]) : t; });
    for_each_arc([&](std::int32_t other) {
      if (rank[other] > rank[mine]) by_group[other] = std::max(by_group[other], t);
    });
    begin = end;
  }
}

// What a node adds to the cost of its group: an arc into a later group is paid, one from an earlier group is spared.
inline Sum cost_in_group(const Pairs& pairs, const double* cost, const std::vector<std::int32_t>& group_of, std::size_t i) {
  Sum total;
  total.add(cost[i]);
  for (std::int64_t a = pairs.row_start[i]; a < pairs.row_start[i + 1]; ++a) {
    const std::int32_t mine = group_of[i], other = group_of[pairs.column[a]];
    if (mine == other) continue;
    total.add(mine < other ? pairs.capacity[a] : -pairs.back[a]);
  }
  return total;
}

// The threshold of every group from the given numbers, then one number per node.
inline std::vector<double> thresholds(const Graph& graph, const Pairs& pairs, const double* cost, const double* slope,
                                      const Groups& groups, const Units& units, Crew& crew) {
  const auto n = static_cast<std::size_t>(graph.n_nodes);
  std::vector<double> by_group = groups.join_at;
  const auto is_finite = [&](std::int32_t group) { return std::isfinite(by_group[group]); };
  std::vector<Sum> node_cost(n), group_cost(n), group_slope(n);
  crew.run_ranges(n, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_finite(groups.of[i])) node_cost[i] = cost_in_group(pairs, cost, groups.of, i);
    }
  });
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_finite(groups.of[i])) continue;
    group_cost[groups.of[i]].add(node_cost[i]);
    group_slope[groups.of[i]].add(slope[i]);
  }
  std::vector<std::int32_t> order;
  for (std::size_t k = 0; k < n; ++k) {
    if (is_finite(static_cast<std::int32_t>(k))) order.push_back(static_cast<std::int32_t>(k));
  }
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    return std::make_pair(groups.join_at[a], a) < std::make_pair(groups.join_at[b], b);
  });
  for (const std::int32_t k : order) {
    const bool has_slope = group_slope[k].value() > 0;
    const double t = has_slope ? quotient(group_cost[k].value(), group_slope[k].value())
                               : std::ldexp(by_group[k], units.exponent);
    by_group[k] = std::clamp(t, units.t_min, units.t_max);
  }
  keep_order(graph, order, groups.of, by_group);
  std::vector<double> by_node(n);
  for (std::size_t i = 0; i < n; ++i) by_node[i] = by_group[groups.of[i]];
  return by_node;
}

}  // namespace labelcut
