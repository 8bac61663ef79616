// Nodes that are sure to join always or never, whatever the others do.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "block.hpp"
#include "pairs.hpp"
#include "split.hpp"

namespace labelcut {

// A node without slope that holds more than all its arcs could carry away joins always; one that lacks more than they could
// bring never does. Either way its neighbours are done with those arcs, which may make them sure in turn. Where labels
// weigh about as much as arcs, that is up to a third of all nodes, for less than half the price of the first flow.
class Sure {
 public:
  // `base` is what each node holds before any flow.
  Sure(const Pairs& pairs, const double* slope, std::vector<double>& base)
      : pairs_(pairs),
        slope_(slope),
        base_(base),
        part_(base.size(), kTied),
        left_(base.size()),
        lacking_(base.size()),
        least_(base.size()) {}

  // Returned are those that always join, the others, and those that never do. The others have been given what flows to them
  // from the first, and have lost what flows from them to the last.
  Grouping run() {
    const auto n = static_cast<Index>(base_.size());
    if (std::any_of(slope_, slope_ + n, [](double m) { return m == 0; })) {
      weigh();
      for (Index i = 0; i < n; ++i) decide(i);
      for (std::size_t k = 0; k < sure_.size(); ++k) spread(sure_[k]);
    }
    return Grouping(part_, kNumberOfParts);
  }

 private:
  void weigh() {
    for (std::size_t i = 0; i < base_.size(); ++i) {
      double out = 0;
      for (std::int64_t a = pairs_.row_start[i]; a < pairs_.row_start[i + 1]; ++a) {
        out += pairs_.capacity[a];
        lacking_[pairs_.column[a]] -= pairs_.capacity[a];
      }
      left_[i] = base_[i] - out;
    }
    for (std::size_t i = 0; i < base_.size(); ++i) {
      lacking_[i] -= base_[i];
      // Smaller margins may be rounding and are left to a flow.
      least_[i] = 1e-13 * (std::abs(left_[i]) + std::abs(lacking_[i]) + std::abs(base_[i]));
    }
  }

  void decide(Index i) {
    if (slope_[i] > 0 || std::max(left_[i], lacking_[i]) <= least_[i]) return;
    part_[i] = left_[i] > lacking_[i] ? kEarly : kLate;
    sure_.push_back(i);
  }

  void spread(Index i) {
    for (std::int64_t a = pairs_.row_start[i]; a < pairs_.row_start[i + 1]; ++a) {
      const auto j = static_cast<Index>(pairs_.column[a]);
      if (part_[j] != kTied) continue;
      const double out = pairs_.capacity[a], in = pairs_.capacity[pairs_.mate_of(a)];
      if (part_[i] == kEarly) {
        base_[j] += out;
        left_[j] += out + in;
      } else {
        base_[j] -= in;
        lacking_[j] += out + in;
      }
      decide(j);
    }
  }

  const Pairs& pairs_;
  const double* const slope_;
  std::vector<double>& base_;
  std::vector<Part> part_;
  std::vector<double> left_;     // by node: what its arcs cannot carry away
  std::vector<double> lacking_;  // by node: what its arcs cannot bring
  std::vector<double> least_;    // by node: the margin that makes it sure
  std::vector<Index> sure_;
};

}  // namespace labelcut
