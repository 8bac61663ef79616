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

namespace labelcut {

using Label = std::int32_t;

inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// What reached a node that cannot reach a deficit.
enum Mark : Label { kByExcess = -1, kBySlope = -2 };

// One number per node of a block: its distance to the nearest deficit or, where there is none, what reached it instead.
// Threads that search together only ever replace kUnreachable, each node once and by the same number, so their order does
// not show; hence relaxed atomics will do.
class Marks {
 public:
  static constexpr Label kUnreachable = std::numeric_limits<Label>::max();
  static constexpr Label kFarthest = kUnreachable - 1;

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

// Calls visit(node, steps, found) on the frontier, then on all that was found, and so on, for so many steps; false if
// something was left to visit. Large frontiers are shared; the order of visits within a step is then open, so it must not
// matter.
template <typename Visit>
bool breadth_first(const Block& block, const Marks& marks, std::vector<Index> frontier, Label most_steps, Crew& crew,
                   Pace& pace, const Visit& visit) {
  constexpr std::size_t kWorthSharing = 4096;
  constexpr std::size_t kChunks = 32;
  const auto visit_range = [&](std::size_t begin, std::size_t end, Label steps, std::vector<Index>& found) {
    for (std::size_t k = begin; k < end; ++k) {
      // Memory answers late: ask for the arcs of a node eight visits ahead, for the marks at their ends three ahead.
      if (k + 8 < end) prefetch(block.head.data() + block.first[frontier[k + 8]]);
      if (k + 3 < end) marks.prefetch_ends(block, frontier[k + 3]);
      visit(frontier[k], steps, found);
    }
  };
  std::vector<Index> found;
  std::vector<std::vector<Index>> found_by_chunk(crew.is_alone() ? 0 : kChunks);
  for (Label steps = 1; !frontier.empty() && steps <= most_steps; ++steps) {
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
  return frontier.empty();
}

}  // namespace labelcut
