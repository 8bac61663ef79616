#include "parametric_cut.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace labelcut {
namespace {

using Index = std::uint32_t;  // a node of a block
using Label = std::int32_t;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

// Where an arc leads, and whether it and the opposite arc have room: searches read nothing else of an arc. Hence
// blocks have at most 2^30 nodes.
namespace head {
constexpr Index kMateHasRoom = Index{1} << 31;
constexpr Index kHasRoom = Index{1} << 30;
constexpr Index kTo = kHasRoom - 1;
}  // namespace head

// What a node holds. `base` is -cost plus what flowed in minus what flowed out: it does not depend on t, so a large
// t leaves no rounding in it. `excess` is t * slope + base, kept along with it during a flow; negative: a deficit.
struct Holding {
  double excess;
  double base;
};

// Nodes that join inside (low, high), with the arcs among them. They take the places position .. position + size in
// the order of joining.
struct Block {
  std::vector<std::uint64_t> first;  // arcs of node i: first[i] .. first[i + 1], by where they lead
  std::vector<Index> head;
  std::vector<Index> mate;   // the opposite arc's place among the arcs of the node it starts from
  std::vector<double> room;  // how much more may flow
  std::vector<Holding> held;
  std::vector<double> slope;
  std::vector<std::int32_t> id;  // in the given graph
  // Careful blocks only, where numbers lie far apart: what arcs and nodes had before any flow.
  std::vector<double> capacity;
  std::vector<double> first_base;
  std::vector<double> scale;  // the sizes of the terms that were added up in first_base
  double nudge = 0.0;         // how far t was moved, because rounding had put all nodes on one side of it
  double t = 0.0;
  double low = -kInfinity;
  double high = kInfinity;
  std::int64_t position = 0;
  Index heaviest = 0;  // the node with the largest terms at t

  Index size() const { return static_cast<Index>(id.size()); }
  double terms(Index i) const { return std::abs(t * slope[i]) + std::abs(held[i].base); }
  bool is_careful() const { return !first_base.empty(); }
  void move_to(double new_t, bool is_mean);
  void undo_flow();
  void resize_arcs(std::size_t n_arcs) {
    head.resize(n_arcs);
    mate.resize(n_arcs);
    room.resize(n_arcs);
  }
  void reserve(std::size_t n_nodes, std::size_t n_arcs) {
    first.reserve(n_nodes + 1);
    for (auto* by_arc : {&head, &mate}) by_arc->reserve(n_arcs);
    room.reserve(n_arcs);
    held.reserve(n_nodes);
    slope.reserve(n_nodes);
    id.reserve(n_nodes);
  }
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
  if (!is_mean || is_careful()) return;
  Sum others;
  for (Index i = 0; i < size(); ++i) others.add(i == heaviest ? 0.0 : held[i].excess);
  held[heaviest].excess = -others.value();
}

// Gives a careful block its first numbers back.
void Block::undo_flow() {
  room = capacity;
  for (Index i = 0; i < size(); ++i) {
    held[i].base = first_base[i];
    for (std::uint64_t a = first[i]; a < first[i + 1]; ++a) {
      const Index j = head[a] & head::kTo;
      const bool mate_has_room = capacity[first[j] + mate[a]] > 0;
      head[a] = j | (capacity[a] > 0 ? head::kHasRoom : 0) | (mate_has_room ? head::kMateHasRoom : 0);
    }
  }
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

// Threads that do tasks and, while there are none to take, share the loops of those at work. What a chunk of a loop
// computes must not depend on the order in which chunks run.
class Crew {
 public:
  // try_task does one task, if there is any, and tells whether there was.
  Crew(int n_threads, Pace& pace, std::function<bool()> try_task) : pace_(pace), try_task_(std::move(try_task)) {
    for (int k = 1; k < n_threads; ++k) {
      helpers_.emplace_back([this] { work_until([this] { return is_over_.load(); }); });
    }
  }
  ~Crew() {
    is_over_ = true;
    for (auto& helper : helpers_) helper.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool is_alone() const { return helpers_.empty(); }

  // Does tasks, and helps others, until told to stop; an exception on any thread stops all.
  template <typename IsDone>
  void work_until(const IsDone& is_done) {
    int n_idle = 0;
    while (!is_done() && !has_failed_) {
      bool was_useful = false;
      try {
        pace_.tick();
        was_useful = try_task_() || help();
      } catch (...) {
        fail();
      }
      n_idle = was_useful ? 0 : n_idle + 1;
      if (n_idle > 1000) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      } else if (n_idle > 0) {
        std::this_thread::yield();
      }
    }
  }

  // Calls job(chunk) for every chunk below n_chunks, and returns when all are done.
  void run(std::size_t n_chunks, const std::function<void(std::size_t)>& job) {
    Loop loop{job, n_chunks};
    if (is_alone() || n_chunks < 2) {
      loop.take_chunks();
      return;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      loops_.push_back(&loop);
    }
    try {
      loop.take_chunks();
    } catch (...) {
      fail();
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      loops_.erase(std::find(loops_.begin(), loops_.end(), &loop));
    }
    while (loop.n_helping > 0) std::this_thread::yield();
    if (has_failed_) throw Stopped();
  }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Loop {
    const std::function<void(std::size_t)>& job;
    const std::size_t n_chunks;
    std::atomic<std::size_t> next{0};
    std::atomic<int> n_helping{0};

    void take_chunks() {
      for (std::size_t chunk = next++; chunk < n_chunks; chunk = next++) job(chunk);
    }
  };

  bool help() {
    Loop* loop = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (Loop* open : loops_) {
        if (open->next < open->n_chunks) loop = open;
      }
      if (loop == nullptr) return false;
      ++loop->n_helping;
    }
    try {
      loop->take_chunks();
    } catch (...) {
      fail();
    }
    --loop->n_helping;
    return true;
  }

  void fail() {
    pace_.stop();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    has_failed_ = true;
  }

  Pace& pace_;
  const std::function<bool()> try_task_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::vector<Loop*> loops_;
  std::vector<std::thread> helpers_;
};

inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// One number per node of a block: its distance to the nearest deficit or, where there is none, what became of it.
class Marks {
 public:
  static constexpr Label kUnreachable = std::numeric_limits<Label>::max();
  static constexpr Label kEarly = -1;
  static constexpr Label kTied = -2;

  explicit Marks(Index n) : marks_(new std::atomic<Label>[n]) {}

  Label operator[](Index i) const { return marks_[i].load(std::memory_order_relaxed); }
  void prefetch_ends(const Block& block, Index i) const {
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) prefetch(&marks_[block.head[a] & head::kTo]);
  }
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
void breadth_first(const Block& block, const Marks& marks, std::vector<Index> frontier, Crew& crew, Pace& pace,
                   const Visit& visit) {
  constexpr std::size_t kWorthSharing = 4096;
  constexpr std::size_t kChunks = 32;
  const auto visit_range = [&](std::size_t begin, std::size_t end, Label steps, std::vector<Index>& found) {
    for (std::size_t k = begin; k < end; ++k) {
      // Memory answers late: ask for the arcs of a node eight visits ahead, for the marks at their ends three ahead.
      if (k + 8 < end) prefetch(&block.head[block.first[frontier[k + 8]]]);
      if (k + 3 < end) marks.prefetch_ends(block, frontier[k + 3]);
      visit(frontier[k], steps, found);
    }
  };
  std::vector<Index> found;
  std::vector<std::vector<Index>> found_by_chunk(crew.is_alone() ? 0 : kChunks);
  for (Label steps = 1; !frontier.empty(); ++steps) {
    found.clear();
    const std::size_t n = frontier.size();
    if (crew.is_alone() || n < kWorthSharing) {
      visit_range(0, n, steps, found);
    } else {
      crew.run(kChunks, [&](std::size_t chunk) {
        found_by_chunk[chunk].clear();
        visit_range(n * chunk / kChunks, n * (chunk + 1) / kChunks, steps, found_by_chunk[chunk]);
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
        head_(block.head.data()),
        mate_(block.mate.data()),
        room_(block.room.data()),
        held_(block.held.data()),
        n_(block.size()),
        crew_(crew),
        pace_(pace),
        label_(n_),
        cursor_(n_),
        queue_(n_),
        through_(block.scale) {}

  // Keeps what flows over each arc, net of its mate. The room alone forgets a small flow on a large arc.
  void record(std::vector<double>& net_flow) { net_flow_ = net_flow.data(); }

  // Afterwards no excess can reach a deficit; returned are the distances of the nodes that still can.
  Marks run() {
    // An exact measurement costs about as much as this many looks at arcs.
    const std::uint64_t worth_measuring = (first_[n_] + 4 * std::uint64_t{n_}) / 2;
    if (block_.is_careful()) drop_rounding();
    begin_next_to_deficits();
    for (;;) {
      while (n_active_ > 0) {
        discharge(pop());
        if (work_ > worth_measuring) measure_distances();
      }
      if (far_.empty()) break;
      // Excess far from any deficit waits: most of it turns out to be cut off before it has to move.
      within_ += 2 + within_ / 4;
      if (!is_measured_ || work_ > worth_measuring / 4) {
        measure_distances();
      } else {
        look_at_far_again();
      }
    }
    if (drop_rounding() || work_ > 0) measure_distances();
    return std::move(label_);
  }

 private:
  void activate(Index i) {
    if (label_[i] > within_) {
      far_.push_back(i);
      return;
    }
    queue_[back_] = i;
    back_ = back_ + 1 == n_ ? 0 : back_ + 1;
    ++n_active_;
  }
  Index pop() {
    const Index i = queue_[front_];
    front_ = front_ + 1 == n_ ? 0 : front_ + 1;
    --n_active_;
    return i;
  }
  void look_at_far_again() {
    std::vector<Index> waiting;
    waiting.swap(far_);
    for (const Index i : waiting) activate(i);
  }

  // Labels what is no deficit as one step away, which is true at least: much excess needs no more than that.
  void begin_next_to_deficits() {
    work_ = 1;  // distances are not exact
    for (Index i = 0; i < n_; ++i) {
      label_.set(i, held_[i].excess < 0 ? 0 : 1);
      if (held_[i].excess > 0) activate(i);
    }
  }

  // Sets every label to the exact distance, breadth first from the deficits, and lists the active nodes.
  void measure_distances() {
    is_measured_ = true;
    work_ = 0;
    std::vector<Index> deficits;
    for (Index i = 0; i < n_; ++i) {
      const bool is_deficit = held_[i].excess < 0;
      label_.set(i, is_deficit ? 0 : Marks::kUnreachable);
      if (is_deficit) deficits.push_back(i);
    }
    const bool is_alone = crew_.is_alone();
    const auto spread = [&](Index j, Label steps, std::vector<Index>& found) {
      for (std::uint64_t a = first_[j]; a < first_[j + 1]; ++a) {
        const Index i = head_[a] & head::kTo;
        // One branch on both conditions: each alone is a coin toss.
        const bool is_new = ((head_[a] & head::kMateHasRoom) != 0) & (label_[i] == Marks::kUnreachable);
        if (is_new && label_.claim(i, steps, is_alone)) found.push_back(i);
      }
    };
    breadth_first(block_, label_, std::move(deficits), crew_, pace_, spread);
    std::fill(cursor_.begin(), cursor_.end(), 0);
    front_ = back_ = n_active_ = 0;
    far_.clear();
    for (Index i = 0; i < n_; ++i) {
      if (held_[i].excess > 0 && label_[i] != Marks::kUnreachable) activate(i);
    }
  }

  // Pushes the node's excess one step closer to a deficit, until it is gone or the node has to step back.
  void discharge(Index i) {
    if (label_[i] == Marks::kUnreachable) return;
    const Index* const heads = head_ + first_[i];
    const Index degree = static_cast<Index>(first_[i + 1] - first_[i]);
    const Label closer = label_[i] - 1;
    Label nearest = Marks::kUnreachable;
    Index nearest_at = 0;
    const auto label_over = [&](Index k) {
      const Label label = label_[heads[k] & head::kTo];
      return (heads[k] & head::kHasRoom) != 0 ? label : Marks::kUnreachable;
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
        push(i, first_[i] + k);
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

  void push(Index i, std::uint64_t arc) {
    const Index j = head_[arc] & head::kTo;
    const std::uint64_t mate = first_[j] + mate_[arc];
    double moved = held_[i].excess;
    if (moved < room_[arc]) {
      room_[arc] -= moved;
      held_[i].excess = 0;
    } else {
      moved = room_[arc];
      room_[arc] = 0;
      held_[i].excess -= moved;
    }
    if (room_[arc] == 0) {
      head_[arc] &= ~head::kHasRoom;
      head_[mate] &= ~head::kMateHasRoom;
    }
    room_[mate] += moved;
    head_[mate] |= head::kHasRoom;
    head_[arc] |= head::kMateHasRoom;
    held_[i].base -= moved;
    held_[j].base += moved;
    const bool was_idle = held_[j].excess <= 0;
    held_[j].excess += moved;
    if (was_idle && held_[j].excess > 0) activate(j);
    if (!through_.empty()) through_[j] += moved;
    if (net_flow_ != nullptr) {
      net_flow_[arc] += moved;
      net_flow_[mate] -= moved;
    }
  }

  // Whether an excess or deficit is more than the rounding of its own terms. A careful block also counts what has passed
  // the node; in other blocks the heaviest node's excess is exact.
  bool is_real(Index i) const {
    constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
    const double size = std::abs(held_[i].excess);
    if (!block_.is_careful()) return i == block_.heaviest || size > kRounding * block_.terms(i);
    return size >= 2 * kRounding * (std::abs(block_.t * block_.slope[i]) + through_[i]);
  }

  // An excess or deficit that is only rounding is none. True if a deficit was dropped.
  bool drop_rounding() {
    bool is_changed = false;
    for (Index i = 0; i < n_; ++i) {
      double& excess = held_[i].excess;
      if (excess == 0 || is_real(i)) continue;
      is_changed |= excess < 0;
      excess = 0;
    }
    return is_changed;
  }

  const Block& block_;
  const std::uint64_t* const first_;
  Index* const head_;
  const Index* const mate_;
  double* const room_;
  Holding* const held_;
  const Index n_;
  Crew& crew_;
  Pace& pace_;
  Marks label_;                // at most the distance to the nearest deficit
  std::vector<Index> cursor_;  // arcs before it lead no closer
  std::vector<Index> queue_;   // a ring of active nodes
  Index front_ = 0;
  Index back_ = 0;
  Index n_active_ = 0;
  Label within_ = 1;
  std::vector<Index> far_;  // active nodes with labels above within_
  bool is_measured_ = false;
  std::uint64_t work_ = 0;  // looks at arcs since distances were exact
  std::uint64_t n_discharged_ = 0;
  std::vector<double> through_;  // per node of a careful block: its scale, and what has passed it
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
  const auto spread = [&](Index i, Label, std::vector<Index>& found) {
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) {
      const Index j = block.head[a] & head::kTo;
      const bool is_new = ((block.head[a] & head::kHasRoom) != 0) & (marks[j] == Marks::kUnreachable);
      if (is_new && marks.claim(j, mark, is_alone)) found.push_back(j);
    }
  };
  breadth_first(block, marks, std::move(start), crew, pace, spread);
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
  const bool is_early_real = block.is_careful() || !early.has_slope() || block.t - early.shift() < block.t;
  PartSums late;
  for (Index i = 0; i < block.size(); ++i) {
    if (marks[i] < 0 || marks[i] == Marks::kUnreachable) continue;
    late.excess.add(block.held[i].excess);
    late.slope.add(block.slope[i]);
  }
  const bool is_late_real = block.is_careful() || !late.has_slope() || block.t - late.shift() > block.t;
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
  block->reserve(n, static_cast<std::size_t>(arcs.row_start[n]));
  block->id.resize(n);
  std::vector<Index> n_met(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    block->id[i] = static_cast<std::int32_t>(i);
    block->first.push_back(block->head.size());
    for (std::int64_t a = arcs.row_start[i]; a < arcs.row_start[i + 1]; ++a) {
      const auto j = static_cast<Index>(arcs.column[a]);
      const Index mate = n_met[j]++;
      const Index mate_flag = arcs.capacity[arcs.row_start[j] + mate] > 0 ? head::kMateHasRoom : 0;
      block->head.push_back(j | mate_flag | (arcs.capacity[a] > 0 ? head::kHasRoom : 0));
      block->mate.push_back(mate);
      block->room.push_back(arcs.capacity[a]);
    }
  }
  block->first.push_back(block->head.size());
  return block;
}

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
