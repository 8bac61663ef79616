#include "parametric_cut.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "balance.hpp"
#include "block.hpp"
#include "components.hpp"
#include "crew.hpp"
#include "flow.hpp"
#include "pairs.hpp"
#include "split.hpp"
#include "sure.hpp"

namespace labelcut {
namespace {

// The trade-off t in units of 2^unit: away from zero if it is not zero, and never infinite.
double in_units(double t, int unit) {
  const double inside = std::ldexp(t, -unit);
  if (inside == 0 && t != 0) return std::copysign(std::numeric_limits<double>::denorm_min(), t);
  return std::clamp(inside, -kLargest, kLargest);
}

// Splits blocks until every node is settled.
class Solver {
 public:
  // Inside, t is counted in units of 2^t_unit.
  Solver(std::int64_t n_nodes, double t_min, double t_max, int t_unit, int n_threads, const Poll& poll)
      : t_unit_(t_unit),
        t_min_(in_units(t_min, t_unit)),
        t_max_(in_units(t_max, t_unit)),
        given_t_min_(t_min),
        given_t_max_(t_max),
        group_of_(static_cast<std::size_t>(n_nodes)),
        join_at_(static_cast<std::size_t>(n_nodes), kInfinity),
        pace_(poll),
        crew_(n_threads, pace_, [this] { return divide_one(); }) {}

  // Settles the nodes that join always or never, unless numbers lie far apart; returned are the others before any flow.
  std::unique_ptr<Block> settle_sure(const Graph& graph, const double* cost, const double* slope, bool is_wide);

  void run(std::unique_ptr<Block> root) {
    if (root->size() > 0) {
      move_to_mean(*root);
      add(std::move(root));
    }
    crew_.work_until([this] { return n_open_ == 0; });
    crew_.rethrow_failure();
  }

  // The threshold of every group from the given numbers, then one number per node.
  std::vector<double> join_at(const Graph& graph, const double* cost, const double* slope) const;

 private:
  static constexpr Index kSmallBlock = 10000;

  void move_to_mean(Block& block) const;

  // All nodes of a group join at t.
  void settle(const Block& block, const Grouping& grouping, std::size_t group, double t) {
    const std::int64_t position = block.position + grouping.start[group];
    for (Index k = grouping.start[group]; k < grouping.start[group + 1]; ++k) {
      group_of_[block.id[grouping.node_at[k]]] = static_cast<std::int32_t>(position);
    }
    // By rounding, low may be above high.
    const double inside = std::min(std::max(t, block.low), block.high);
    if (grouping.size(group) > 0) join_at_[position] = std::isfinite(t) ? inside : t;
    pace_.settled(grouping.size(group));
  }

  static bool is_smaller(const std::unique_ptr<Block>& a, const std::unique_ptr<Block>& b) { return a->size() < b->size(); }

  void add(std::unique_ptr<Block> block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++n_open_;
    waiting_.push_back(std::move(block));
    std::push_heap(waiting_.begin(), waiting_.end(), is_smaller);
  }

  // Splits the largest block that waits; a small one with all that comes of it.
  bool divide_one() {
    std::vector<std::unique_ptr<Block>> mine;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (waiting_.empty()) return false;
      std::pop_heap(waiting_.begin(), waiting_.end(), is_smaller);
      mine.push_back(std::move(waiting_.back()));
      waiting_.pop_back();
    }
    while (!mine.empty()) {
      auto block = std::move(mine.back());
      mine.pop_back();
      const bool is_small = block->size() < kSmallBlock;
      for (auto& child : divide(std::move(block), is_small ? nobody_ : crew_)) {
        if (is_small) {
          mine.push_back(std::move(child));
        } else {
          add(std::move(child));
        }
      }
    }
    --n_open_;
    return true;
  }

  // Settles what it can and returns the parts that are blocks again.
  std::vector<std::unique_ptr<Block>> divide(std::unique_ptr<Block> block, Crew& crew) {
    if (const auto components = find_components(*block)) return take_apart(*block, *components);
    if (Balance::is_worthwhile(*block)) return cut_along_gaps(*block);
    return cut_at_threshold(std::move(block), crew);
  }

  // Each group goes on by itself: no arc with room leads from it to a later one.
  std::vector<std::unique_ptr<Block>> take_apart(const Block& block, const Grouping& groups) {
    std::vector<std::unique_ptr<Block>> children;
    for (std::size_t k = 0; k < groups.n_groups(); ++k) {
      if (groups.size(k) == 1 && settle_alone(block, groups, k)) continue;
      children.push_back(extract(block, groups, k));
    }
    return children;
  }

  // As many cuts as balance finds.
  std::vector<std::unique_ptr<Block>> cut_along_gaps(Block& block) {
    const Grouping pieces = Balance(block, pace_).run();
    block.is_balanced = true;
    return take_apart(block, pieces);
  }

  // The cut at the block's own threshold, by one flow.
  std::vector<std::unique_ptr<Block>> cut_at_threshold(std::unique_ptr<Block> block, Crew& crew) {
    const Grouping parts = split(*block, Flow(*block, crew, pace_).run(), crew, pace_);
    std::vector<std::unique_ptr<Block>> children(2);
    const auto place = [&](Part part, bool is_outside) {
      const Index n = parts.size(part);
      if (is_outside) {
        settle(*block, parts, part, part == kEarly ? -kInfinity : kInfinity);
      } else if (!has_slope(*block, parts, part)) {
        const double end = part == kEarly ? block->low : block->high;
        // What joins always or never is settled already: only rounding says so here.
        settle(*block, parts, part, std::isfinite(end) || block->is_careful() ? end : block->t);
      } else if (n == block->size() && nudge(*block, part)) {
        children[part == kLate] = std::move(block);
      } else if (n == block->size()) {  // nothing was split off: only rounding says that it is apart from t
        settle(*block, parts, part, block->t);
      } else {
        children[part == kLate] = extract(*block, parts, part);
        (part == kEarly ? children[0]->high : children[1]->low) = block->t;
      }
    };
    settle(*block, parts, kTied, block->t < t_max_ ? block->t : kInfinity);
    crew.run(2, [&](std::size_t k) {
      if (k == 0 && parts.size(kEarly) > 0) place(kEarly, block->t <= t_min_);
      if (k == 1 && parts.size(kLate) > 0) place(kLate, block->t >= t_max_);
    });
    children.erase(std::remove(children.begin(), children.end(), nullptr), children.end());
    return children;
  }

  // Settles a single node, unless its threshold is outside the wanted range or takes care. A node that makes no difference
  // is last.
  bool settle_alone(const Block& block, const Grouping& grouping, std::size_t group) {
    const Index i = grouping.node_at[grouping.start[group]];
    const double base = block.held[i].base, slope = block.slope[i];
    const double t = slope > 0 ? -base / slope : base > 0 ? block.low : block.high;
    const bool is_clear = slope > 0 ? t_min_ < t && t < t_max_ : !block.is_careful();
    if (is_clear) settle(block, grouping, group, t);
    return is_clear;
  }

  double clip(double t) const { return std::min(std::max(t, t_min_), t_max_); }
  std::unique_ptr<Block> extract(const Block& block, const Grouping& grouping, std::size_t group) const;
  bool nudge(Block& block, Part part) const;

  const int t_unit_;
  const double t_min_;
  const double t_max_;
  const double given_t_min_;  // in the caller's units
  const double given_t_max_;
  // A group of nodes that join together is named by its place, which is before those of later groups it has arcs to.
  std::vector<std::int32_t> group_of_;  // by node
  std::vector<double> join_at_;         // by group; +inf at places where no group begins
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> waiting_;  // a heap, largest first
  std::atomic<int> n_open_{0};                   // blocks waiting or being split
  Pace pace_;
  Crew nobody_{1, pace_, [] { return false; }};
  Crew crew_;  // last: its threads use all of the above
};

std::unique_ptr<Block> Solver::settle_sure(const Graph& graph, const double* cost, const double* slope, bool is_wide) {
  Block all;
  all.id.resize(graph.n_nodes);
  std::iota(all.id.begin(), all.id.end(), 0);
  const Pairs pairs(graph);
  const auto n = static_cast<Index>(graph.n_nodes);
  Grouping known(std::vector<Known::Is>(n, Known::kOpen), Known::kNumberOf);
  if (!is_wide) crew_.lead([&] { known = Sure(pairs, cost, slope, n, pace_).run(crew_); });
  settle(all, known, Known::kAlways, -kInfinity);
  settle(all, known, Known::kNever, kInfinity);
  auto others = first_block(pairs, cost, known, Known::kOpen);
  for (const std::int32_t i : others->id) others->slope.push_back(slope[i]);
  return others;
}

// Gives a child of a careful block a start of its own: it is charged for the arcs to the rest of its parent (an arc to a
// later node is paid, one from an earlier node is spared). Slower than to go on from the parent's flow, but a node that a
// large flow has crossed keeps its small numbers.
void start_anew(const Block& block, const Grouping& parts, std::size_t part, Block& child) {
  for (Index k = parts.start[part]; k < parts.start[part + 1]; ++k) {
    const Index i = parts.node_at[k];
    Sum base;
    base.add(block.first_base[i]);
    double scale = block.scale[i];
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Index j = block.head[a] & head::kTo;
      if (parts.has(part, j)) {
        child.capacity.push_back(block.capacity[a]);
        continue;
      }
      const bool is_earlier = parts.place[j] < parts.start[part];
      const double charge = is_earlier ? block.capacity[block.mate_of(a)] : -block.capacity[a];
      base.add(charge);
      scale += std::abs(charge);
    }
    child.first_base.push_back(base.value());
    child.scale.push_back(scale);
  }
  child.undo_flow();
}

// Moves a careful block's t a little towards the part that took all of it, for another flow. False if the other part took
// all a moment ago: then the block is one group, as far as doubles can tell.
bool Solver::nudge(Block& block, Part part) const {
  constexpr double kStep = 16 * std::numeric_limits<double>::epsilon(), kSmallest = 1e-300, kGrowth = 64;
  const double sign = part == kLate ? 1.0 : -1.0;
  if (!block.is_careful() || block.nudge * sign < 0) return false;
  const double step = std::max({kStep * std::abs(block.t), kGrowth * std::abs(block.nudge), kSmallest});
  const double t = clip(block.t + sign * step);
  if (t == block.t || !(block.low < t && t < block.high)) return false;
  block.nudge = t - block.t;
  block.undo_flow();
  block.move_to(t, false);
  return true;
}

// The block of one group, moved to its own threshold.
std::unique_ptr<Block> Solver::extract(const Block& block, const Grouping& grouping, std::size_t group) const {
  auto child = copy_group(block, grouping, group);
  child->low = block.low;
  child->high = block.high;
  child->position = block.position + grouping.start[group];
  child->is_balanced = block.is_balanced;
  if (block.is_careful()) start_anew(block, grouping, group, *child);
  move_to_mean(*child);
  return child;
}

// Moves a block to the t at which its excesses add up to nothing.
void Solver::move_to_mean(Block& block) const {
  Sum base, slope;
  for (const Holding& held : block.held) base.add(held.base);
  for (const double m : block.slope) slope.add(m);
  const double mean = slope.value() > 0 ? -base.value() / slope.value() : 0.0;
  block.move_to(clip(mean), slope.value() > 0 && clip(mean) == mean);
}

// The largest double that is not above cost / slope: a node is to be outside at its own threshold, and a tiny
// quotient may have been rounded up past it.
double quotient(double cost, double slope) {
  constexpr double kTiny = 1e-290;
  const double t = cost / slope;
  if (std::abs(t) < kTiny && std::fma(t, slope, -cost) > 0) return std::nextafter(t, -kInfinity);
  return t;
}

bool is_in_order(const std::vector<std::int32_t>& order, const std::vector<double>& by_group) {
  return std::is_sorted(order.begin(), order.end(), [&](auto a, auto b) { return by_group[a] < by_group[b]; });
}

// Raises thresholds until no group is later than one that comes after it in the order and shares an arc with it. Groups that
// share none have nothing to tell each other: the rounding error of one may be the whole threshold of another.
void keep_order(const Graph& graph, const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& group_of,
                std::vector<double>& by_group) {
  const auto n = static_cast<Index>(graph.n_nodes);
  const Grouping nodes(group_of, n);
  std::vector<Index> rank(n, n);  // of the groups that join at a finite t
  for (Index k = 0; k < order.size(); ++k) rank[order[k]] = k;
  const auto for_each_arc = [&](std::int32_t group, const auto& visit) {
    for (Index p = nodes.start[group]; p < nodes.start[group + 1]; ++p) {
      const Index i = nodes.node_at[p];
      for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
        const std::int32_t other = group_of[graph.column[a]];
        if (rank[other] < n && graph.capacity[a] > 0) visit(other);
      }
    }
  };
  // Every arc is listed at one end: seen from the later group it looks back, from the earlier one ahead.
  for (const std::int32_t mine : order) {
    double& t = by_group[mine];
    for_each_arc(mine, [&](std::int32_t other) { t = rank[other] < rank[mine] ? std::max(t, by_group[other]) : t; });
    for_each_arc(mine, [&](std::int32_t other) {
      if (rank[other] > rank[mine]) by_group[other] = std::max(by_group[other], t);
    });
  }
}

std::vector<double> Solver::join_at(const Graph& graph, const double* cost, const double* slope) const {
  const auto n = static_cast<std::size_t>(graph.n_nodes);
  std::vector<double> by_group = join_at_;
  const auto is_finite = [&](std::int32_t group) { return std::isfinite(by_group[group]); };
  std::vector<Sum> group_cost(n), group_slope(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t mine = group_of_[i];
    if (by_group[mine] == kInfinity) continue;  // nothing comes later
    // An arc into a later group is paid by the earlier one and spared by the later one.
    Sum paid;
    paid.add(cost[i]);
    for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
      const std::int32_t other = group_of_[graph.column[a]];
      if (mine >= other) continue;
      if (is_finite(mine)) paid.add(graph.capacity[a]);
      if (is_finite(other)) group_cost[other].add(-graph.capacity[a]);
    }
    group_cost[mine].add(paid);
    group_slope[mine].add(slope[i]);
  }
  std::vector<std::int32_t> order;
  for (std::size_t k = 0; k < n; ++k) {
    if (is_finite(static_cast<std::int32_t>(k))) order.push_back(static_cast<std::int32_t>(k));
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return join_at_[a] < join_at_[b]; });
  for (const std::int32_t k : order) {
    const bool has_slope = group_slope[k].value() > 0;
    const double t = has_slope ? quotient(group_cost[k].value(), group_slope[k].value()) : std::ldexp(by_group[k], t_unit_);
    by_group[k] = std::clamp(t, given_t_min_, given_t_max_);
  }
  if (!is_in_order(order, by_group)) keep_order(graph, order, group_of_, by_group);
  std::vector<double> by_node(n);
  for (std::size_t i = 0; i < n; ++i) by_node[i] = by_group[group_of_[i]];
  return by_node;
}

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

}  // namespace

std::vector<double> solve_path(const Graph& graph, const double* cost, const double* slope, double t_min, double t_max,
                               int n_threads, const Poll& poll) {
  const std::int64_t n = graph.n_nodes;
  if (n == 0) return {};
  Range costs, slopes;
  for (std::int64_t a = 0; a < graph.row_start[n]; ++a) costs.include(graph.capacity[a]);
  for (std::int64_t i = 0; i < n; ++i) {
    costs.include(cost[i]);
    slopes.include(slope[i]);
  }
  const bool is_wide = costs.is_wide() || slopes.is_wide();
  // In units near the largest numbers no threshold is too large or too small for a double.
  const int cost_unit = is_wide ? 0 : costs.exponent(), slope_unit = is_wide ? 0 : slopes.exponent();
  Solver solver(n, t_min, t_max, cost_unit - slope_unit, n_threads, poll);
  auto root = solver.settle_sure(graph, cost, slope, is_wide);
  root->rescale(std::ldexp(1.0, -cost_unit), std::ldexp(1.0, -slope_unit));
  if (is_wide) root->remember_start();
  solver.run(std::move(root));
  return solver.join_at(graph, cost, slope);
}

std::vector<double> route(const Graph& graph, const double* excess, const Poll& poll) {
  Pace pace(poll);
  Crew crew(1, pace, [] { return false; });
  const Grouping all(std::vector<Index>(graph.n_nodes, 0), 1);
  std::vector<double> cost(graph.n_nodes);
  std::transform(excess, excess + graph.n_nodes, cost.begin(), std::negate<double>());
  const std::unique_ptr<Block> block = first_block(Pairs(graph), cost.data(), all, 0);
  block->slope.assign(graph.n_nodes, 0.0);
  std::vector<double> net_flow(block->head.size(), 0.0);
  Flow search(*block, crew, pace);
  search.record(net_flow);
  search.run();
  std::vector<double> flow(graph.row_start[graph.n_nodes], 0.0);
  for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
    // Both lists ascend; the block's may hold opposite arcs that were not given.
    std::uint64_t mine = block->first[i];
    for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
      const auto j = static_cast<Index>(graph.column[a]);
      if (static_cast<std::int64_t>(j) == i) continue;
      while ((block->head[mine] & head::kTo) != j) ++mine;
      flow[a] = std::min(std::max(0.0, net_flow[mine]), graph.capacity[a]);
    }
  }
  return flow;
}

}  // namespace labelcut
