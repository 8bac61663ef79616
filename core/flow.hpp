// A maximum flow inside a block.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "block.hpp"
#include "crew.hpp"
#include "search.hpp"

namespace labelcut {

// A maximum flow from the excesses of a block to its deficits, by push-relabel: excess moves along arcs that come one step
// closer to a deficit, and a node without such an arc steps back.
//
// First in, first out. A pass over the queue lets all that arrives at a node gather before it moves on, which bounds the
// pushes by O(nodes^3); and a queue tells well ahead whose memory will be needed. Distances are measured exactly
// (breadth first from the deficits) whenever the work since then has paid for it.
//
// Far excess waits, and so do its distances: most of it turns out to be cut off once the near one is gone. How far `within_`
// reaches decides when a node moves, never whether: labels are at most the distance, so what waits is that far indeed, and
// the flow does not end before none waits. Growing by a quarter, `within_` has passed every distance after O(log nodes) rounds.
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
    if (block_.is_careful()) drop_rounding();
    begin_next_to_deficits();
    // An exact measurement costs as much as this many looks at arcs. If few nodes have excess half as many are spent: it likely
    // has far to go, and strays where labels are not exact.
    const bool are_few = n_active_ < n_ / 16;
    const std::uint64_t worth_measuring = (first_[n_] + 4 * std::uint64_t{n_}) / (are_few ? 4 : 2);
    for (;;) {
      while (n_active_ > 0) {
        discharge(pop());
        if (work_ > worth_measuring) measure_distances(within_);
      }
      if (far_.empty()) break;
      // Excess far from any deficit waits: most of it turns out to be cut off before it has to move.
      within_ += 2 + within_ / 4;
      if (!is_complete_ || work_ > worth_measuring / 4) {
        measure_distances(within_);
      } else {
        look_at_far_again();
      }
    }
    if (drop_rounding() || work_ > 0 || !is_complete_) measure_distances(Marks::kFarthest);
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
  Index ahead(Index k) const { return queue_[front_ + k < n_ ? front_ + k : front_ + k - n_]; }
  Index pop() {
    if (n_active_ > 10) {  // memory answers late: ask for what the next ones will need
      prefetch(&first_[ahead(10)]);
      prefetch(&held_[ahead(10)]);
      const std::uint64_t arc = first_[ahead(5)];
      prefetch(&head_[arc]);
      prefetch(&room_[arc]);
      prefetch(&mate_[arc]);
      label_.prefetch_ends(block_, ahead(2));
    }
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

  // Sets every label to the exact distance, breadth first from the deficits, and lists the active nodes. Distances above
  // `most` are only known to be that.
  void measure_distances(Label most) {
    work_ = 0;
    // Whether a node is listed here is a coin toss: it is always written down, and counted if it belongs.
    std::vector<Index> deficits(n_);
    Index n_deficits = 0;
    Marks::Slot* const labels = label_.slots();
    for (Index i = 0; i < n_; ++i) {
      const bool is_deficit = held_[i].excess < 0;
      labels[i] = !is_deficit * Marks::kUnreachable;
      deficits[n_deficits] = i;
      n_deficits += is_deficit;
    }
    deficits.resize(n_deficits);
    // Against the arcs: from a node to those that have room to it.
    const auto distance = [](Label steps) { return steps; };
    is_complete_ = breadth_first(block_, label_, std::move(deficits), most, head::kMateHasRoom, distance, crew_, pace_);
    std::fill(cursor_.begin(), cursor_.end(), 0);
    const Label beyond = is_complete_ ? Marks::kUnreachable : most + 1;
    Index n_near = 0, n_far = 0;
    far_.resize(n_);
    for (Index i = 0; i < n_; ++i) {
      const Label found = labels[i], label = found == Marks::kUnreachable ? beyond : found;
      labels[i] = label;
      const bool is_active = (held_[i].excess > 0) & (label != Marks::kUnreachable), is_near = label <= within_;
      queue_[n_near] = far_[n_far] = i;
      n_near += is_active & is_near;
      n_far += is_active & !is_near;
    }
    far_.resize(n_far);
    front_ = 0;
    back_ = n_near == n_ ? 0 : n_near;
    n_active_ = n_near;
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

  // Either empties the node or fills the arc, and sets that number to exactly zero: so the usual proof of termination holds
  // for floating-point numbers and needs no tolerance.
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
  // Valid: label[i] <= label[j] + 1 for every arc from i to j with room, and 0 at deficits. So a label is at most the number of
  // steps to the nearest deficit. A push goes one label down, so the arc it opens back is valid; stepping back makes a label
  // as large as the arcs with room allow. Between measurements labels only grow.
  Marks label_;
  std::vector<Index> cursor_;  // where to look on among a node's arcs; those before are seen again before it steps back
  // A ring of the active nodes: excess above 0, a label of at most within_. Each is in it, or in far_, once.
  std::vector<Index> queue_;
  Index front_ = 0;
  Index back_ = 0;
  Index n_active_ = 0;
  Label within_ = 1;
  std::vector<Index> far_;  // nodes with excess and a finite label that was above within_
  bool is_complete_ = false;  // the last measurement got to all that can reach a deficit
  std::uint64_t work_ = 0;  // looks at arcs since distances were exact
  std::uint64_t n_discharged_ = 0;
  std::vector<double> through_;  // per node of a careful block: its scale, and what has passed it
  double* net_flow_ = nullptr;
};

}  // namespace labelcut
