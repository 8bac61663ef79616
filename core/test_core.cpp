// The core against enumeration of all subsets, and of all distances, without Python: what `make sanitize` runs.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "equal_rows.hpp"
#include "grouping.hpp"
#include "make_block.hpp"
#include "neighbors.hpp"
#include "pairs.hpp"
#include "parametric_cut.hpp"
#include "symmetry.hpp"
#include "thresholds.hpp"
#include "tile.hpp"

namespace {

using labelcut::kInfinity;

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

// Every node is joined to `n_chords` others anywhere, and pulled up or down by chance: most of them join together.
Problem web(int n, int n_chords) {
  std::mt19937 random(9);
  std::vector<std::vector<std::int32_t>> ends(n);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n_chords; ++k) {
      const int j = std::uniform_int_distribution<int>(0, n - 1)(random);
      ends[i].push_back(j);
      ends[j].push_back(i);
    }
  }
  Problem problem;
  for (int i = 0; i < n; ++i) {
    std::sort(ends[i].begin(), ends[i].end());
    ends[i].erase(std::unique(ends[i].begin(), ends[i].end()), ends[i].end());
    for (const std::int32_t j : ends[i]) {
      problem.column.push_back(j);
      problem.capacity.push_back(0.1 + ((i ^ j) & 3));
    }
    problem.row_start.push_back(static_cast<std::int64_t>(problem.column.size()));
    problem.cost.push_back(std::uniform_int_distribution<int>(-6, 6)(random));
    problem.slope.push_back(1 + i % 3);
  }
  return problem;
}

// Large enough for threads to share searches, sweeps and trees.
void threads_change_nothing() {
  for (const Problem& problem : {ring(70000), ring(70000, false), web(70000, 3)}) {
    const std::vector<double> one = problem.solve(1);
    expect(one == problem.solve(2) && one == problem.solve(4), "the same answer for any number of threads");
  }
}

// Every arc with its opposite, whatever strip of rows they are met in; one in three graphs lacks a single opposite.
void arcs_are_paired_by_any_number_of_threads() {
  std::mt19937 random(10);
  const labelcut::Poll nothing = [](std::int64_t) {};
  for (int trial = 0; trial < 600; ++trial) {
    const int n = 1 + trial % 17;
    const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
    std::vector<double> wanted(static_cast<std::size_t>(n * n), -1.0);  // no arc
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        if (random() % 3 == 0) wanted[at(i, j)] = wanted[at(j, i)] = static_cast<double>(random() % 4);
        if (trial % 2 == 0 && wanted[at(i, j)] >= 0) wanted[at(j, i)] = static_cast<double>(random() % 4);
      }
    }
    std::vector<double> given = wanted;
    if (trial % 3 == 0) {
      const std::size_t lost = random() % given.size();
      const auto i = static_cast<int>(lost) / n, j = static_cast<int>(lost) % n;
      if (given[lost] >= 0) wanted[lost] = 0;
      given[lost] = i == j ? 1.0 : -1.0;  // an arc is lost, or one from a node to itself is to be
    }
    Problem problem;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (given[at(i, j)] < 0) continue;
        problem.column.push_back(j);
        problem.capacity.push_back(given[at(i, j)]);
      }
      problem.row_start.push_back(static_cast<std::int64_t>(problem.column.size()));
      problem.cost.push_back(0);
    }
    for (const int n_threads : {1, 2, 3, 5}) {
      labelcut::Pace pace(nothing);
      labelcut::Crew crew(n_threads, pace, [] { return false; });
      const labelcut::Pairs pairs(problem.graph(), crew);
      for (int i = 0; i < n; ++i) {
        std::int64_t a = pairs.row_start[i];
        for (int j = 0; j < n; ++j) {
          if (wanted[at(i, j)] < 0) continue;
          const bool is_it = a < pairs.row_start[i + 1] && pairs.column[a] == j && pairs.capacity[a] == wanted[at(i, j)];
          expect(is_it && pairs.back[a] == wanted[at(j, i)], "every arc has its opposite");
          ++a;
        }
        expect(a == pairs.row_start[i + 1], "there is no other arc");
      }
    }
  }
}

// The nodes of one of three groups, with what they pay for their arcs to the others, as read off the list of pairs.
void the_first_block_holds_one_group_for_any_number_of_threads() {
  std::mt19937 random(12);
  const labelcut::Poll nothing = [](std::int64_t) {};
  for (int trial = 0; trial < 500; ++trial) {
    const int n = 1 + trial % 30;
    const Problem problem = random_problem(random, n, 2);
    std::vector<int> group_of;
    for (int i = 0; i < n; ++i) group_of.push_back(static_cast<int>(random() % 3));
    const labelcut::Grouping grouping(group_of, 3);
    for (const int n_threads : {1, 2, 3, 5}) {
      labelcut::Pace pace(nothing);
      labelcut::Crew crew(n_threads, pace, [] { return false; });
      const labelcut::Pairs pairs(problem.graph(), crew);
      const auto block = labelcut::first_block(pairs, problem.cost.data(), grouping, 1, crew);
      expect(block->size() == grouping.size(1) && block->position == grouping.start[1], "all nodes of the group, and no other");
      for (labelcut::Index k = 0; k < block->size(); ++k) {
        const std::int32_t i = block->id[k];
        expect(group_of[i] == 1 && (k == 0 || block->id[k - 1] < i), "nodes are those of the group, in order");
        double base = -problem.cost[i];
        std::uint64_t mine = block->first[k];
        for (std::int64_t a = pairs.row_start[i]; a < pairs.row_start[i + 1]; ++a) {
          const int other = group_of[pairs.column[a]];
          if (other != 1) base += other < 1 ? pairs.back[a] : -pairs.capacity[a];
          if (other != 1) continue;
          const labelcut::Index to = block->head[mine] & labelcut::head::kTo;
          const bool has_room = (block->head[mine] & labelcut::head::kHasRoom) != 0;
          const bool mate_has_room = (block->head[mine] & labelcut::head::kMateHasRoom) != 0;
          expect(block->id[to] == pairs.column[a] && block->room[mine] == pairs.capacity[a], "arcs inside are kept");
          expect(has_room == (pairs.capacity[a] > 0) && mate_has_room == (pairs.back[a] > 0), "flags say what has room");
          const std::uint64_t mate = block->mate_of(mine);
          expect(block->first[to] <= mate && mate < block->first[to + 1] && block->mate_of(mate) == mine, "mates are mutual");
          expect((block->head[mate] & labelcut::head::kTo) == k, "a mate leads back");
          ++mine;
        }
        expect(mine == block->first[k + 1], "there is no other arc in a block");
        expect(block->held[k].base == base && block->held[k].excess == base, "arcs to other groups are paid or spared");
      }
    }
  }
}

// What is out of order by rounding, and where it is looked for at all groups, one after the other.
void order_is_kept_as_by_looking_at_all_groups() {
  std::mt19937 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = 2 + trial % 30;
    const Problem problem = random_problem(random, n, 2);
    std::vector<std::int32_t> group_of, order;
    for (int i = 0; i < n; ++i) group_of.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(n)));
    std::vector<double> given(static_cast<std::size_t>(n), kInfinity);
    for (std::int32_t k = 0; k < n; ++k) {
      if (random() % 5 == 0) continue;  // never joins
      order.push_back(k);
      given[static_cast<std::size_t>(k)] = k + static_cast<double>(random() % 4);
    }
    std::vector<double> kept = given, plain = given;
    labelcut::keep_order(problem.graph(), order, group_of, kept);
    const auto for_each_arc_of = [&](std::int32_t group, const auto& visit) {
      for (int i = 0; i < n; ++i) {
        for (std::int64_t a = problem.row_start[i]; a < problem.row_start[i + 1]; ++a) {
          const std::int32_t other = group_of[problem.column[a]];
          if (group_of[i] == group && problem.capacity[a] > 0 && given[other] < kInfinity) visit(other);
        }
      }
    };
    for (const std::int32_t k : order) {
      for_each_arc_of(k, [&](std::int32_t other) { plain[k] = other < k ? std::max(plain[k], plain[other]) : plain[k]; });
      for_each_arc_of(k, [&](std::int32_t other) { plain[other] = other > k ? std::max(plain[other], plain[k]) : plain[other]; });
    }
    expect(kept == plain, "thresholds are raised as by looking at all groups");
  }
}

void most_of_a_web_joins_together() {
  std::vector<double> join_at = web(70000, 3).solve();
  std::sort(join_at.begin(), join_at.end());
  expect(join_at[join_at.size() / 4] == join_at[join_at.size() / 2], "most nodes of a web join together");
}

void floats_are_cut_as_the_same_doubles() {
  Problem problem = ring(5000);
  std::vector<float> floats;
  for (std::size_t a = 0; a < problem.capacity.size(); ++a) floats.push_back(0.1f * static_cast<float>(a % 7));
  problem.capacity.assign(floats.begin(), floats.end());
  labelcut::Graph graph = problem.graph();
  graph.capacity = floats.data();
  const auto join_at = labelcut::solve_path(graph, problem.cost.data(), problem.slope.data(), -kInfinity, kInfinity, 1,
                                            [](std::int64_t) {});
  expect(join_at == problem.solve(), "the same answer for floats and the same doubles");
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

// Small whole numbers: no bound and no distance is rounded, so all kinds of loops have to agree to the last bit.
void all_loops_of_this_processor_agree() {
  std::vector<labelcut::Loops> kinds = {labelcut::plain_loops, labelcut::loops()};
#ifdef LABELCUT_X86
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kinds.push_back(labelcut::avx2_loops);
#endif
  std::mt19937 random(3);
  const auto draw = [&random](auto& numbers) {
    for (auto& x : numbers) x = static_cast<std::decay_t<decltype(x)>>(static_cast<int>(random() % 9) - 4);
  };
  const auto hits = [&](const labelcut::Loops& kind, auto lane, std::size_t n_columns, unsigned seed) {
    using Number = decltype(lane);
    random.seed(seed);
    std::vector<Number> factor(n_columns * labelcut::kQueriesAtOnce), limit(labelcut::kQueriesAtOnce);
    std::vector<Number> table(3 * (1 + n_columns) * labelcut::kLanes<Number>);
    draw(factor), draw(limit), draw(table);
    table[1] = std::numeric_limits<Number>::quiet_NaN();
    limit[0] = std::numeric_limits<Number>::infinity();
    std::vector<std::uint32_t> found(3 * labelcut::kQueriesAtOnce);
    kind.scan(labelcut::Tile<Number>{n_columns, 3, factor.data(), limit.data(), table.data(), found.data()});
    expect((found[0] & 2u) == 0, "what is no number is at most no limit");
    return found;
  };
  const auto away = [&](const labelcut::Loops& kind, std::size_t n_columns, unsigned seed) {
    random.seed(seed);
    std::vector<double> point(n_columns * labelcut::kPointsAtOnce), center(2 * n_columns * labelcut::kLanes<double>);
    draw(point), draw(center);
    std::vector<double> squared(2 * labelcut::kPointsAtOnce * labelcut::kLanes<double>);
    kind.measure({n_columns, 2, point.data(), center.data(), squared.data()});
    return squared;
  };
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::size_t n_columns = 1 + seed % 23;
    for (const labelcut::Loops& kind : kinds) {
      expect(hits(kind, 0.0f, n_columns, seed) == hits(kinds[0], 0.0f, n_columns, seed), "the same hits among floats");
      expect(hits(kind, 0.0, n_columns, seed) == hits(kinds[0], 0.0, n_columns, seed), "the same hits among doubles");
      expect(away(kind, n_columns, seed) == away(kinds[0], n_columns, seed), "the same distances from centers");
    }
  }
}

// Rows of small whole numbers, many of them equal, in cells of any size; asked for all of their others by one thread and by two.
template <typename Row, typename Number>
void the_nearest_rows_are_those_of_all_distances() {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t n_given = 2 + static_cast<std::int64_t>(random() % 60), n_columns = 1 + trial % 9;
    std::vector<double> given(static_cast<std::size_t>(n_given * n_columns));
    for (double& x : given) x = static_cast<double>(random() % 3);
    std::vector<std::int32_t> number(static_cast<std::size_t>(n_given));
    const std::int64_t n = labelcut::number_equal_rows(given.data(), n_given, n_columns, number.data());
    std::vector<Row> rows;
    std::vector<std::int32_t> equal;
    std::vector<std::int64_t> equal_start{0};
    for (std::int32_t d = 0; d < n; ++d) {
      const auto first = std::find(number.begin(), number.end(), d) - number.begin();
      for (std::int64_t h = 0; h < n_columns; ++h) rows.push_back(static_cast<Row>(given[static_cast<std::size_t>(first * n_columns + h)]));
      for (std::int32_t i = 0; i < n_given; ++i) {
        if (number[static_cast<std::size_t>(i)] == d) equal.push_back(i);
      }
      equal_start.push_back(static_cast<std::int64_t>(equal.size()));
    }
    const labelcut::DistinctRows<Row> distinct{n, n_columns, rows.data(), equal.data(), equal_start.data()};
    std::vector<double> center(static_cast<std::size_t>(n_columns), 1.0);
    std::vector<std::int32_t> column(static_cast<std::size_t>(n_columns));
    std::iota(column.begin(), column.end(), 0);
    const labelcut::Shortening shortening{n_columns, 1 + trial % n_columns, center.data(), column.data(), 0.5};
    const std::size_t n_short = static_cast<std::size_t>(shortening.n_short());
    std::vector<std::int64_t> start{0};
    while (start.back() < n) start.push_back(std::min<std::int64_t>(n, start.back() + 1 + static_cast<std::int64_t>(random() % 20)));
    const std::size_t n_cells = start.size() - 1;
    // A cell around its first row, as wide as it has to be.
    std::vector<double> centers(n_cells * n_short), radius(n_cells, 0.0), point(n_short);
    for (std::size_t c = 0; c < n_cells; ++c) {
      double* const middle = centers.data() + c * n_short;
      shortening.shorten(distinct.row(start[c]), middle);
      for (std::int64_t i = start[c]; i < start[c + 1]; ++i) {
        shortening.shorten(distinct.row(i), point.data());
        const double squared = labelcut::squared_distance(point.data(), middle, static_cast<std::int64_t>(n_short));
        radius[c] = std::max(radius[c], std::sqrt(squared));
      }
    }
    const auto n_lanes = static_cast<std::int64_t>(labelcut::kLanes<Number>);
    const auto n_all = static_cast<std::int64_t>(n_cells);
    std::vector<Number> table(static_cast<std::size_t>(labelcut::table_size(start.data(), n_all, shortening.n_short(), n_lanes)));
    labelcut::pack_cells(distinct, shortening, start.data(), n_all, table.data());
    const labelcut::Cells<Number> cells{n_all, start.data(), centers.data(), radius.data(), table.data()};
    const std::int64_t k = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(n_given - 1));
    for (const int n_threads : {1, 2}) {
      std::vector<std::int32_t> nearest(static_cast<std::size_t>(n_given * k));
      std::vector<Row> distance(nearest.size());
      labelcut::search(distinct, shortening, cells, labelcut::Queries<Row>{0, nullptr, k, n_all}, n_threads, [](std::int64_t) {},
                       labelcut::Nearest<Row>{nearest.data(), distance.data()});
      for (std::int32_t i = 0; i < n_given; ++i) {
        std::vector<std::pair<double, std::int32_t>> others;
        for (std::int32_t j = 0; j < n_given; ++j) {
          if (j == i) continue;
          others.push_back({labelcut::squared_distance(&given[static_cast<std::size_t>(i * n_columns)],
                                                       &given[static_cast<std::size_t>(j * n_columns)], n_columns), j});
        }
        std::sort(others.begin(), others.end());
        for (std::int64_t f = 0; f < k; ++f) {
          const auto at = static_cast<std::size_t>(i * k + f);
          expect(nearest[at] == others[static_cast<std::size_t>(f)].second, "the nearest rows, ties by number");
          expect(distance[at] == static_cast<Row>(std::sqrt(others[static_cast<std::size_t>(f)].first)), "and how far they are");
        }
      }
    }
  }
}

// 0 and 1 choose each other, 2 chooses both with a weight of 0 for one of them, 3 is chosen by none and chooses none.
void a_graph_is_made_symmetric_in_place() {
  const std::vector<std::int64_t> start{0, 1, 2, 4, 4};
  std::vector<std::int32_t> column{1, 0, 1, 0};
  std::vector<float> weight{1, 3, 0, 4};
  std::vector<std::int64_t> new_start(5);
  labelcut::prepare_symmetry(labelcut::Lists<float>{4, start.data(), column.data(), weight.data()}, new_start.data());
  expect(new_start == std::vector<std::int64_t>{0, 2, 4, 6, 6}, "rows grow by those that chose them");
  column.resize(6);
  weight.resize(6);
  labelcut::symmetrise(labelcut::Lists<float>{4, start.data(), column.data(), weight.data()}, true, new_start.data());
  expect(new_start == std::vector<std::int64_t>{0, 2, 3, 4, 4}, "weights of 0 are left out");
  column.resize(4);
  weight.resize(4);
  expect(column == std::vector<std::int32_t>{1, 2, 0, 0} && weight == std::vector<float>{2, 2, 2, 2}, "the mean of both");
  std::vector<std::int32_t> part(4);
  expect(labelcut::number_parts(4, new_start.data(), column.data(), part.data()) == 2, "two parts");
  expect(part == std::vector<std::int32_t>{0, 0, 0, 1}, "in the order of their first rows");
}

}  // namespace

int main() {
  all_loops_of_this_processor_agree();
  the_nearest_rows_are_those_of_all_distances<float, float>();
  the_nearest_rows_are_those_of_all_distances<double, float>();
  the_nearest_rows_are_those_of_all_distances<double, double>();
  a_graph_is_made_symmetric_in_place();
  no_subset_is_cheaper();
  no_subset_is_cheaper_among_many_copies();
  threads_change_nothing();
  arcs_are_paired_by_any_number_of_threads();
  the_first_block_holds_one_group_for_any_number_of_threads();
  order_is_kept_as_by_looking_at_all_groups();
  most_of_a_web_joins_together();
  floats_are_cut_as_the_same_doubles();
  a_range_only_cuts_off();
  a_throwing_poll_stops_the_solver();
  a_crowd_is_sure_where_none_of_its_nodes_is();
  a_routed_flow_respects_capacities();
  expect(Problem().solve().empty(), "an empty problem has an empty answer");
  std::puts("core: all tests passed");
}
