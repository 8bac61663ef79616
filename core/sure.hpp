// Nodes that are sure to join always or never, whatever the others do.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "flow.hpp"
#include "make_block.hpp"
#include "pairs.hpp"
#include "split.hpp"

namespace labelcut {

// What is known of the nodes, at any t or at one end of it.
struct Known {
  enum Is : std::uint8_t { kAlways, kOpen, kNever, kNumberOf };
  struct Node {
    double left;     // what its arcs to open nodes cannot carry away
    double lacking;  // what its arcs from open nodes cannot bring
    double lean;     // its arcs to and from nodes with slope
    double least;    // the margin that makes it sure; smaller ones may be rounding and are left to a flow
  };

  explicit Known(Index n_nodes) : is(n_nodes, kOpen), nodes(n_nodes) {}
  Grouping groups() const { return Grouping(is, kNumberOf); }

  std::vector<Is> is;
  std::vector<Node> nodes;
};

// A node without slope that holds more than all its arcs could carry away joins always; one that lacks more than they could
// bring never does. Either way its neighbours are done with those arcs, which may make them sure in turn.
//
// Others are sure only as a crowd. At the lower end of the trade-off all nodes with slope are outside; what joins even then
// joins always. There the rule above leaves few nodes open, and one flow among those tells. Likewise, at the upper end, for
// what never joins. What stays open joins at a finite t. How many are found so, and what it saves, is in docs/cut.md.
class Sure {
 public:
  Sure(const Pairs& pairs, const double* cost, const double* slope, Index n_nodes, Pace& pace)
      : pairs_(pairs), cost_(cost), slope_(slope), n_(n_nodes), pace_(pace) {}

  // Those that always join, the others, and those that never do.
  Grouping run(Crew& crew) const {
    Known known(n_);
    if (std::any_of(slope_, slope_ + n_, [](double m) { return m == 0; })) {
      weigh(known.nodes, crew);
      decide_all(known);
      std::vector<Known::Is> is = known.is;
      Known at_lower = known, at_upper = std::move(known);
      std::vector<Index> always, never;
      crew.run(2, [&](std::size_t end) {
        (end == 0 ? always : never) = decide_at_end(std::move(end == 0 ? at_lower : at_upper), end == 0);
      });
      for (const Index i : always) is[i] = Known::kAlways;
      for (const Index i : never) is[i] = Known::kNever;
      known.is = std::move(is);
    }
    return known.groups();
  }

 private:
  using Node = Known::Node;

  void weigh(std::vector<Node>& nodes, Crew& crew) const {
    std::vector<std::uint8_t> has_slope(n_);  // stays in the cache
    std::transform(slope_, slope_ + n_, has_slope.begin(), [](double m) { return m > 0; });
    crew.run_ranges(n_, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const auto i = static_cast<Index>(k);
        nodes[i] = weighed(i, has_slope);
      }
    });
  }

  Node weighed(Index i, const std::vector<std::uint8_t>& has_slope) const {
    double out = 0, in = 0, lean = 0;
    for (std::int64_t a = pairs_.row_start[i]; a < pairs_.row_start[i + 1]; ++a) {
      const double c = pairs_.capacity[a], back = pairs_.back[a];
      out += c;
      in += back;
      lean += has_slope[pairs_.column[a]] * (c + back);
    }
    const double left = -cost_[i] - out, lacking = cost_[i] - in;
    const double size = std::abs(cost_[i]) + std::abs(left) + std::abs(lacking);
    return {left, lacking, lean, has_slope[i] ? kInfinity : 1e-13 * size};
  }

  // Finds what is sure by its own arcs, and what that makes sure.
  void decide_all(Known& known) const {
    std::vector<Index> sure;
    for (Index i = 0; i < n_; ++i) {
      if (known.is[i] == Known::kOpen) decide(known, i, sure);
    }
    for (std::size_t k = 0; k < sure.size(); ++k) {
      // Memory answers late: ask for the arcs of a node eight visits ahead, for what is at their ends three ahead.
      if (k + 8 < sure.size()) prefetch_arcs(sure[k + 8]);
      if (k + 3 < sure.size()) prefetch_ends(known, sure[k + 3]);
      spread(known, sure[k], sure);
      if (k % 2048 == 0) pace_.tick();
    }
  }

  static void decide(Known& known, Index i, std::vector<Index>& sure) {
    const Node& node = known.nodes[i];
    if (std::max(node.left, node.lacking) <= node.least) return;
    known.is[i] = node.left > node.lacking ? Known::kAlways : Known::kNever;
    sure.push_back(i);
  }

  void spread(Known& known, Index i, std::vector<Index>& sure) const {
    const bool joins = known.is[i] == Known::kAlways;
    for (std::int64_t a = pairs_.row_start[i]; a < pairs_.row_start[i + 1]; ++a) {
      const auto j = static_cast<Index>(pairs_.column[a]);
      if (known.is[j] != Known::kOpen) continue;
      Node& node = known.nodes[j];
      (joins ? node.left : node.lacking) += pairs_.capacity[a] + pairs_.back[a];
      decide(known, j, sure);
    }
  }

  void prefetch_arcs(Index i) const {
    const std::int64_t a = pairs_.row_start[i];
    prefetch(pairs_.column + a);
    prefetch(pairs_.capacity.address(a));
  }

  void prefetch_ends(const Known& known, Index i) const {
    for (std::int64_t a = pairs_.row_start[i]; a < pairs_.row_start[i + 1]; ++a) {
      const std::int32_t j = pairs_.column[a];
      if (known.is[j] == Known::kOpen) prefetch(&known.nodes[j]);
    }
  }

  // Those that join although no node with slope does (the lower end), or do not although all of them do (the upper). What
  // makes no difference does not join.
  std::vector<Index> decide_at_end(Known known, bool is_lower) const {
    for (Index i = 0; i < n_; ++i) {
      Node& node = known.nodes[i];
      if (slope_[i] > 0) known.is[i] = is_lower ? Known::kNever : Known::kAlways;
      (is_lower ? node.lacking : node.left) += node.lean;
    }
    decide_all(known);
    known.nodes = {};  // as large as what follows
    Crew nobody(1, pace_, [] { return false; });
    const auto block = first_block(pairs_, cost_, known.groups(), Known::kOpen, nobody);
    block->slope.assign(block->size(), 0.0);
    Marks marks = Flow(*block, nobody, pace_).run();
    mark_excess(*block, marks, nobody, pace_);
    std::vector<Index> found;
    for (Index k = 0; k < block->size(); ++k) {
      if ((marks[k] == kByExcess) == is_lower) found.push_back(block->id[k]);
    }
    return found;
  }

  const Pairs& pairs_;
  const double* const cost_;
  const double* const slope_;
  const Index n_;
  Pace& pace_;
};

}  // namespace labelcut
