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

// What a node holds. `base` is -cost plus what flowed in minus what flowed out: it does not depend on t, so a large
// t leaves no rounding in it. `excess` is t * slope + base, kept along with it during a flow; negative: a deficit.
struct Holding {
  double excess;
  double base;
};

// Nodes that join inside (low, high), with the arcs among them. They take the places position .. position + size in
// the order of joining.
struct Block {
  std::vector<std::uint64_t> first;  // arcs of node i: first[i] .. first[i + 1], by ascending `to`
  std::vector<Arc> arcs;
  std::vector<Holding> held;
  std::vector<double> slope;
  std::vector<std::int32_t> id;  // in the given graph
  double t = 0.0;
  double low = -kInfinity;
  double high = kInfinity;
  std::int64_t position = 0;
  Index heaviest = 0;  // the node with the largest terms at t

  Index size() const { return static_cast<Index>(id.size()); }
  double terms(Index i) const { return std::abs(t * slope[i]) + std::abs(held[i].base); }
  void move_to(double new_t, bool is_mean);
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

// At its mean a block's excesses add up to nothing. Rounding at the heaviest node may be larger than all the others
// hold, so it gets what the others leave.
void Block::move_to(double new_t, bool is_mean) {
  constexpr double kEnough = 1e300;  // beyond it products overflow, and no cost can matter
  t = new_t;
  for (Index i = 0; i < size(); ++i) {
    held[i].excess = std::min(std::max(t * slope[i] + held[i].base, -kEnough), kEnough);
    if (terms(i) > terms(heaviest)) heaviest = i;
  }
  if (!is_mean) return;
  Sum others;
  for (Index i = 0; i < size(); ++i) others.add(i == heaviest ? 0.0 : held[i].excess);
  held[heaviest].excess = -others.value();
}

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

// Threads that share the chunks of a loop. What a chunk computes must not depend on the order in which chunks run.
class Crew {
 public:
  Crew(int n_threads, Pace& pace) : pace_(pace) {
    for (int k = 1; k < n_threads; ++k) helpers_.emplace_back([this] { help(); });
  }
  ~Crew() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
      round_.fetch_add(1);
    }
    wake_.notify_all();
    for (auto& helper : helpers_) helper.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool is_alone() const { return helpers_.empty(); }

  // Calls job(chunk) for every chunk below n_chunks, and returns when all are done.
  void run(std::size_t n_chunks, const std::function<void(std::size_t)>& job) {
    if (is_alone() || n_chunks < 2) {
      for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) job(chunk);
      return;
    }
    job_ = &job;
    n_chunks_ = n_chunks;
    next_.store(0);
    n_helping_.store(static_cast<int>(helpers_.size()));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      round_.fetch_add(1);
    }
    wake_.notify_all();
    take_chunks();
    while (n_helping_.load() > 0) {
      try {
        pace_.tick();
      } catch (...) {
        fail();
      }
      std::this_thread::yield();
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void help() {
    for (std::uint64_t seen = 0;; ++seen) {
      // Loops follow one another closely: look out for the next one before going to sleep.
      for (int look = 0; look < 2000 && round_.load() == seen; ++look) std::this_thread::yield();
      if (round_.load() == seen) {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return round_.load() != seen; });
      }
      if (is_over_) return;
      take_chunks();
      n_helping_.fetch_sub(1);
    }
  }

  void take_chunks() {
    try {
      for (std::size_t chunk = next_.fetch_add(1); chunk < n_chunks_; chunk = next_.fetch_add(1)) (*job_)(chunk);
    } catch (...) {
      fail();
    }
  }

  void fail() {
    pace_.stop();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }

  Pace& pace_;
  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> round_{0};
  bool is_over_ = false;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::size_t n_chunks_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<int> n_helping_{0};
  std::exception_ptr failure_;
};

// One number per node of a block: its distance to the nearest deficit or, where there is none, what became of it.
class Marks {
 public:
  static constexpr Label kUnreachable = std::numeric_limits<Label>::max();
  static constexpr Label kEarly = -1;
  static constexpr Label kTied = -2;

  explicit Marks(Index n) : marks_(new std::atomic<Label>[n]) {}

  Label operator[](Index i) const { return marks_[i].load(std::memory_order_relaxed); }
  void set(Index i, Label label) { marks_[i].store(label, std::memory_order_relaxed); }

  // Sets an unreachable node's mark; true for the one thread that did.
  bool claim(Index i, Label label, bool is_alone) {
    if (is_alone) {
      set(i, label);
      return true;
    }
    Label expected = kUnreachable;
    return marks_[i].compare_exchange_strong(expected, label, std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<std::atomic<Label>[]> marks_;
};

// Calls visit(node, steps, found) on the frontier, then on all that was found, and so on. Large frontiers are shared;
// the order of visits within a step is then open, so it must not matter.
template <typename Visit>
void breadth_first(std::vector<Index> frontier, Crew& crew, Pace& pace, const Visit& visit) {
  constexpr std::size_t kWorthSharing = 4096;
  constexpr std::size_t kChunks = 32;
  std::vector<Index> found;
  std::vector<std::vector<Index>> found_by_chunk(crew.is_alone() ? 0 : kChunks);
  for (Label steps = 1; !frontier.empty(); ++steps) {
    found.clear();
    const std::size_t n = frontier.size();
    if (crew.is_alone() || n < kWorthSharing) {
      for (const Index i : frontier) visit(i, steps, found);
    } else {
      crew.run(kChunks, [&](std::size_t chunk) {
        found_by_chunk[chunk].clear();
        const std::size_t end = n * (chunk + 1) / kChunks;
        for (std::size_t k = n * chunk / kChunks; k < end; ++k) visit(frontier[k], steps, found_by_chunk[chunk]);
      });
      for (const auto& part : found_by_chunk) found.insert(found.end(), part.begin(), part.end());
    }
    frontier.swap(found);
    pace.tick();
  }
}

// A maximum flow from the excesses of a block to its deficits.
class Flow {
 public:
  Flow(Block& block, Crew& crew, Pace& pace)
      : block_(block),
        first_(block.first.data()),
        arcs_(block.arcs.data()),
        held_(block.held.data()),
        n_(block.size()),
        crew_(crew),
        pace_(pace),
        label_(n_),
        cursor_(n_),
        queue_(n_) {}

  // Keeps what flows over each arc, net of its mate. The room alone forgets a small flow on a large arc.
  void record(std::vector<double>& net_flow) { net_flow_ = net_flow.data(); }

  // Afterwards no excess can reach a deficit; returned are the distances of the nodes that still can.
  Marks run() {
    // An exact measurement costs about as much as this many looks at arcs.
    const std::uint64_t worth_measuring = (first_[n_] + 4 * std::uint64_t{n_}) / 2 + 1;
    measure_distances();
    for (;;) {
      while (n_active_ > 0) {
        discharge(pop());
        if (work_ > worth_measuring) measure_distances();
      }
      if (far_.empty()) break;
      // Excess far from any deficit waits: most of it turns out to be cut off before it has to move.
      within_ += 2 + within_ / 4;
      if (work_ > worth_measuring / 4) {
        measure_distances();
      } else {
        look_at_far_again();
      }
    }
    drop_rounding();
    measure_distances();
    return std::move(label_);
  }

 private:
  void activate(Index i) {
    if (label_[i] > within_) {
      far_.push_back(i);
      return;
    }
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
  void look_at_far_again() {
    std::vector<Index> waiting;
    waiting.swap(far_);
    for (const Index i : waiting) activate(i);
  }

  // Sets every label to the exact distance, breadth first from the deficits, and lists the active nodes.
  void measure_distances() {
    work_ = 0;
    std::vector<Index> deficits;
    for (Index i = 0; i < n_; ++i) {
      const bool is_deficit = held_[i].excess < 0;
      label_.set(i, is_deficit ? 0 : Marks::kUnreachable);
      if (is_deficit) deficits.push_back(i);
    }
    const bool is_alone = crew_.is_alone();
    breadth_first(std::move(deficits), crew_, pace_, [&](Index j, Label steps, std::vector<Index>& found) {
      for (std::uint64_t a = first_[j]; a < first_[j + 1]; ++a) {
        const Index i = arcs_[a].to();
        // One branch on both conditions: each alone is a coin toss.
        const int is_new = static_cast<int>(arcs_[a].mate_has_room()) & static_cast<int>(label_[i] == Marks::kUnreachable);
        if (is_new && label_.claim(i, steps, is_alone)) found.push_back(i);
      }
    });
    std::fill(cursor_.begin(), cursor_.end(), 0);
    head_ = tail_ = n_active_ = 0;
    far_.clear();
    for (Index i = 0; i < n_; ++i) {
      if (held_[i].excess > 0 && label_[i] != Marks::kUnreachable) activate(i);
    }
  }

  // Pushes the node's excess one step closer to a deficit, until it is gone or the node has to step back.
  void discharge(Index i) {
    if (label_[i] == Marks::kUnreachable) return;
    Arc* const arcs = arcs_ + first_[i];
    const Index degree = static_cast<Index>(first_[i + 1] - first_[i]);
    const Label closer = label_[i] - 1;
    Label nearest = Marks::kUnreachable;
    Index nearest_at = 0;
    const auto label_over = [&](Index k) {
      const Label label = label_[arcs[k].to()];
      return arcs[k].room > 0 ? label : Marks::kUnreachable;
    };
    const auto note = [&](Index k, Label label) {
      nearest_at = label < nearest ? k : nearest_at;
      nearest = label < nearest ? label : nearest;
    };
    const Index start = cursor_[i];
    Index k = start;
    for (; k < degree; ++k) {
      const Label label = label_over(k);
      if (label == closer) {
        push(i, arcs[k]);
        if (held_[i].excess == 0) break;
      } else {
        note(k, label);
      }
    }
    work_ += k - start + 1;
    cursor_[i] = k;
    if (held_[i].excess > 0) {
      for (k = 0; k < start; ++k) note(k, label_over(k));
      work_ += start;
      step_back(i, nearest, nearest_at);
    }
    if (++n_discharged_ % 2048 == 0) pace_.tick();
  }

  void step_back(Index i, Label nearest, Index nearest_at) {
    cursor_[i] = nearest_at;
    // A path to a deficit has fewer steps than there are nodes.
    if (nearest == Marks::kUnreachable || static_cast<Index>(nearest) + 1 >= n_) {
      label_.set(i, Marks::kUnreachable);
    } else {
      label_.set(i, nearest + 1);
      activate(i);
    }
  }

  void push(Index i, Arc& arc) {
    const Index j = arc.to();
    Arc& mate = arcs_[first_[j] + arc.mate];
    double moved = held_[i].excess;
    if (moved < arc.room) {
      arc.room -= moved;
      held_[i].excess = 0;
    } else {
      moved = arc.room;
      arc.room = 0;
      held_[i].excess -= moved;
    }
    held_[i].base -= moved;
    held_[j].base += moved;
    mate.room += moved;
    if (arc.room == 0) mate.to_and_flag &= ~Arc::kMateHasRoom;
    arc.to_and_flag |= Arc::kMateHasRoom;
    const bool was_idle = held_[j].excess <= 0;
    held_[j].excess += moved;
    if (was_idle && held_[j].excess > 0) activate(j);
    if (net_flow_ != nullptr) {
      net_flow_[&arc - arcs_] += moved;
      net_flow_[&mate - arcs_] -= moved;
    }
  }

  // An excess or deficit within the rounding of its own two terms is none.
  void drop_rounding() {
    constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
    for (Index i = 0; i < n_; ++i) {
      if (i != block_.heaviest && std::abs(held_[i].excess) <= kRounding * block_.terms(i)) held_[i].excess = 0;
    }
  }

  const Block& block_;
  const std::uint64_t* const first_;
  Arc* const arcs_;
  Holding* const held_;
  const Index n_;
  Crew& crew_;
  Pace& pace_;
  Marks label_;                // at most the distance to the nearest deficit
  std::vector<Index> cursor_;  // arcs before it lead no closer
  std::vector<Index> queue_;   // a ring of active nodes
  Index head_ = 0;
  Index tail_ = 0;
  Index n_active_ = 0;
  Label within_ = 1;
  std::vector<Index> far_;  // active nodes with labels above within_
  std::uint64_t work_ = 0;
  std::uint64_t n_discharged_ = 0;
  double* net_flow_ = nullptr;
};

enum class Part { early, tied, late };

Part part_of(Label mark) { return mark == Marks::kEarly ? Part::early : mark == Marks::kTied ? Part::tied : Part::late; }

// The sums that make the threshold of one part of a block.
struct PartSums {
  Sum excess, slope;
  std::int64_t n = 0;
  bool has_slope() const { return slope.value() > 0; }
  double shift() const { return excess.value() / slope.value(); }
};

PartSums sums_of(const Block& block, const Marks& marks, Part part) {
  PartSums sums;
  for (Index i = 0; i < block.size(); ++i) {
    if (part_of(marks[i]) != part) continue;
    sums.excess.add(block.held[i].excess);
    sums.slope.add(block.slope[i]);
    ++sums.n;
  }
  return sums;
}

// Gives `mark` to every undecided node that can be reached over arcs with room from those in `start`.
void mark_reachable(const Block& block, std::vector<Index> start, Label mark, Marks& marks, Crew& crew, Pace& pace) {
  const bool is_alone = crew.is_alone();
  for (const Index i : start) marks.set(i, mark);
  breadth_first(std::move(start), crew, pace, [&](Index i, Label, std::vector<Index>& found) {
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Index j = block.arcs[a].to();
      const int is_new = static_cast<int>(block.arcs[a].room > 0) & static_cast<int>(marks[j] == Marks::kUnreachable);
      if (is_new && marks.claim(j, mark, is_alone)) found.push_back(j);
    }
  });
}

// Turns the distances that a flow returned into parts: what joins before, at and after the block's t.
void split(const Block& block, Marks& marks, Crew& crew, Pace& pace) {
  std::vector<Index> start;
  for (Index i = 0; i < block.size(); ++i) {
    if (marks[i] == Marks::kUnreachable && block.held[i].excess > 0) start.push_back(i);
  }
  mark_reachable(block, std::move(start), Marks::kEarly, marks, crew, pace);

  // A part whose threshold differs from t by less than t can show is not apart.
  const PartSums early = sums_of(block, marks, Part::early);
  const bool is_early_real = !early.has_slope() || block.t - early.shift() < block.t;
  PartSums late;
  for (Index i = 0; i < block.size(); ++i) {
    if (marks[i] < 0 || marks[i] == Marks::kUnreachable) continue;
    late.excess.add(block.held[i].excess);
    late.slope.add(block.slope[i]);
  }
  const bool is_late_real = !late.has_slope() || block.t - late.shift() > block.t;
  start.clear();
  for (Index i = 0; i < block.size(); ++i) {
    const Label mark = marks[i];
    if (mark == Marks::kEarly ? !is_early_real : mark != Marks::kUnreachable && !is_late_real) {
      marks.set(i, Marks::kUnreachable);
    }
    if (marks[i] == Marks::kUnreachable && block.slope[i] > 0) start.push_back(i);
  }
  mark_reachable(block, std::move(start), Marks::kTied, marks, crew, pace);
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

// All nodes as one block before any flow; what they hold is left to the caller.
std::unique_ptr<Block> whole_graph(const Graph& graph) {
  PairedArcs paired;
  Graph arcs = graph;
  if (!is_paired(graph)) {
    paired = pair_arcs(graph);
    arcs = {graph.n_nodes, paired.row_start.data(), paired.column.data(), paired.capacity.data()};
  }
  const auto n = static_cast<std::size_t>(graph.n_nodes);
  auto block = std::make_unique<Block>();
  block->first.reserve(n + 1);
  block->held.reserve(n);
  block->arcs.reserve(static_cast<std::size_t>(arcs.row_start[n]));
  block->id.resize(n);
  std::vector<Index> n_met(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    block->id[i] = static_cast<std::int32_t>(i);
    block->first.push_back(block->arcs.size());
    for (std::int64_t a = arcs.row_start[i]; a < arcs.row_start[i + 1]; ++a) {
      const auto j = static_cast<Index>(arcs.column[a]);
      const Index mate = n_met[j]++;
      const bool mate_has_room = arcs.capacity[arcs.row_start[j] + mate] > 0;
      block->arcs.push_back({arcs.capacity[a], mate_has_room ? j | Arc::kMateHasRoom : j, mate});
    }
  }
  block->first.push_back(block->arcs.size());
  return block;
}

// Splits blocks until every node is settled.
class Solver {
 public:
  Solver(std::int64_t n_nodes, double t_min, double t_max, int n_threads, const Poll& poll)
      : t_min_(std::max(t_min, -kLargest)),
        t_max_(std::min(t_max, kLargest)),
        pace_(poll),
        crew_(n_threads, pace_),
        group_of_(static_cast<std::size_t>(n_nodes)),
        join_at_(static_cast<std::size_t>(n_nodes), kInfinity) {}

  double clip(double t) const { return std::min(std::max(t, t_min_), t_max_); }

  // Large blocks one after the other, each by the whole crew; then the small ones side by side.
  void run(std::unique_ptr<Block> root) {
    std::vector<std::unique_ptr<Block>> large, small;
    large.push_back(std::move(root));
    while (!large.empty()) {
      auto block = std::move(large.back());
      large.pop_back();
      for (auto& child : divide(std::move(block), crew_)) {
        (child->size() < kSmallBlock ? small : large).push_back(std::move(child));
      }
    }
    std::stable_sort(small.begin(), small.end(), [](const auto& a, const auto& b) { return a->size() > b->size(); });
    crew_.run(small.size(), [&](std::size_t k) {
      std::vector<std::unique_ptr<Block>> mine;
      mine.push_back(std::move(small[k]));
      while (!mine.empty()) {
        auto block = std::move(mine.back());
        mine.pop_back();
        for (auto& child : divide(std::move(block), nobody_)) mine.push_back(std::move(child));
      }
    });
  }

  // The threshold of every group from the given numbers, then one number per node.
  std::vector<double> join_at(const Graph& graph, const double* cost, const double* slope) const;

 private:
  static constexpr Index kSmallBlock = 10000;

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

  const double t_min_;
  const double t_max_;
  Pace pace_;
  Crew crew_;
  Crew nobody_{1, pace_};
  // A group of nodes that join together is named by its first place in the order of joining.
  std::vector<std::int32_t> group_of_;  // by node
  std::vector<double> join_at_;         // by group
};

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
  child->first.reserve(std::size_t{n} + 1);
  child->arcs.reserve(n_arcs_at_most);
  child->held.reserve(n);
  child->slope.reserve(n);
  child->id.reserve(n);
  // Lists are sorted and nodes come in order, so each node's arcs are met from the other side in their own order.
  std::vector<Index> n_met(n, 0);
  for (Index i = 0; i < block.size(); ++i) {
    if (new_index[i] == kNotMine) continue;
    child->first.push_back(child->arcs.size());
    child->held.push_back(block.held[i]);
    child->slope.push_back(block.slope[i]);
    child->id.push_back(block.id[i]);
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Arc& arc = block.arcs[a];
      const Index j = new_index[arc.to()];
      if (j == kNotMine) continue;
      child->arcs.push_back({arc.room, j | (arc.to_and_flag & Arc::kMateHasRoom), n_met[j]++});
    }
  }
  child->first.push_back(child->arcs.size());
  child->low = part == Part::early ? block.low : block.t;
  child->high = part == Part::early ? block.t : block.high;
  child->position = position;
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
  root->move_to(solver.clip(mean), has_slope && solver.clip(mean) == mean);
  solver.run(std::move(root));
  return solver.join_at(graph, cost, slope);
}

std::vector<double> route(const Graph& graph, const double* excess, const Poll& poll) {
  Pace pace(poll);
  Crew crew(1, pace);
  const std::unique_ptr<Block> block = whole_graph(graph);
  block->slope.assign(graph.n_nodes, 0.0);
  for (std::int64_t i = 0; i < graph.n_nodes; ++i) block->held.push_back({excess[i], excess[i]});
  std::vector<double> net_flow(block->arcs.size(), 0.0);
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
      while (block->arcs[mine].to() != j) ++mine;
      flow[a] = std::min(std::max(0.0, net_flow[mine]), graph.capacity[a]);
    }
  }
  return flow;
}

}  // namespace labelcut
