// What the flow of a block says about its nodes: which join before its trade-off, at it, or after it.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "flow.hpp"

namespace labelcut {

enum class Part { early, tied, late };

inline Part part_of(Label mark) {
  return mark == Marks::kEarly ? Part::early : mark == Marks::kTied ? Part::tied : Part::late;
}

// The sums that make the threshold of one part of a block.
struct PartSums {
  Sum excess, slope;
  std::int64_t n = 0;
  bool has_slope() const { return slope.value() > 0; }
  double shift() const { return excess.value() / slope.value(); }
};

inline PartSums sums_of(const Block& block, const Marks& marks, Part part) {
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
inline void mark_reachable(const Block& block, std::vector<Index> start, Label mark, Marks& marks, Crew& crew,
                           Pace& pace) {
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
inline void split(const Block& block, Marks& marks, Crew& crew, Pace& pace) {
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

}  // namespace labelcut
