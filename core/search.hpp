// Breadth-first searches in a block, shared by all threads that are idle, and what they leave at each node.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "block.hpp"
#include "crew.hpp"
#include "prefetch.hpp"

namespace labelcut {

using Label = std::int32_t;

// What reached a node that cannot reach a deficit.
enum Mark : Label { kByExcess = -1, kBySlope = -2 };

// One number per node of a block: its distance to the nearest deficit or, where there is none, what reached it instead.
// Threads that search together only ever replace kUnreachable, and by the same number, so their order does not show; hence
// relaxed atomics will do.
class Marks {
 public:
  // Read and written like a number.
  class Slot {
   public:
    operator Label() const { return label_.load(std::memory_order_relaxed); }
    void operator=(Label label) { label_.store(label, std::memory_order_relaxed); }

   private:
    std::atomic<Label> label_;
  };
  static constexpr Label kUnreachable = std::numeric_limits<Label>::max();
  static constexpr Label kFarthest = kUnreachable - 1;

  explicit Marks(Index n) : slots_(new Slot[n]) {}

  Label operator[](Index i) const { return slots_[i]; }
  // For inner loops: compilers look up anew after every write what is not kept in a name of its own.
  Slot* slots() { return slots_.get(); }
  void prefetch_ends(const Block& block, Index i) const {
    for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) prefetch(&slots_[block.head[a] & head::kTo]);
  }
  void set(Index i, Label label) { slots_[i] = label; }

 private:
  std::unique_ptr<Slot[]> slots_;
};

// The flags of an arc, seen from its other end.
constexpr Index mirrored(Index flags) {
  return ((flags & head::kHasRoom) != 0 ? head::kMateHasRoom : 0) | ((flags & head::kMateHasRoom) != 0 ? head::kHasRoom : 0);
}

// Breadth first over arcs that have all of some flags: everything unreachable that is found after so many steps gets
// mark_after(steps). The frontier has mark_after(0) already.
//
// A step either looks from the frontier at all its arcs or, once the frontier is large, from what is left at its own, and there
// only as far as the first that leads back into the frontier: fewer looks, and in the order of memory. Threads share a large
// step; the order in which nodes are found is then open, and a node may be found by two of them at once; marks are not.
template <typename MarkAfter>
class BreadthFirst {
 public:
  BreadthFirst(const Block& block, Marks& marks, Index over, const MarkAfter& mark_after, Crew& crew, Pace& pace)
      : block_(block), marks_(marks), over_(over), mark_after_(mark_after), crew_(crew), pace_(pace) {}

  // False if something was left to find after the last step.
  bool run(std::vector<Index> frontier, Label most_steps) {
    frontier_ = std::move(frontier);
    std::size_t n_left = block_.size() - std::min<std::size_t>(frontier_.size(), block_.size());
    for (Label steps = 1; !frontier_.empty() && steps <= most_steps; ++steps) {
      if (n_left / kFewerLooks < frontier_.size()) {
        take_step(block_.size(), [&](std::size_t begin, std::size_t end, auto& found) { look_back(begin, end, steps, found); });
      } else {
        take_step(frontier_.size(),
                  [&](std::size_t begin, std::size_t end, auto& found) { look_ahead(begin, end, steps, found); });
      }
      n_left -= std::min(n_left, frontier_.size());
      pace_.tick();
    }
    return frontier_.empty();
  }

 private:
  static constexpr std::size_t kFewerLooks = 2;  // nodes left per node of the frontier: 1 and 4 take a tenth longer
  static constexpr std::size_t kWorthSharing = 4096;

  template <typename Look>
  void take_step(std::size_t n, const Look& look) {
    found_.clear();
    if (crew_.is_alone() || n < kWorthSharing) {
      look(0, n, found_);
    } else {
      found_by_range_.resize(crew_.n_ranges());
      crew_.run_ranges(n, [&](std::size_t range, std::size_t begin, std::size_t end) {
        found_by_range_[range].clear();
        look(begin, end, found_by_range_[range]);
      });
      for (const auto& part : found_by_range_) found_.insert(found_.end(), part.begin(), part.end());
    }
    frontier_.swap(found_);
  }

  void look_ahead(std::size_t begin, std::size_t end, Label steps, std::vector<Index>& found) {
    const Label mark = mark_after_(steps);
    const Index over = over_;
    const Index *const frontier = frontier_.data(), *const head = block_.head.data();
    const std::uint64_t* const first = block_.first.data();
    Marks::Slot* const marks = marks_.slots();
    for (std::size_t k = begin; k < end; ++k) {
      // The arcs of a node eight visits early, the marks at their ends three.
      if (k + 8 < end) prefetch(head + first[frontier[k + 8]]);
      if (k + 3 < end) marks_.prefetch_ends(block_, frontier[k + 3]);
      const Index i = frontier[k];
      for (std::uint64_t a = first[i], last = first[i + 1]; a < last; ++a) {
        const Index j = head[a] & head::kTo;
        // One branch on both conditions: each alone is a coin toss.
        const bool is_open = (head[a] & over) == over, is_new = marks[j] == Marks::kUnreachable;
        if (!(is_open & is_new)) continue;
        marks[j] = mark;
        found.push_back(j);
      }
    }
  }

  void look_back(std::size_t begin, std::size_t end, Label steps, std::vector<Index>& found) {
    const Index over = mirrored(over_);
    const Label mark = mark_after_(steps), before = mark_after_(steps - 1);
    const Index* const head = block_.head.data();
    const std::uint64_t* const first = block_.first.data();
    Marks::Slot* const marks = marks_.slots();
    for (std::size_t k = begin; k < end; ++k) {
      const auto i = static_cast<Index>(k);
      if (marks[i] != Marks::kUnreachable) continue;
      for (std::uint64_t a = first[i], last = first[i + 1]; a < last; ++a) {
        const bool is_open = (head[a] & over) == over, leads_back = marks[head[a] & head::kTo] == before;
        if (!(is_open & leads_back)) continue;
        marks[i] = mark;
        found.push_back(i);
        break;
      }
    }
  }

  const Block& block_;
  Marks& marks_;
  const Index over_;
  const MarkAfter& mark_after_;
  Crew& crew_;
  Pace& pace_;
  std::vector<Index> frontier_, found_;
  std::vector<std::vector<Index>> found_by_range_;
};

template <typename MarkAfter>
bool breadth_first(const Block& block, Marks& marks, std::vector<Index> frontier, Label most_steps, Index over,
                   const MarkAfter& mark_after, Crew& crew, Pace& pace) {
  return BreadthFirst<MarkAfter>(block, marks, over, mark_after, crew, pace).run(std::move(frontier), most_steps);
}

}  // namespace labelcut
