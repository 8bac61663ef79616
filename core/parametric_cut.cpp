#include "parametric_cut.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "balance.hpp"
#include "block.hpp"
#include "components.hpp"
#include "crew.hpp"
#include "even_out.hpp"
#include "flow.hpp"
#include "make_block.hpp"
#include "pairs.hpp"
#include "split.hpp"
#include "sure.hpp"
#include "thresholds.hpp"

namespace labelcut {
namespace {

// Splits blocks until every node is settled. Each thread takes the largest block that waits; while none waits it shares the
// searches of the others. So what is computed does not depend on the number of threads, only when.
class Solver {
 public:
  Solver(std::int64_t n_nodes, const Units& units, int n_threads, const Poll& poll)
      : t_min_(units.inside(units.t_min)),
        t_max_(units.inside(units.t_max)),
        groups_(static_cast<std::size_t>(n_nodes)),
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

  // What has been found, from the given numbers.
  std::vector<double> answer(const Graph& graph, const double* cost, const double* slope, const Units& units) {
    std::vector<double> found;
    crew_.lead([&] { found = thresholds(graph, *pairs_, cost, slope, groups_, units, crew_); });
    return found;
  }

 private:
  static constexpr Index kSmallBlock = 10000;

  void move_to_mean(Block& block) const;

  // All nodes of a group join at t.
  void settle(const Block& block, const Grouping& grouping, std::size_t group, double t) {
    const std::int64_t position = block.position + grouping.start[group];
    for (Index k = grouping.start[group]; k < grouping.start[group + 1]; ++k) {
      groups_.of[block.id[grouping.node_at[k]]] = static_cast<std::int32_t>(position);
    }
    // By rounding, low may be above high.
    const double inside = std::min(std::max(t, block.low), block.high);
    if (grouping.size(group) > 0) groups_.join_at[position] = std::isfinite(t) ? inside : t;
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
    if (const auto components = find_components(*block)) return take_apart(std::move(block), *components, crew);
    if (Balance::is_worthwhile(*block)) return cut_along_gaps(std::move(block), crew);
    return cut_at_threshold(std::move(block), crew);
  }

  // Each group goes on by itself: no arc with room leads from it to a later one.
  std::vector<std::unique_ptr<Block>> take_apart(std::unique_ptr<Block> block, const Grouping& groups, Crew& crew) {
    std::vector<std::unique_ptr<Block>> children(groups.n_groups());
    std::size_t largest = 0;
    for (std::size_t k = 1; k < groups.n_groups(); ++k) largest = groups.size(k) > groups.size(largest) ? k : largest;
    const bool stays = is_most_of(*block, groups, largest);
    const std::size_t n_chunks = std::min<std::size_t>(groups.n_groups(), 32);
    crew.run(n_chunks, [&](std::size_t chunk) {
      for (std::size_t k = chunk; k < groups.n_groups(); k += n_chunks) {
        if (stays && k == largest) continue;
        if (groups.size(k) == 1 && settle_alone(*block, groups, k)) continue;
        children[k] = extract(*block, groups, k);
      }
    });
    if (stays) children[largest] = reduce(std::move(block), groups, largest);
    children.erase(std::remove(children.begin(), children.end(), nullptr), children.end());
    return children;
  }

  // As many cuts as balance finds.
  std::vector<std::unique_ptr<Block>> cut_along_gaps(std::unique_ptr<Block> block, Crew& crew) {
    const Grouping pieces = Balance(*block, crew, pace_).run();
    block->is_balanced = true;
    return take_apart(std::move(block), pieces, crew);
  }

  // The cut at the block's own threshold, by one flow.
  std::vector<std::unique_ptr<Block>> cut_at_threshold(std::unique_ptr<Block> block, Crew& crew) {
    if (EvenOut::is_worthwhile(*block)) EvenOut(*block, crew, pace_).run();
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
        const double t = block->t;
        const bool stays = is_most_of(*block, parts, part);
        children[part == kLate] = stays ? reduce(std::move(block), parts, part) : extract(*block, parts, part);
        (part == kEarly ? children[0]->high : children[1]->low) = t;
      }
    };
    const auto place_early = [&] {
      if (parts.size(kEarly) > 0) place(kEarly, block->t <= t_min_);
    };
    const auto place_late = [&] {
      if (parts.size(kLate) > 0) place(kLate, block->t >= t_max_);
    };
    settle(*block, parts, kTied, block->t < t_max_ ? block->t : kInfinity);
    // What most of the block goes into takes it over, so it comes last.
    if (is_most_of(*block, parts, kEarly)) {
      place_late();
      place_early();
    } else if (is_most_of(*block, parts, kLate)) {
      place_early();
      place_late();
    } else {
      crew.run(2, [&](std::size_t k) { k == 0 ? place_early() : place_late(); });
    }
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
  static bool is_most_of(const Block& block, const Grouping& grouping, std::size_t group) {
    return grouping.size(group) > block.size() / 2 && !block.is_careful();
  }
  std::unique_ptr<Block> extract(const Block& block, const Grouping& grouping, std::size_t group) const;
  std::unique_ptr<Block> reduce(std::unique_ptr<Block> block, const Grouping& grouping, std::size_t group) const;
  bool nudge(Block& block, Part part) const;

  const double t_min_;  // in units, see Units
  const double t_max_;
  std::optional<Pairs> pairs_;
  Groups groups_;  // threads write to different places
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
  const auto n = static_cast<Index>(graph.n_nodes);
  Grouping known(std::vector<Known::Is>(n, Known::kOpen), Known::kNumberOf);
  crew_.lead([&] {
    pairs_.emplace(graph, crew_);
    if (!is_wide) known = Sure(*pairs_, cost, slope, n, pace_).run(crew_);
  });
  settle(all, known, Known::kAlways, -kInfinity);
  settle(all, known, Known::kNever, kInfinity);
  std::unique_ptr<Block> others;
  crew_.lead([&] { others = first_block(*pairs_, cost, known, Known::kOpen, crew_); });
  for (const std::int32_t i : others->id) others->slope.push_back(slope[i]);
  return others;
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

// The same in the memory of a block that is not needed any more: new memory costs as much as the copy.
std::unique_ptr<Block> Solver::reduce(std::unique_ptr<Block> block, const Grouping& grouping, std::size_t group) const {
  write_group(*block, grouping, group, *block);
  block->position += grouping.start[group];
  block->heaviest = 0;
  move_to_mean(*block);
  return block;
}

// Moves a block to the t at which its excesses add up to nothing.
void Solver::move_to_mean(Block& block) const {
  Sum base, slope;
  for (const Holding& held : block.held) base.add(held.base);
  for (const double m : block.slope) slope.add(m);
  const double mean = slope.value() > 0 ? -base.value() / slope.value() : 0.0;
  block.move_to(clip(mean), slope.value() > 0 && clip(mean) == mean);
}

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
  const Units units{t_min, t_max, cost_unit - slope_unit};
  Solver solver(n, units, n_threads, poll);
  auto root = solver.settle_sure(graph, cost, slope, is_wide);
  root->rescale(std::ldexp(1.0, -cost_unit), std::ldexp(1.0, -slope_unit));
  if (is_wide) root->remember_start();
  solver.run(std::move(root));
  return solver.answer(graph, cost, slope, units);
}

std::vector<double> route(const Graph& graph, const double* excess, const Poll& poll) {
  Pace pace(poll);
  Crew crew(1, pace, [] { return false; });
  const Grouping all(std::vector<Index>(graph.n_nodes, 0), 1);
  std::vector<double> cost(graph.n_nodes);
  std::transform(excess, excess + graph.n_nodes, cost.begin(), std::negate<double>());
  const std::unique_ptr<Block> block = first_block(Pairs(graph, crew), cost.data(), all, 0, crew);
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
