// Many cuts of a block at once: evens out the thresholds of neighbours, then cuts wherever no room leads across.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "block.hpp"
#include "crew.hpp"
#include "grouping.hpp"
#include "sum.hpp"

namespace labelcut {

// Halving a block by one flow after another looks at nearly every arc once per level. Where all nodes have slope this is
// cheaper, and comes first. Between two neighbours as much flows as makes them join at the same t, or as the arcs allow; over
// and over, this converges to the flow that is maximal at every t. Where it has come close, nodes in the order of their own
// thresholds fall into pieces that no arc with room leaves towards a later one. The flow at hand proves each such cut, so it
// need not have converged. A sweep costs a fortieth of a maximum flow; distant nodes need many.
class Balance {
 public:
  Balance(Block& block, Pace& pace) : block_(block), pace_(pace), nodes_(block.size()), piece_of_(block.size()) {}

  // Whether sweeps may pay: every node has a threshold of its own or makes no difference, and the block is not so large
  // that other threads would wait for them.
  static bool is_worthwhile(const Block& block) {
    constexpr Index kFewNodes = 64, kManyNodes = 1 << 17;
    constexpr std::size_t kManyArcs = 1 << 21;
    if (block.size() < kFewNodes || block.size() > kManyNodes || block.head.size() > kManyArcs) return false;
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
  struct Node {
    double pull;  // minus its own threshold
    double give;  // how far a unit of flow moves it
  };
  struct Edge {
    Index from, to;
    double flow;
    double least, most;
    double stiffness;  // how much flow changes the difference of the thresholds by one
  };

  // Calls visit(node, arc, edge) for every pair of opposite arcs. Edges are numbered such that those of a node lie far
  // apart: then the next one need not wait for the last.
  template <typename Visit>
  void for_each_edge(const Visit& visit) {
    std::vector<Index> next;  // by how many edges of the node came before
    std::vector<Index> n_upper(block_.size());
    for (Index i = 0; i < block_.size(); ++i) {
      const auto begin = block_.head.begin() + static_cast<std::ptrdiff_t>(block_.first[i]);
      const auto end = block_.head.begin() + static_cast<std::ptrdiff_t>(block_.first[i + 1]);
      n_upper[i] = static_cast<Index>(std::count_if(begin, end, [i](Index head) { return (head & head::kTo) > i; }));
      if (n_upper[i] >= next.size()) next.resize(n_upper[i] + 1, 0);
      ++next[n_upper[i]];
    }
    // Nodes with more than k upper arcs, then where the k-th edges begin.
    Index n_more = 0;
    for (std::size_t k = next.size(); k-- > 0;) n_more += std::exchange(next[k], n_more);
    std::exclusive_scan(next.begin(), next.end(), next.begin(), Index{0});
    for (Index i = 0; i < block_.size(); ++i) {
      const std::uint64_t upper = block_.first[i + 1] - n_upper[i];
      for (Index k = 0; k < n_upper[i]; ++k) visit(i, upper + k, next[k]++);
    }
  }

  void list_edges() {
    for (Index i = 0; i < block_.size(); ++i) nodes_[i].give = 1 / block_.slope[i];
    restate_pulls();
    edges_.resize(block_.head.size() / 2);
    for_each_edge([&](Index i, std::uint64_t arc, Index edge) {
      const Index j = block_.head[arc] & head::kTo;
      edges_[edge] = {i, j, 0.0, -block_.room[block_.mate_of(arc)], block_.room[arc], 1 / (nodes_[i].give + nodes_[j].give)};
    });
  }

  void sweep(double relaxation) {
    for (Edge& edge : edges_) {
      Node &from = nodes_[edge.from], &to = nodes_[edge.to];
      const double pull_from = from.pull, pull_to = to.pull, before = edge.flow;
      const double wanted = before + relaxation * edge.stiffness * (pull_from - pull_to);
      edge.flow = std::max(edge.least, std::min(edge.most, wanted));
      const double moved = edge.flow - before;
      from.pull = pull_from - moved * from.give;
      to.pull = pull_to + moved * to.give;
    }
  }

  // Frees the pulls from the rounding of all the steps.
  void restate_pulls() {
    for (Index i = 0; i < block_.size(); ++i) nodes_[i].pull = block_.held[i].base;
    for (const Edge& edge : edges_) {
      nodes_[edge.from].pull -= edge.flow;
      nodes_[edge.to].pull += edge.flow;
    }
    for (Index i = 0; i < block_.size(); ++i) {
      const double slope = block_.slope[i];
      nodes_[i].pull = slope > 0 ? nodes_[i].pull / slope : -kInfinity;
    }
  }

  // Numbers the pieces. Returned is how many times a node's piece would have to be halved to be cut up, on average.
  double find_pieces() {
    const Index n = block_.size();
    std::vector<std::pair<double, Index>> order(n);
    for (Index i = 0; i < n; ++i) order[i] = {-nodes_[i].pull, i};
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Index> rank(n);
    for (Index k = 0; k < n; ++k) rank[order[k].second] = k;
    std::vector<Index> reach(n);
    std::iota(reach.begin(), reach.end(), 0);
    for (const Edge& edge : edges_) {
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
    for_each_edge([&](Index i, std::uint64_t arc, Index edge) {
      const Edge& ended = edges_[edge];
      const std::uint64_t mate = block_.mate_of(arc);
      const auto fill = [&](std::uint64_t a, std::uint64_t opposite, double room) {
        block_.room[a] = room;
        block_.head[a] = room > 0 ? block_.head[a] | head::kHasRoom : block_.head[a] & ~head::kHasRoom;
        block_.head[opposite] =
            room > 0 ? block_.head[opposite] | head::kMateHasRoom : block_.head[opposite] & ~head::kMateHasRoom;
      };
      fill(arc, mate, ended.most - ended.flow);
      fill(mate, arc, ended.flow - ended.least);
      base[i].add(-ended.flow);
      base[ended.to].add(ended.flow);
    });
    for (Index i = 0; i < block_.size(); ++i) block_.held[i].base = base[i].value();
  }

  Block& block_;
  Pace& pace_;
  std::vector<Edge> edges_;
  std::vector<Node> nodes_;
  std::vector<Index> piece_of_;
};

}  // namespace labelcut
