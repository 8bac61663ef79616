// Minimum cuts of one graph for every value of a trade-off t.
//
// The problem. Directed arcs have capacities c[i][j] >= 0, nodes have a cost b[i] and a slope m[i] >= 0. Wanted, for
// every t, the smallest node set S that minimises
//
//     cost(S) = sum of c[i][j] over i in S, j not in S  +  sum of b[i] - t * m[i] over i in S.
//
// The answer. Since slopes are not negative these sets only grow with t, so all of them are one number per node:
// i is in S exactly when t > join_at[i]; -inf means always, +inf never.
//
// Ties. Of equally cheap sets the smallest is meant, and it is the only smallest one: minimum cuts are closed under
// intersection. So at its own threshold a node is still outside, and a node that makes no difference never joins. A node
// without slope has no threshold of its own: it joins together with others, or always, or never.
//
// The way, each part told where its data is:
//
//     pairs.hpp       the given arcs, every one with its opposite
//     sure.hpp        nodes that join always or never are settled first
//     block.hpp       the others are a block: nodes that join inside an interval of t. A block
//     components.hpp    falls apart where it does not hang together,
//     balance.hpp       or is cut at many thresholds at once,
//     even_out.hpp      or, perhaps evened out along a tree,
//     flow.hpp          gets a maximum flow at its own threshold
//     split.hpp           and is split by it into early, tied and late
//     make_block.hpp  of which early and late are blocks again
//     thresholds.hpp  at the end each group's threshold is computed anew from the given numbers
//     crew.hpp        threads, progress, stopping early
//
// These share numbers.hpp, sum.hpp, grouping.hpp, poll.hpp, prefetch.hpp and search.hpp (breadth first, by all threads that
// are idle). How arrays come from Python is in arrays.hpp; the other half of the core, which finds neighbours, begins with
// neighbors.hpp.
//
// Guarantees. The answer has the same bytes for any number of threads. There are no absolute tolerances: rounding is
// relative to the terms of a node and to what passes through it. Where costs and capacities, or slopes, differ in size by
// more than 1e25, a slower and more careful way is taken. Thresholds beyond the range of a double are infinite. Nothing
// recurses, and an exception thrown by poll stops all threads before it reaches the caller.
//
// Complexity. With k distinct thresholds there are at most 2k - 1 flows, on blocks that shrink fast. Each flow is
// O(nodes^3) at worst, in practice nearly linear on similarity graphs; memory is two copies of the arcs (16 bytes each)
// and of the nodes (about 60 bytes).
//
// Sources: Gallo, Grigoriadis, Tarjan (1989) for the nesting; Goldberg, Tarjan (1988) and Cherkassky, Goldberg (1997) for
// push-relabel with exact distances; Beamer, Asanovic, Patterson (2012) for searches that look back; Tarjan, Ward, Zhang,
// Zhou, Mao (2006) for balancing arcs; the divide and conquer over thresholds is folklore of isotonic and total-variation
// problems (Hochbaum 2001; Chambolle, Darbon 2009).

#pragma once

#include <cstdint>
#include <vector>

#include "poll.hpp"

namespace labelcut {

// Capacities as the caller has them, floats or doubles; either way they are doubles to the core, which rounds none.
class Capacities {
 public:
  Capacities(const double* doubles) : doubles_(doubles) {}
  Capacities(const float* floats) : floats_(floats) {}

  double operator[](std::int64_t arc) const { return floats_ != nullptr ? static_cast<double>(floats_[arc]) : doubles_[arc]; }
  const void* address(std::int64_t arc) const {
    return floats_ != nullptr ? static_cast<const void*>(floats_ + arc) : doubles_ + arc;
  }

 private:
  const double* doubles_ = nullptr;
  const float* floats_ = nullptr;
};

// Arcs by row: those of node i are at row_start[i] .. row_start[i + 1], with ascending columns. The pattern need
// not be symmetric; arcs from a node to itself are ignored.
struct Graph {
  std::int64_t n_nodes;
  const std::int64_t* row_start;
  const std::int32_t* column;
  Capacities capacity;
};


// join_at for every node. Capacities, costs and slopes are finite, capacities and slopes not negative, t_min <= t_max;
// nodes that join before t_min get -inf, nodes that have not joined at t_max get +inf.
std::vector<double> solve_path(const Graph& graph, const double* cost, const double* slope, double t_min, double t_max,
                               int n_threads, const Poll& poll);

// A flow, one number per arc of the graph, that carries as much as possible from nodes with positive excess to nodes
// with negative excess. Used to certify results.
std::vector<double> route(const Graph& graph, const double* excess, const Poll& poll);

}  // namespace labelcut
