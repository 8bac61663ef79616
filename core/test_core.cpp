// The core against enumeration of all subsets, without Python: what `make sanitize` runs.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "parametric_cut.hpp"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Problem {
  std::vector<std::int64_t> row_start{0};
  std::vector<std::int32_t> column;
  std::vector<double> capacity, cost, slope;

  labelcut::Graph graph() const {
    return {static_cast<std::int64_t>(cost.size()), row_start.data(), column.data(), capacity.data()};
  }
  std::vector<double> solve(int n_threads = 1, double t_min = -kInfinity, double t_max = kInfinity) const {
    return labelcut::solve_path(graph(), cost.data(), slope.data(), t_min, t_max, n_threads, [](std::int64_t) {});
  }
  double value(unsigned long side, double t) const {
    double total = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
      if (!(side >> i & 1)) continue;
      total += cost[i] - t * slope[i];
      for (std::int64_t a = row_start[i]; a < row_start[i + 1]; ++a) {
        if (!(side >> column[a] & 1)) total += capacity[a];
      }
    }
    return total;
  }
};

void expect(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

Problem random_problem(std::mt19937& random, int n, int n_values) {
  const auto draw = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Problem problem;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (draw(0, 2) > 0) continue;
      problem.column.push_back(j);
      problem.capacity.push_back(draw(0, n_values));
    }
    problem.row_start.push_back(static_cast<std::int64_t>(problem.column.size()));
    problem.cost.push_back(draw(-n_values, n_values));
    problem.slope.push_back(draw(0, n_values));
  }
  return problem;
}

// A ring of equal weights whose nodes are pulled up and down in turn: many ties, one large block. Slope is in every node or
// in every fifth.
Problem ring(int n, bool has_slope_everywhere = true) {
  Problem problem;
  for (int i = 0; i < n; ++i) {
    const int before = (i + n - 1) % n, after = (i + 1) % n;
    problem.column.push_back(std::min(before, after));
    problem.column.push_back(std::max(before, after));
    problem.capacity.insert(problem.capacity.end(), {1.0, 1.0});
    problem.row_start.push_back(static_cast<std::int64_t>(problem.column.size()));
    problem.cost.push_back((i / 3) % 7 - 3);
    problem.slope.push_back(has_slope_everywhere || i % 5 == 0 ? 1 + i % 2 : 0);
  }
  return problem;
}

void no_subset_is_cheaper() {
  std::mt19937 random(7);
  for (int trial = 0; trial < 3000; ++trial) {
    const int n = 1 + trial % 8;
    const Problem problem = random_problem(random, n, 1 + trial % 5);
    const std::vector<double> join_at = problem.solve();
    for (double t = -3.1; t < 3.2; t += 0.31) {
      unsigned long side = 0;
      for (int i = 0; i < n; ++i) side |= static_cast<unsigned long>(t > join_at[i]) << i;
      double best = kInfinity;
      for (unsigned long other = 0; other < 1ul << n; ++other) best = std::min(best, problem.value(other, t));
      expect(std::abs(problem.value(side, t) - best) < 1e-9, "no subset is cheaper than the returned cut");
    }
  }
}

// Enough nodes for the core to balance them, where all have slope, and to take them apart; every copy must be cut as if it
// were alone.
void no_subset_is_cheaper_among_many_copies() {
  constexpr int kCopies = 20;
  std::mt19937 random(8);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 4 + trial % 5;
    Problem one = random_problem(random, n, 1 + trial % 5);
    if (trial % 2 == 0) {
      for (double& m : one.slope) m += m == 0;
    }
    Problem crowd;
    for (int copy = 0; copy < kCopies; ++copy) {
      for (int i = 0; i < n; ++i) {
        for (std::int64_t a = one.row_start[i]; a < one.row_start[i + 1]; ++a) {
          crowd.column.push_back(one.column[a] + copy * n);
          crowd.capacity.push_back(one.capacity[a]);
        }
        crowd.row_start.push_back(static_cast<std::int64_t>(crowd.column.size()));
        crowd.cost.push_back(one.cost[i]);
        crowd.slope.push_back(one.slope[i]);
      }
    }
    const std::vector<double> join_at = crowd.solve();
    for (double t = -3.1; t < 3.2; t += 0.31) {
      double best = kInfinity;
      for (unsigned long side = 0; side < 1ul << n; ++side) best = std::min(best, one.value(side, t));
      for (int copy = 0; copy < kCopies; ++copy) {
        unsigned long side = 0;
        for (int i = 0; i < n; ++i) side |= static_cast<unsigned long>(t > join_at[copy * n + i]) << i;
        expect(std::abs(one.value(side, t) - best) < 1e-9, "no subset of a copy is cheaper");
      }
    }
  }
}

void threads_change_nothing() {
  for (const bool has_slope_everywhere : {true, false}) {
    const Problem problem = ring(50000, has_slope_everywhere);
    const std::vector<double> one = problem.solve(1);
    expect(one == problem.solve(2) && one == problem.solve(4), "the same answer for any number of threads");
  }
}

void a_range_only_cuts_off() {
  for (const bool has_slope_everywhere : {true, false}) {
    const Problem problem = ring(5000, has_slope_everywhere);
    const std::vector<double> all = problem.solve(1), some = problem.solve(1, -0.5, 0.5);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double wanted = all[i] < -0.5 ? -kInfinity : all[i] >= 0.5 ? kInfinity : all[i];
      expect(std::abs(some[i] - wanted) < 1e-12 || some[i] == wanted, "a narrow range agrees with the whole one");
    }
  }
}

void a_throwing_poll_stops_the_solver() {
  for (const bool has_slope_everywhere : {true, false}) {
    const Problem problem = ring(2000000, has_slope_everywhere);
    bool was_stopped = false;
    try {
      labelcut::solve_path(problem.graph(), problem.cost.data(), problem.slope.data(), -kInfinity, kInfinity, 2,
                           [](std::int64_t) { throw std::runtime_error("enough"); });
    } catch (const std::runtime_error&) {
      was_stopped = true;
    }
    expect(was_stopped, "an exception from poll comes back to the caller");
  }
}

// Four nodes that hold 2 or lack 2 each, more than the arcs to the rest but less than those among them: none is sure
// alone, all are together. A fifth has slope.
void a_crowd_is_sure_where_none_of_its_nodes_is() {
  for (const double cost : {-2.0, 2.0}) {
    Problem problem;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        if (i == j) continue;
        problem.column.push_back(j);
        problem.capacity.push_back(1);
      }
      problem.row_start.push_back(static_cast<std::int64_t>(problem.column.size()));
      problem.cost.push_back(i < 4 ? cost : 0);
      problem.slope.push_back(i < 4 ? 0 : 1);
    }
    const double end = cost < 0 ? -kInfinity : kInfinity;
    expect(problem.solve() == std::vector<double>{end, end, end, end, cost * 2}, "a crowd is sure, its neighbour is not");
  }
}

void a_routed_flow_respects_capacities() {
  const Problem problem = ring(1000);
  const std::vector<double> flow = labelcut::route(problem.graph(), problem.cost.data(), [](std::int64_t) {});
  bool moves = false;
  for (std::size_t a = 0; a < flow.size(); ++a) {
    expect(flow[a] >= 0 && flow[a] <= problem.capacity[a], "0 <= flow <= capacity");
    moves = moves || flow[a] > 0;
  }
  expect(moves, "something flows");
}

}  // namespace

int main() {
  no_subset_is_cheaper();
  no_subset_is_cheaper_among_many_copies();
  threads_change_nothing();
  a_range_only_cuts_off();
  a_throwing_poll_stops_the_solver();
  a_crowd_is_sure_where_none_of_its_nodes_is();
  a_routed_flow_respects_capacities();
  expect(Problem().solve().empty(), "an empty problem has an empty answer");
  std::puts("core: all tests passed");
}
