// Many cuts of a block at once: evens out the thresholds of neighbours, then cuts wherever no room leads across.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "block.hpp"
#include "crew.hpp"
#include "grouping.hpp"
#include "search.hpp"
#include "sum.hpp"

namespace labelcut {

// Halving a block by one flow after another looks at nearly every arc once per level. Where all nodes have slope this is
// cheaper, and comes first. Between two neighbours as much flows as makes them join at the same t, or as the arcs allow; over
// and over, this converges to the flow that is maximal at every t. Where it has come close, nodes in the order of their own
// thresholds fall into pieces that no arc with room leaves towards a later one. The flow at hand proves each such cut, so it
// need not have converged. A sweep costs a fortieth of a maximum flow; distant nodes need many. The flow that a piece goes on
// with is close to the one it needs, so that its next flows take less time, too.
//
// Threads share a sweep of a large block. Its nodes are cut into kStrips strips, and edges lie by the pair of strips they join:
// a tile. Tiles that have no strip in common wait for nothing of each other. In round r of a sweep these are the tiles of
// strips s and s ^ r, so every edge has its turn in one of kStrips rounds, and what a sweep computes does not depend on who
// does which tile. Two strips also stay in the cache of a core, which the nodes of a large block do not.
class Balance {
 public:
  Balance(Block& block, Crew& crew, Pace& pace)
      : block_(block),
        crew_(crew),
        pace_(pace),
        n_strips_(block.size() < kWorthStrips ? 1 : kStrips),
        n_lower_(block.size()),
        nodes_(block.size()),
        piece_of_(block.size()) {}

  // Whether sweeps may pay: every node has a threshold of its own or makes no difference.
  static bool is_worthwhile(const Block& block) {
    constexpr Index kFewNodes = 64, kManyArcsEach = 64;
    if (block.size() < kFewNodes || block.head.size() / kManyArcsEach > block.size()) return false;
    if (block.is_careful() || block.is_balanced) return false;
    for (Index i = 0; i < block.size(); ++i) {
      double passes = std::abs(block.held[i].base);
      for (std::uint64_t a = block.first[i]; a < block.first[i + 1]; ++a) passes += block.room[a];
      const bool is_idle = passes == 0 && block.slope[i] == 0 && block.first[i] == block.first[i + 1];
      if (!is_idle && !(passes / block.slope[i] < kEnough)) return false;
    }
    return true;
  }

  // Changes the flow of the block. Returned are its pieces, the earliest first.
  Grouping run() {
    constexpr int kSweeps = 20, kExactAtTheEnd = 2;
    constexpr double kTooMuch = 1.6;  // to overdo each step needs half as many
    list_edges();
    double depth = std::log2(block_.size());
    for (bool is_paying = true; is_paying;) {
      for (int k = 0; k < kSweeps; ++k) sweep(k + kExactAtTheEnd < kSweeps ? kTooMuch : 1.0);
      restate_pulls();
      const double last = std::exchange(depth, find_pieces());
      // A round costs about as much as a maximum flow, which halves a block; the next one will save a good deal less.
      is_paying = last - depth > 2;
      pace_.tick();
    }
    keep_flow();
    return Grouping(piece_of_, 1 + *std::max_element(piece_of_.begin(), piece_of_.end()));
  }

 private:
  static constexpr Index kStrips = 32;            // a power of two, for the rounds
  static constexpr Index kWorthStrips = 1 << 15;  // nodes; fewer are swept in a moment
  static constexpr Index kRanks = 32;             // the edges of a node beyond these are together

  struct Node {
    double pull;  // minus its own threshold
    double give;  // how far a unit of flow moves it
  };
  struct Edge {
    Index from, to;
    double flow;
    double least, most;
  };

  Index strip_of(Index i) const { return static_cast<Index>(std::uint64_t{i} * n_strips_ / block_.size()); }
  Index strip_start(Index strip) const {
    return static_cast<Index>((std::uint64_t{strip} * block_.size() + n_strips_ - 1) / n_strips_);
  }
  std::size_t n_edges() const { return block_.head.size() / 2; }
  std::uint64_t first_upper(Index i) const { return block_.first[i] + n_lower_[i]; }

  // Memory answers late.
  void prefetch_mates(Index i) const {
    for (std::uint64_t a = first_upper(i); a < block_.first[i + 1]; ++a) {
      const std::uint64_t mate = block_.mate_of(a);
      prefetch(&block_.room[mate]);
      prefetch(&block_.head[mate]);
    }
  }

  // Calls visit(node, arc, place) for every pair of opposite arcs, nodes of different strips on different threads; a visit may
  // change the arc and its mate. A place is a tile and, within it, how many edges of the node came before: edges are
  // numbered such that those of a node lie far apart, so that the next one need not wait for the last.
  template <typename Visit>
  void for_each_upper_arc(const Visit& visit) {
    crew_.run(n_strips_, [&](std::size_t chunk) {
      const auto strip = static_cast<Index>(chunk);
      const Index end = strip_start(strip + 1);
      for (Index i = strip_start(strip); i < end; ++i) {
        if (i + 4 < end) prefetch_mates(i + 4);
        const std::uint64_t upper = first_upper(i);
        for (std::uint64_t a = upper; a < block_.first[i + 1]; ++a) {
          const Index other = strip_of(block_.head[a] & head::kTo), rank = static_cast<Index>(a - upper);
          visit(i, a, (std::size_t{strip} * n_strips_ + other) * kRanks + std::min(rank, kRanks - 1));
        }
      }
      pace_.tick();
    });
  }

  // Calls visit(node, arc, edge) for every pair of opposite arcs.
  template <typename Visit>
  void for_each_edge(const Visit& visit) {
    std::vector<std::uint64_t> next = start_;
    for_each_upper_arc([&](Index i, std::uint64_t arc, std::size_t place) { visit(i, arc, next[place]++); });
  }

  // Calls visit(edge) for every edge, tile by tile. Rounds below a power of two stay within as many strips: those within the
  // strips of one thread come first, without a wait. After that threads keep half of their strips from stretch to stretch,
  // because a core has to fetch the nodes of a strip from the core that had them before.
  template <typename Visit>
  void for_each_in_tiles(const Visit& visit) {
    const auto take = [&](Index first_strip, Index first_round, Index n) {
      for (Index round = first_round; round < first_round + n; ++round) {
        for (Index strip = first_strip; strip < first_strip + n; ++strip) {
          const Index other = strip ^ round;
          if (other < strip) continue;
          const std::size_t tile = (std::size_t{strip} * n_strips_ + other) * kRanks;
          for (std::uint64_t e = start_[tile]; e < start_[tile + kRanks]; ++e) visit(edges_[e]);
        }
        pace_.tick();
      }
    };
    Index own = n_strips_;  // of each thread, in the first stretch
    while (own > 2 && n_strips_ / own < crew_.n_threads()) own /= 2;
    crew_.run(n_strips_ / own, [&](std::size_t thread) { take(static_cast<Index>(thread) * own, 0, own); });
    const Index half = own / 2;
    for (Index round = own; round < n_strips_; round += half) {
      crew_.run(n_strips_ / half, [&](std::size_t chunk) {
        const Index strip = static_cast<Index>(chunk) * half;
        if (strip < (strip ^ round)) take(strip, round, half);
      });
    }
  }

  void list_edges() {
    for (Index i = 0; i < block_.size(); ++i) {
      const auto begin = block_.head.begin() + static_cast<std::ptrdiff_t>(block_.first[i]);
      const auto end = block_.head.begin() + static_cast<std::ptrdiff_t>(block_.first[i + 1]);
      n_lower_[i] = static_cast<Index>(std::count_if(begin, end, [i](Index head) { return (head & head::kTo) < i; }));
    }
    start_.assign(std::size_t{n_strips_} * n_strips_ * kRanks + 1, 0);
    for_each_upper_arc([&](Index, std::uint64_t, std::size_t place) { ++start_[place + 1]; });
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    for (Index i = 0; i < block_.size(); ++i) nodes_[i].give = 1 / block_.slope[i];
    edges_.reset(new Edge[n_edges()]);  // not filled with zeros first
    for_each_edge([&](Index i, std::uint64_t arc, std::uint64_t edge) {
      const Index j = block_.head[arc] & head::kTo;
      edges_[edge] = {i, j, 0.0, -block_.room[block_.mate_of(arc)], block_.room[arc]};
    });
    restate_pulls();
  }

  void sweep(double relaxation) {
    for_each_in_tiles([&](Edge& edge) {
      Node &from = nodes_[edge.from], &to = nodes_[edge.to];
      const double pull_from = from.pull, pull_to = to.pull, before = edge.flow;
      const double wanted = before + relaxation * (pull_from - pull_to) / (from.give + to.give);
      edge.flow = std::max(edge.least, std::min(edge.most, wanted));
      const double moved = edge.flow - before;
      from.pull = pull_from - moved * from.give;
      to.pull = pull_to + moved * to.give;
    });
  }

  // Frees the pulls from the rounding of all the steps.
  void restate_pulls() {
    for (Index i = 0; i < block_.size(); ++i) nodes_[i].pull = block_.held[i].base;
    for_each_in_tiles([&](const Edge& edge) {
      nodes_[edge.from].pull -= edge.flow;
      nodes_[edge.to].pull += edge.flow;
    });
    for (Index i = 0; i < block_.size(); ++i) {
      const double slope = block_.slope[i];
      nodes_[i].pull = slope > 0 ? nodes_[i].pull / slope : -kInfinity;
    }
  }

  // No two are equal, so however it is sorted the order is the same.
  void sort_shared(std::vector<std::pair<double, Index>>& order) {
    constexpr std::ptrdiff_t kRuns = 4;
    const auto n = static_cast<std::ptrdiff_t>(order.size());
    const auto begin = [&](std::ptrdiff_t run) { return order.begin() + n * run / kRuns; };
    if (crew_.is_alone()) {
      std::sort(order.begin(), order.end());
      return;
    }
    crew_.run(kRuns, [&](std::size_t k) {
      const auto run = static_cast<std::ptrdiff_t>(k);
      std::sort(begin(run), begin(run + 1));
    });
    for (std::ptrdiff_t width = 1; width < kRuns; width *= 2) {
      crew_.run(static_cast<std::size_t>(kRuns / width / 2), [&](std::size_t k) {
        const std::ptrdiff_t run = static_cast<std::ptrdiff_t>(k) * width * 2;
        std::inplace_merge(begin(run), begin(run + width), begin(run + width * 2));
      });
    }
  }

  // Numbers the pieces. Returned is how many times a node's piece would have to be halved to be cut up, on average.
  double find_pieces() {
    const Index n = block_.size();
    std::vector<std::pair<double, Index>> order(n);
    for (Index i = 0; i < n; ++i) order[i] = {-nodes_[i].pull, i};
    sort_shared(order);
    std::vector<Index> rank(n);
    for (Index k = 0; k < n; ++k) rank[order[k].second] = k;
    std::vector<Index> reach(n);
    std::iota(reach.begin(), reach.end(), 0);
    for (std::size_t e = 0; e < n_edges(); ++e) {
      const Edge& edge = edges_[e];
      const Index from = rank[edge.from], to = rank[edge.to];
      if (edge.flow < edge.most) reach[from] = std::max(reach[from], to);
      if (edge.flow > edge.least) reach[to] = std::max(reach[to], from);
    }
    double depth = 0;
    Index begin = 0, end = 0, piece = 0;
    for (Index k = 0; k < n; ++k) {
      end = std::max(end, reach[k]);
      piece_of_[order[k].second] = piece;
      if (end > k) continue;
      const double size = k + 1 - begin;
      depth += size * std::log2(size);
      begin = k + 1;
      ++piece;
    }
    return depth / n;
  }

  // What nodes hold is summed up from the flow, not from the many steps that led to it.
  void keep_flow() {
    std::vector<Sum> base(block_.size());
    for (Index i = 0; i < block_.size(); ++i) base[i].add(block_.held[i].base);
    for_each_in_tiles([&](const Edge& edge) {
      base[edge.from].add(-edge.flow);
      base[edge.to].add(edge.flow);
    });
    for (Index i = 0; i < block_.size(); ++i) block_.held[i].base = base[i].value();
    for_each_edge([&](Index, std::uint64_t arc, std::uint64_t edge) {
      const Edge& ended = edges_[edge];
      const double room = ended.most - ended.flow, back = ended.flow - ended.least;
      const Index flags = (room > 0 ? head::kHasRoom : 0) | (back > 0 ? head::kMateHasRoom : 0);
      const Index back_flags = (back > 0 ? head::kHasRoom : 0) | (room > 0 ? head::kMateHasRoom : 0);
      const std::uint64_t mate = block_.mate_of(arc);
      block_.room[arc] = room;
      block_.room[mate] = back;
      block_.head[arc] = ended.to | flags;
      block_.head[mate] = ended.from | back_flags;
    });
  }

  Block& block_;
  Crew& crew_;
  Pace& pace_;
  const Index n_strips_;
  std::vector<std::uint64_t> start_;  // edges of tile and rank: start_[place] .. start_[place + 1]
  std::vector<Index> n_lower_;        // per node, its arcs to lower nodes; the others are its upper arcs
  std::unique_ptr<Edge[]> edges_;
  std::vector<Node> nodes_;
  std::vector<Index> piece_of_;
};

}  // namespace labelcut
