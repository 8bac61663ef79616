#include "parametric_cut.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace labelcut {
namespace {

using Index = std::uint32_t;  // a node of a block; blocks have fewer than 2^31 nodes
using Label = std::int32_t;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr Label kUnreachable = std::numeric_limits<Label>::max();

// One direction of a pair of opposite arcs. `mate` is the opposite arc's place among the arcs of node `to`, so arcs
// may number more than 2^32. The top bit of `to` says whether the opposite arc has room: a backward search then
// reads its own arcs only.
struct Arc {
  static constexpr Index kMateHasRoom = Index{1} << 31;
  double room;
  Index to_and_flag;
  Index mate;

  Index to() const { return to_and_flag & ~kMateHasRoom; }
  bool mate_has_room() const { return (to_and_flag & kMateHasRoom) != 0; }
};

struct Node {
  double excess;        // at the block's threshold; negative: a deficit
  std::uint64_t first;  // its arcs are first .. next node's first, by ascending `to`
  Label label;          // at most its distance to the nearest deficit
  Index cursor;         // arcs before it lead no closer
};

// Nodes that join inside (low, high), with the arcs among them. They take the places position .. position + size in
// the order of joining.
struct Block {
  std::vector<Node> nodes;  // one more than there are, to close the last list of arcs
  std::vector<Arc> arcs;
  std::vector<double> slope;
  std::vector<std::int32_t> id;  // in the given graph
  double t = 0.0;
  double low = -kInfinity;
  double high = kInfinity;
  std::int64_t position = 0;

  Index size() const { return static_cast<Index>(id.size()); }
};

// Neumaier's compensated sum.
class Sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

struct Stopped : std::exception {};

// Lets the calling thread call poll a few times a second, and every thread notice that it should stop.
class Pace {
 public:
  explicit Pace(const Poll& poll) : poll_(poll), caller_(std::this_thread::get_id()), last_(Clock::now()) {}

  // Cheap; called after every few thousand arcs.
  void tick() {
    if (stop_.load(std::memory_order_relaxed)) throw Stopped();
    if (std::this_thread::get_id() != caller_) return;
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    poll_(n_settled_.load(std::memory_order_relaxed));
  }
  void settled(std::int64_t n) { n_settled_.fetch_add(n, std::memory_order_relaxed); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  const Poll& poll_;
  std::thread::id caller_;
  Clock::time_point last_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> n_settled_{0};
};

// A maximum flow from the excesses of a block to its deficits.
class Flow {
 public:
  Flow(Block& block, Pace& pace) : nodes_(block.nodes), arcs_(block.arcs), n_(block.size()), pace_(pace) {}

  // Keeps what flows over each arc, net of its mate. The room alone forgets a small flow on a large arc.
  void record(std::vector<double>& net_flow) { net_flow_ = &net_flow; }

  // Afterwards no excess can reach a deficit, and exactly the nodes that can have a label other than kUnreachable.
  void run() {
    queue_.resize(n_);
    measure_distances();
    // An exact measurement costs about as much as this many looks at arcs.
    const std::uint64_t worth_measuring = (arcs_.size() + 4 * std::uint64_t{n_}) / 2 + 1;
    collect_active();
    while (n_active_ > 0) {
      discharge(pop());
      if (work_ > worth_measuring) {
        measure_distances();
        collect_active();
      }
    }
    measure_distances();
  }

 private:
  void push_back(Index i) {
    queue_[tail_] = i;
    tail_ = tail_ + 1 == n_ ? 0 : tail_ + 1;
    ++n_active_;
  }
  Index pop() {
    const Index i = queue_[head_];
    head_ = head_ + 1 == n_ ? 0 : head_ + 1;
    --n_active_;
    return i;
  }
  void collect_active() {
    head_ = tail_ = n_active_ = 0;
    for (Index i = 0; i < n_; ++i) {
      if (nodes_[i].excess > 0 && nodes_[i].label != kUnreachable) push_back(i);
    }
  }

  // Sets every label to the exact distance, breadth first from the deficits.
  void measure_distances() {
    work_ = 0;
    Index found = 0;
    for (Index i = 0; i < n_; ++i) {
      const bool is_deficit = nodes_[i].excess < 0;
      nodes_[i].label = is_deficit ? 0 : kUnreachable;
      nodes_[i].cursor = 0;
      if (is_deficit) queue_[found++] = i;
    }
    for (Index next = 0; next < found; ++next) {
      const Index j = queue_[next];
      const Label label = nodes_[j].label + 1;
      for (std::uint64_t a = nodes_[j].first; a < nodes_[j + 1].first; ++a) {
        if (!arcs_[a].mate_has_room()) continue;
        const Index i = arcs_[a].to();
        if (nodes_[i].label == kUnreachable) {
          nodes_[i].label = label;
          queue_[found++] = i;
        }
      }
      if (next % 4096 == 0) pace_.tick();
    }
  }

  // Pushes the node's excess one step closer to a deficit, until it is gone or the node has to step back.
  void discharge(Index i) {
    Node& node = nodes_[i];
    if (node.label == kUnreachable) return;
    Arc* const begin = arcs_.data() + node.first;
    Arc* const end = arcs_.data() + nodes_[i + 1].first;
    const Label closer = node.label - 1;
    Arc* arc = begin + node.cursor;
    for (; arc != end; ++arc) {
      if (arc->room <= 0) continue;
      Node& target = nodes_[arc->to()];
      if (target.label != closer) continue;
      push(node, *arc, target);
      if (node.excess == 0) break;
    }
    work_ += static_cast<std::uint64_t>(arc - begin) - node.cursor + 1;
    node.cursor = static_cast<Index>(arc - begin);
    if (node.excess > 0) step_back(i, begin, end);
    if (++n_discharged_ % 2048 == 0) pace_.tick();
  }

  void push(Node& node, Arc& arc, Node& target) {
    Arc& mate = arcs_[target.first + arc.mate];
    double moved = node.excess;
    if (moved < arc.room) {
      arc.room -= moved;
      node.excess = 0;
    } else {
      moved = arc.room;
      arc.room = 0;
      node.excess -= moved;
    }
    if (arc.room == 0) mate.to_and_flag &= ~Arc::kMateHasRoom;
    arc.to_and_flag |= Arc::kMateHasRoom;
    mate.room += moved;
    const bool was_idle = target.excess <= 0;
    target.excess += moved;
    if (was_idle && target.excess > 0) push_back(static_cast<Index>(&target - nodes_.data()));
    if (net_flow_ != nullptr) {
      (*net_flow_)[static_cast<std::size_t>(&arc - arcs_.data())] += moved;
      (*net_flow_)[static_cast<std::size_t>(&mate - arcs_.data())] -= moved;
    }
  }

  void step_back(Index i, const Arc* begin, const Arc* end) {
    Node& node = nodes_[i];
    Label nearest = kUnreachable;
    for (const Arc* arc = begin; arc != end; ++arc) {
      if (arc->room <= 0) continue;
      const Label label = nodes_[arc->to()].label;
      if (label < nearest) {
        nearest = label;
        node.cursor = static_cast<Index>(arc - begin);
      }
    }
    work_ += static_cast<std::uint64_t>(end - begin);
    // A path to a deficit has fewer steps than there are nodes.
    if (nearest == kUnreachable || static_cast<Index>(nearest) + 1 >= n_) {
      node.label = kUnreachable;
    } else {
      node.label = nearest + 1;
      push_back(i);
    }
  }

  std::vector<Node>& nodes_;
  std::vector<Arc>& arcs_;
  const Index n_;
  Pace& pace_;
  std::vector<Index> queue_;  // a ring
  Index head_ = 0;
  Index tail_ = 0;
  Index n_active_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t n_discharged_ = 0;
  std::vector<double>* net_flow_ = nullptr;
};

enum class Part : std::uint8_t { undecided, early, tied, late };

// Marks `part` on every undecided node that can be reached, over arcs with room, from the marked ones in `stack`.
void mark_reachable(const Block& block, std::vector<Index>& stack, Part part, std::vector<Part>& parts) {
  while (!stack.empty()) {
    const Index i = stack.back();
    stack.pop_back();
    for (std::uint64_t a = block.nodes[i].first; a < block.nodes[i + 1].first; ++a) {
      const Index j = block.arcs[a].to();
      if (block.arcs[a].room > 0 && parts[j] == Part::undecided) {
        parts[j] = part;
        stack.push_back(j);
      }
    }
  }
}

// The threshold of the nodes marked `part`; `otherwise` if they have no slope.
double threshold(const Block& block, const std::vector<Part>& parts, Part part, double otherwise) {
  Sum excess, slope;
  for (Index i = 0; i < block.size(); ++i) {
    if (parts[i] != part) continue;
    excess.add(block.nodes[i].excess);
    slope.add(block.slope[i]);
  }
  return slope.value() > 0 ? block.t - excess.value() / slope.value() : otherwise;
}

// Decides for every node of a block whose flow was run whether it joins before, at or after the block's t.
std::vector<Part> split(const Block& block) {
  const Index n = block.size();
  std::vector<Part> parts(n, Part::undecided);
  std::vector<Index> stack;
  for (Index i = 0; i < n; ++i) {
    if (block.nodes[i].label != kUnreachable) {
      parts[i] = Part::late;
    } else if (block.nodes[i].excess > 0) {
      parts[i] = Part::early;
      stack.push_back(i);
    }
  }
  mark_reachable(block, stack, Part::early, parts);

  // What rounding alone has put aside is not apart.
  const bool is_early_real = threshold(block, parts, Part::early, -kInfinity) < block.t;
  const bool is_late_real = threshold(block, parts, Part::late, kInfinity) > block.t;
  for (Index i = 0; i < n; ++i) {
    if ((parts[i] == Part::early && !is_early_real) || (parts[i] == Part::late && !is_late_real)) {
      parts[i] = Part::undecided;
    }
  }
  for (Index i = 0; i < n; ++i) {
    if (parts[i] == Part::undecided && block.slope[i] > 0) {
      parts[i] = Part::tied;
      stack.push_back(i);
    }
  }
  mark_reachable(block, stack, Part::tied, parts);
  std::replace(parts.begin(), parts.end(), Part::undecided, Part::late);
  return parts;
}

// The given graph with every arc's opposite present (capacity 0 if need be) and no arcs from a node to itself.
struct PairedArcs {
  std::vector<std::int64_t> row_start;
  std::vector<std::int32_t> column;
  std::vector<double> capacity;
};

bool is_paired(const Graph& graph) {
  std::vector<std::int64_t> next(graph.row_start, graph.row_start + graph.n_nodes);
  for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
    for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
      const std::int32_t j = graph.column[a];
      if (j == i || next[j] == graph.row_start[j + 1] || graph.column[next[j]++] != i) return false;
    }
  }
  return true;
}

PairedArcs pair_arcs(const Graph& graph) {
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
  PairedArcs paired;
  paired.row_start.reserve(n + 1);
  paired.row_start.push_back(0);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t out = graph.row_start[i], in = in_start[i];
    while (out < graph.row_start[i + 1] || in < in_start[i + 1]) {
      const bool take_out = out < graph.row_start[i + 1] && (in == in_start[i + 1] || graph.column[out] <= from[in]);
      const bool take_in = in < in_start[i + 1] && (!take_out || from[in] == graph.column[out]);
      const std::int32_t j = take_out ? graph.column[out] : from[in];
      if (j != i) {
        paired.column.push_back(j);
        paired.capacity.push_back(take_out ? graph.capacity[out] : 0.0);
      }
      out += take_out;
      in += take_in;
    }
    paired.row_start.push_back(static_cast<std::int64_t>(paired.column.size()));
  }
  return paired;
}

// All nodes as one block, before any flow, with the given excess.
std::unique_ptr<Block> whole_graph(const Graph& graph, const double* excess) {
  PairedArcs paired;
  Graph arcs = graph;
  if (!is_paired(graph)) {
    paired = pair_arcs(graph);
    arcs = {graph.n_nodes, paired.row_start.data(), paired.column.data(), paired.capacity.data()};
  }
  const auto n = static_cast<std::size_t>(graph.n_nodes);
  auto block = std::make_unique<Block>();
  block->nodes.reserve(n + 1);
  block->arcs.reserve(static_cast<std::size_t>(arcs.row_start[n]));
  block->id.resize(n);
  std::vector<Index> n_met(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    block->id[i] = static_cast<std::int32_t>(i);
    block->nodes.push_back({excess[i], block->arcs.size(), 0, 0});
    for (std::int64_t a = arcs.row_start[i]; a < arcs.row_start[i + 1]; ++a) {
      const auto j = static_cast<Index>(arcs.column[a]);
      const Index mate = n_met[j]++;
      const bool mate_has_room = arcs.capacity[arcs.row_start[j] + mate] > 0;
      block->arcs.push_back({arcs.capacity[a], mate_has_room ? j | Arc::kMateHasRoom : j, mate});
    }
  }
  block->nodes.push_back({0.0, block->arcs.size(), 0, 0});
  return block;
}

// Blocks waiting to be split, and the threads that split them.
class Solver {
 public:
  Solver(std::int64_t n_nodes, double t_min, double t_max, const Poll& poll)
      : t_min_(std::max(t_min, -kLargest)),
        t_max_(std::min(t_max, kLargest)),
        pace_(poll),
        group_of_(static_cast<std::size_t>(n_nodes)),
        join_at_(static_cast<std::size_t>(n_nodes), kInfinity) {}

  double clip(double t) const { return std::min(std::max(t, t_min_), t_max_); }

  void run(std::unique_ptr<Block> root, int n_threads) {
    waiting_.push_back(std::move(root));
    std::vector<std::thread> helpers;
    for (int k = 1; k < n_threads; ++k) helpers.emplace_back([this] { work(); });
    work();
    for (auto& helper : helpers) helper.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  // The threshold of every group from the given numbers, then one number per node.
  std::vector<double> join_at(const Graph& graph, const double* cost, const double* slope) const;

 private:
  void work() {
    try {
      while (auto block = next_block()) {
        // Small blocks are not worth a visit to the shared list: their descendants stay with this thread.
        std::vector<std::unique_ptr<Block>> mine;
        mine.push_back(std::move(block));
        while (!mine.empty()) {
          auto current = std::move(mine.back());
          mine.pop_back();
          for (auto& child : divide(std::move(current))) {
            if (child->size() < kSmallBlock) {
              mine.push_back(std::move(child));
            } else {
              share(std::move(child));
            }
          }
        }
        done();
      }
    } catch (...) {
      pace_.stop();
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      n_busy_ = 0;
      waiting_.clear();
      changed_.notify_all();
    }
  }

  std::unique_ptr<Block> next_block() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (waiting_.empty() && n_busy_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      lock.unlock();
      pace_.tick();
      lock.lock();
    }
    if (waiting_.empty()) return nullptr;
    auto block = std::move(waiting_.back());
    waiting_.pop_back();
    ++n_busy_;
    return block;
  }

  void share(std::unique_ptr<Block> block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(block));
    changed_.notify_one();
  }

  void done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--n_busy_ == 0) changed_.notify_all();
  }

  // One flow; settles what it can and returns the parts that are blocks again.
  std::vector<std::unique_ptr<Block>> divide(std::unique_ptr<Block> block) {
    Flow(*block, pace_).run();
    std::vector<Part> parts = split(*block);
    const auto count = [&parts](Part part) { return std::count(parts.begin(), parts.end(), part); };
    const std::int64_t n = block->size(), n_early = count(Part::early), n_late = count(Part::late);
    std::vector<std::unique_ptr<Block>> children;
    const auto place = [&](Part part, std::int64_t position, std::int64_t size, bool is_outside, double end) {
      if (size == 0) return;
      if (is_outside) {
        settle(*block, parts, part, position, part == Part::early ? -kInfinity : kInfinity);
      } else if (!has_slope(*block, parts, part)) {
        settle(*block, parts, part, position, end);
      } else if (size == n) {  // nothing was split off: only rounding says that it is apart from t
        settle(*block, parts, part, position, block->t);
      } else {
        children.push_back(extract(*block, parts, part, position));
      }
    };
    place(Part::early, block->position, n_early, block->t <= t_min_, block->low);
    settle(*block, parts, Part::tied, block->position + n_early, block->t < t_max_ ? block->t : kInfinity);
    place(Part::late, block->position + n - n_late, n_late, block->t >= t_max_, block->high);
    return children;
  }

  static bool has_slope(const Block& block, const std::vector<Part>& parts, Part part) {
    for (Index i = 0; i < block.size(); ++i) {
      if (parts[i] == part && block.slope[i] > 0) return true;
    }
    return false;
  }

  void settle(const Block& block, const std::vector<Part>& parts, Part part, std::int64_t position, double t) {
    std::int64_t n = 0;
    for (Index i = 0; i < block.size(); ++i) {
      if (parts[i] != part) continue;
      group_of_[block.id[i]] = static_cast<std::int32_t>(position);
      ++n;
    }
    if (n > 0) join_at_[position] = t;
    pace_.settled(n);
  }

  std::unique_ptr<Block> extract(const Block& block, const std::vector<Part>& parts, Part part,
                                 std::int64_t position) const;

  static constexpr Index kSmallBlock = 2000;

  const double t_min_;
  const double t_max_;
  Pace pace_;
  // A group of nodes that join together is named by its first place in the order of joining.
  std::vector<std::int32_t> group_of_;  // by node
  std::vector<double> join_at_;         // by group
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Block>> waiting_;
  int n_busy_ = 0;
  std::exception_ptr failure_;
};

// The block of one part, with its excess at its own threshold.
std::unique_ptr<Block> Solver::extract(const Block& block, const std::vector<Part>& parts, Part part,
                                       std::int64_t position) const {
  constexpr Index kNotMine = std::numeric_limits<Index>::max();
  std::vector<Index> new_index(block.size(), kNotMine);
  Index n = 0;
  std::uint64_t n_arcs_at_most = 0;
  for (Index i = 0; i < block.size(); ++i) {
    if (parts[i] != part) continue;
    new_index[i] = n++;
    n_arcs_at_most += block.nodes[i + 1].first - block.nodes[i].first;
  }
  auto child = std::make_unique<Block>();
  child->nodes.reserve(std::size_t{n} + 1);
  child->arcs.reserve(n_arcs_at_most);
  child->slope.reserve(n);
  child->id.reserve(n);
  const double t = clip(threshold(block, parts, part, block.t));
  // Lists are sorted and nodes come in order, so each node's arcs are met from the other side in their own order.
  std::vector<Index> n_met(n, 0);
  for (Index i = 0; i < block.size(); ++i) {
    if (new_index[i] == kNotMine) continue;
    child->nodes.push_back({block.nodes[i].excess + (t - block.t) * block.slope[i], child->arcs.size(), 0, 0});
    child->slope.push_back(block.slope[i]);
    child->id.push_back(block.id[i]);
    for (std::uint64_t a = block.nodes[i].first; a < block.nodes[i + 1].first; ++a) {
      const Arc& arc = block.arcs[a];
      const Index j = new_index[arc.to()];
      if (j == kNotMine) continue;
      child->arcs.push_back({arc.room, j | (arc.to_and_flag & Arc::kMateHasRoom), n_met[j]++});
    }
  }
  child->nodes.push_back({0.0, child->arcs.size(), 0, 0});
  child->t = t;
  child->low = part == Part::early ? block.low : block.t;
  child->high = part == Part::early ? block.t : block.high;
  child->position = position;
  return child;
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
    if (group_slope[k].value() > 0) by_group[k] = clip(group_cost[k].value() / group_slope[k].value());
    by_group[k] = latest = std::max(latest, by_group[k]);
  }
  std::vector<double> by_node(n);
  for (std::size_t i = 0; i < n; ++i) by_node[i] = by_group[group_of_[i]];
  return by_node;
}

}  // namespace

std::vector<double> solve_path(const Graph& graph, const double* cost, const double* slope, double t_min, double t_max,
                               int n_threads, const Poll& poll) {
  const std::int64_t n = graph.n_nodes;
  if (n == 0) return {};
  Solver solver(n, t_min, t_max, poll);
  Sum total_cost, total_slope;
  for (std::int64_t i = 0; i < n; ++i) {
    total_cost.add(cost[i]);
    total_slope.add(slope[i]);
  }
  const double t = solver.clip(total_slope.value() > 0 ? total_cost.value() / total_slope.value() : 0.0);
  std::vector<double> excess(n);
  for (std::int64_t i = 0; i < n; ++i) excess[i] = t * slope[i] - cost[i];
  auto root = whole_graph(graph, excess.data());
  excess = {};
  root->slope.assign(slope, slope + n);
  root->t = t;
  solver.run(std::move(root), n_threads);
  return solver.join_at(graph, cost, slope);
}

std::vector<double> route(const Graph& graph, const double* excess, const Poll& poll) {
  Pace pace(poll);
  const std::unique_ptr<Block> block = whole_graph(graph, excess);
  std::vector<double> net_flow(block->arcs.size(), 0.0);
  Flow search(*block, pace);
  search.record(net_flow);
  search.run();
  std::vector<double> flow(graph.row_start[graph.n_nodes], 0.0);
  for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
    // Both lists ascend; the block's may hold opposite arcs that were not given.
    std::uint64_t mine = block->nodes[i].first;
    for (std::int64_t a = graph.row_start[i]; a < graph.row_start[i + 1]; ++a) {
      const auto j = static_cast<Index>(graph.column[a]);
      if (static_cast<std::int64_t>(j) == i) continue;
      while (block->arcs[mine].to() != j) ++mine;
      flow[a] = std::min(std::max(0.0, net_flow[mine]), graph.capacity[a]);
    }
  }
  return flow;
}

}  // namespace labelcut
