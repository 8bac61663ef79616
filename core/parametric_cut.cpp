#include "parametric_cut.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "block.hpp"
#include "crew.hpp"
#include "flow.hpp"
#include "split.hpp"

namespace labelcut {
namespace {

// Splits blocks until every node is settled.
class Solver {
 public:
  Solver(std::int64_t n_nodes, double t_min, double t_max, int n_threads, const Poll& poll)
      : t_min_(std::max(t_min, -kLargest)),
        t_max_(std::min(t_max, kLargest)),
        group_of_(static_cast<std::size_t>(n_nodes)),
        join_at_(static_cast<std::size_t>(n_nodes), kInfinity),
        pace_(poll),
        crew_(n_threads, pace_, [this] { return divide_one(); }) {}

  double clip(double t) const { return std::min(std::max(t, t_min_), t_max_); }

  void run(std::unique_ptr<Block> root) {
    add(std::move(root));
    crew_.work_until([this] { return n_open_ == 0; });
    crew_.rethrow_failure();
  }

  // The threshold of every group from the given numbers, then one number per node.
  std::vector<double> join_at(const Graph& graph, const double* cost, const double* slope) const;

 private:
  static constexpr Index kSmallBlock = 10000;

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

  // One flow; settles what it can and returns the parts that are blocks again.
  std::vector<std::unique_ptr<Block>> divide(std::unique_ptr<Block> block, Crew& crew) {
    Marks marks = Flow(*block, crew, pace_).run();
    split(*block, marks, crew, pace_);
    const PartSums early = sums_of(*block, marks, Part::early), late = sums_of(*block, marks, Part::late);
    const std::int64_t n = block->size();
    std::vector<std::unique_ptr<Block>> children(2);
    const auto place = [&](Part part, const PartSums& sums, bool is_outside) {
      const std::int64_t position = part == Part::early ? block->position : block->position + n - sums.n;
      if (is_outside) {
        settle(*block, marks, part, position, part == Part::early ? -kInfinity : kInfinity);
      } else if (!sums.has_slope()) {
        settle(*block, marks, part, position, part == Part::early ? block->low : block->high);
      } else if (sums.n == n && nudge(*block, part)) {
        children[part == Part::late] = std::move(block);
      } else if (sums.n == n) {  // nothing was split off: only rounding says that it is apart from t
        settle(*block, marks, part, position, block->t);
      } else {
        children[part == Part::late] = extract(*block, marks, part, sums, position);
      }
    };
    settle(*block, marks, Part::tied, block->position + early.n, block->t < t_max_ ? block->t : kInfinity);
    crew.run(2, [&](std::size_t k) {
      if (k == 0 && early.n > 0) place(Part::early, early, block->t <= t_min_);
      if (k == 1 && late.n > 0) place(Part::late, late, block->t >= t_max_);
    });
    children.erase(std::remove(children.begin(), children.end(), nullptr), children.end());
    return children;
  }

  void settle(const Block& block, const Marks& marks, Part part, std::int64_t position, double t) {
    std::int64_t n = 0;
    for (Index i = 0; i < block.size(); ++i) {
      if (part_of(marks[i]) != part) continue;
      group_of_[block.id[i]] = static_cast<std::int32_t>(position);
      ++n;
    }
    if (n > 0) join_at_[position] = t;
    pace_.settled(n);
  }

  std::unique_ptr<Block> extract(const Block& block, const Marks& marks, Part part, const PartSums& sums,
                                 std::int64_t position) const;
  bool nudge(Block& block, Part part) const;

  const double t_min_;
  const double t_max_;
  // A group of nodes that join together is named by its first place in the order of joining.
  std::vector<std::int32_t> group_of_;  // by node
  std::vector<double> join_at_;         // by group
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> waiting_;  // a heap, largest first
  std::atomic<int> n_open_{0};                   // blocks waiting or being split
  Pace pace_;
  Crew nobody_{1, pace_, [] { return false; }};
  Crew crew_;  // last: its threads use all of the above
};

// Gives a child of a careful block a start of its own: it is charged for the arcs to the rest of its parent (an arc to a
// later node is paid, one from an earlier node is spared). Slower than to go on from the parent's flow, but a node that a
// large flow has crossed keeps its small numbers.
void start_anew(const Block& block, const Marks& marks, Part part, Block& child) {
  for (Index i = 0; i < block.size(); ++i) {
    if (part_of(marks[i]) != part) continue;
    Sum base;
    base.add(block.first_base[i]);
    double scale = block.scale[i];
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Index j = block.head[a] & head::kTo;
      const Part other = part_of(marks[j]);
      if (other == part) {
        child.capacity.push_back(block.capacity[a]);
        continue;
      }
      const double charge = other < part ? block.capacity[block.first[j] + block.mate[a]] : -block.capacity[a];
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
  const double sign = part == Part::late ? 1.0 : -1.0;
  if (!block.is_careful() || block.nudge * sign < 0) return false;
  const double step = std::max({kStep * std::abs(block.t), kGrowth * std::abs(block.nudge), kSmallest});
  const double t = clip(block.t + sign * step);
  if (t == block.t || !(block.low < t && t < block.high)) return false;
  block.nudge = t - block.t;
  block.undo_flow();
  block.move_to(t, false);
  return true;
}

// The block of one part, moved to its own threshold.
std::unique_ptr<Block> Solver::extract(const Block& block, const Marks& marks, Part part, const PartSums& sums,
                                       std::int64_t position) const {
  constexpr Index kNotMine = std::numeric_limits<Index>::max();
  std::vector<Index> new_index(block.size(), kNotMine);
  Index n = 0;
  std::uint64_t n_arcs_at_most = 0;
  for (Index i = 0; i < block.size(); ++i) {
    if (part_of(marks[i]) != part) continue;
    new_index[i] = n++;
    n_arcs_at_most += block.first[i + 1] - block.first[i];
  }
  auto child = std::make_unique<Block>();
  child->reserve(n, n_arcs_at_most);
  child->resize_arcs(n_arcs_at_most);
  std::uint64_t n_arcs = 0;
  // Lists are sorted and nodes come in order, so each node's arcs are met from the other side in their own order.
  std::vector<Index> n_met(n, 0);
  for (Index i = 0; i < block.size(); ++i) {
    if (new_index[i] == kNotMine) continue;
    child->first.push_back(n_arcs);
    child->held.push_back(block.held[i]);
    child->slope.push_back(block.slope[i]);
    child->id.push_back(block.id[i]);
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Index j = new_index[block.head[a] & head::kTo];
      if (j == kNotMine) continue;
      child->head[n_arcs] = j | (block.head[a] & ~head::kTo);
      child->mate[n_arcs] = n_met[j]++;
      child->room[n_arcs++] = block.room[a];
    }
  }
  child->first.push_back(n_arcs);
  child->resize_arcs(n_arcs);
  child->low = part == Part::early ? block.low : block.t;
  child->high = part == Part::early ? block.t : block.high;
  child->position = position;
  if (block.is_careful()) start_anew(block, marks, part, *child);
  Sum base;
  for (const Holding& held : child->held) base.add(held.base);
  const double mean = -base.value() / sums.slope.value();
  child->move_to(clip(mean), clip(mean) == mean);
  return child;
}

// The largest double that is not above cost / slope: a node is to be outside at its own threshold, and a tiny
// quotient may have been rounded up past it.
double quotient(double cost, double slope) {
  constexpr double kTiny = 1e-290;
  const double t = cost / slope;
  if (std::abs(t) < kTiny && std::fma(t, slope, -cost) > 0) return std::nextafter(t, -kInfinity);
  return t;
}

std::vector<double> Solver::join_at(const Graph& graph, const double* cost, const double* slope) const {
  const auto n = static_cast<std::size_t>(graph.n_nodes);
  std::vector<Sum> group_cost(n), group_slope(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t mine = group_of_[i];
    group_cost[mine].add(cost[i]);
    group_slope[mine].add(slope[i]);
    // An arc into a later group is paid by the earlier one and spared by the later one.
    for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
      const std::int32_t other = group_of_[graph.column[a]];
      if (mine >= other) continue;
      group_cost[mine].add(graph.capacity[a]);
      group_cost[other].add(-graph.capacity[a]);
    }
  }
  std::vector<double> by_group = join_at_;
  double latest = -kInfinity;
  for (std::size_t k = 0; k < n; ++k) {
    if (std::isinf(by_group[k])) continue;
    if (group_slope[k].value() > 0) by_group[k] = clip(quotient(group_cost[k].value(), group_slope[k].value()));
    by_group[k] = latest = std::max(latest, by_group[k]);
  }
  std::vector<double> by_node(n);
  for (std::size_t i = 0; i < n; ++i) by_node[i] = by_group[group_of_[i]];
  return by_node;
}

// Whether numbers lie so far apart that a carried flow would lose the small beside the large.
bool spans_widely(const Graph& graph, const double* cost, const double* slope) {
  constexpr double kWide = 1e25;
  struct Range {
    double low = kInfinity, high = 0;
    void include(double x) {
      if (x == 0) return;
      low = std::min(low, std::abs(x));
      high = std::max(high, std::abs(x));
    }
    bool is_wide() const { return high / low > kWide; }
  } costs, slopes;
  for (std::int64_t a = 0; a < graph.row_start[graph.n_nodes]; ++a) costs.include(graph.capacity[a]);
  for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
    costs.include(cost[i]);
    slopes.include(slope[i]);
  }
  return costs.is_wide() || slopes.is_wide();
}

}  // namespace

std::vector<double> solve_path(const Graph& graph, const double* cost, const double* slope, double t_min, double t_max,
                               int n_threads, const Poll& poll) {
  const std::int64_t n = graph.n_nodes;
  if (n == 0) return {};
  Solver solver(n, t_min, t_max, n_threads, poll);
  auto root = whole_graph(graph);
  root->slope.assign(slope, slope + n);
  Sum total_cost, total_slope;
  for (std::int64_t i = 0; i < n; ++i) {
    root->held.push_back({0.0, -cost[i]});
    total_cost.add(cost[i]);
    total_slope.add(slope[i]);
  }
  const bool has_slope = total_slope.value() > 0;
  const double mean = has_slope ? total_cost.value() / total_slope.value() : 0.0;
  if (spans_widely(graph, cost, slope)) {
    root->capacity = root->room;
    for (const Holding& held : root->held) {
      root->first_base.push_back(held.base);
      root->scale.push_back(std::abs(held.base));
    }
  }
  root->move_to(solver.clip(mean), has_slope && solver.clip(mean) == mean);
  solver.run(std::move(root));
  return solver.join_at(graph, cost, slope);
}

std::vector<double> route(const Graph& graph, const double* excess, const Poll& poll) {
  Pace pace(poll);
  Crew crew(1, pace, [] { return false; });
  const std::unique_ptr<Block> block = whole_graph(graph);
  block->slope.assign(graph.n_nodes, 0.0);
  for (std::int64_t i = 0; i < graph.n_nodes; ++i) block->held.push_back({excess[i], excess[i]});
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
