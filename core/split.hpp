// What the maximum flow of a block at its threshold t says about its nodes. Three parts:
//
//     early   what the flow's left-over excess can still reach: joins before t,
//     tied    what neither excess nor deficit concerns: joins exactly at t, and is settled,
//     late    the rest: joins after t.
//
// Early and late are blocks again, smaller and independent. If all is tied the block was one group.
//
// Zero slopes. Tied nodes without slope join at t only if a node with slope reaches them over arcs with room; the others
// make no difference at t and go on with the late part. A part without any slope at all is apart from its neighbours by
// rounding only: it joins at the end of its interval, or at t if that end is infinite.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "block.hpp"
#include "grouping.hpp"
#include "search.hpp"
#include "sum.hpp"

namespace labelcut {

// Groups of a split block, in the order of joining.
enum Part : std::uint8_t { kEarly, kTied, kLate, kNumberOfParts };

// The sums that make the threshold of a part.
struct PartSums {
  Sum excess, slope;
  void add(double e, double m) {
    excess.add(e);
    slope.add(m);
  }
  bool has_slope() const { return slope.value() > 0; }
  double shift() const { return excess.value() / slope.value(); }
};

inline bool has_slope(const Block& block, const Grouping& grouping, std::size_t group) {
  const auto begin = grouping.node_at.begin() + grouping.start[group];
  return std::any_of(begin, begin + grouping.size(group), [&](Index i) { return block.slope[i] > 0; });
}

// Gives `mark` to every undecided node that can be reached over arcs with room from those in `start`.
inline void mark_reachable(const Block& block, std::vector<Index> start, Mark mark, Marks& marks, Crew& crew,
                           Pace& pace) {
  for (const Index i : start) marks.set(i, mark);
  const auto same = [mark](Label) -> Label { return mark; };
  breadth_first(block, marks, std::move(start), Marks::kFarthest, head::kHasRoom, same, crew, pace);
}

// Marks what the excess that a flow has left behind can still reach.
inline void mark_excess(const Block& block, Marks& marks, Crew& crew, Pace& pace) {
  std::vector<Index> start;
  for (Index i = 0; i < block.size(); ++i) {
    if (marks[i] == Marks::kUnreachable && block.held[i].excess > 0) start.push_back(i);
  }
  mark_reachable(block, std::move(start), kByExcess, marks, crew, pace);
}

// Turns the distances that a flow returned into parts: what joins before, at and after the block's t.
inline Grouping split(const Block& block, Marks marks, Crew& crew, Pace& pace) {
  const auto is_early = [&](Index i) { return marks[i] == kByExcess; };
  const auto is_late = [&](Index i) { return marks[i] >= 0 && marks[i] != Marks::kUnreachable; };
  mark_excess(block, marks, crew, pace);

  // A part whose threshold differs from t by less than t can show is not apart.
  PartSums early, late;
  for (Index i = 0; i < block.size(); ++i) {
    if (is_early(i)) early.add(block.held[i].excess, block.slope[i]);
    if (is_late(i)) late.add(block.held[i].excess, block.slope[i]);
  }
  const bool is_early_real = block.is_careful() || !early.has_slope() || block.t - early.shift() < block.t;
  const bool is_late_real = block.is_careful() || !late.has_slope() || block.t - late.shift() > block.t;
  std::vector<Index> start;
  for (Index i = 0; i < block.size(); ++i) {
    if ((is_early(i) && !is_early_real) || (is_late(i) && !is_late_real)) marks.set(i, Marks::kUnreachable);
    if (marks[i] == Marks::kUnreachable && block.slope[i] > 0) start.push_back(i);
  }
  mark_reachable(block, std::move(start), kBySlope, marks, crew, pace);

  std::vector<Part> part(block.size());
  for (Index i = 0; i < block.size(); ++i) {
    part[i] = is_early(i) ? kEarly : marks[i] == kBySlope ? kTied : kLate;
  }
  return Grouping(part, kNumberOfParts);
}

}  // namespace labelcut
