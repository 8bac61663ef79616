// Minimum cuts of one graph for every value of a trade-off t.
//
// The problem. Directed arcs have capacities c[i][j] >= 0, nodes have a cost b[i] and a slope m[i] >= 0. Wanted, for
// every t, the smallest node set S that minimises
//
//     cost(S) = sum of c[i][j] over i in S, j not in S  +  sum of b[i] - t * m[i] over i in S.
//
// Since slopes are not negative these sets only grow with t, so the complete answer is one number per node:
// i is in S exactly when t > join_at[i]. A node that is in no smallest minimiser has join_at = +inf.
//
// Blocks. A block is a set of nodes that joins inside an interval of t, given that everything earlier is in S and
// everything later is not. Its threshold is the t at which taking all of it costs nothing. One maximum flow at that
// t splits it in three:
//
//     early   what the flow's left-over excess can still reach: joins before t,
//     tied    what neither excess nor deficit concerns: joins exactly at t, and is settled,
//     late    the rest: joins after t.
//
// Early and late are blocks again, smaller and independent. If all is tied the block was one group. With k distinct
// thresholds this takes at most 2k - 1 flows, on blocks that shrink fast.
//
// Sure nodes. A node without slope whose cost outweighs all its arcs joins always or never, whatever the others do, and
// its neighbours are done with those arcs. Others do so together; a flow at each end of t finds them, among few nodes. Both
// are settled before the first block is made. See sure.hpp.
//
// Components. The cuts take arcs away, until blocks fall apart. Components have no bearing on each other and go on as
// blocks of their own. See components.hpp.
//
// Balance. Halving a block by one flow after another looks at nearly every arc once per level. Where all nodes have slope,
// a cheaper way comes first: let flow run between neighbours until they would join at about the same t, sort the nodes by
// their own thresholds, and cut wherever no arc with room leads to a later node. That is often thousands of cuts at once,
// each proved by the flow at hand; what they leave uncut is for the flows above. See balance.hpp.
//
// State. A block is its residual arcs and one signed excess per node: no source, no sink, no costs. For any flow,
// cost(S) = (room on arcs leaving S) - (excess in S) + constant. Excess is t * m[i] + base[i]; base changes with the
// flow only, so at a new threshold nothing of a large old t is left in it. Arcs between early, tied and late are full
// and are dropped. So a child starts from its parent's flow, and excess never has to be carried back.
//
// Flow. Push-relabel: excess moves along arcs that come one step closer to a deficit, first in, first out; distances
// are measured exactly (breadth first from the deficits) whenever the work since then has paid for it. Excess far from
// any deficit waits until the near one is gone, and so do its distances: most of it turns out to be cut off. A push
// either empties its node or fills its arc, and sets that number to exactly zero, so the usual proof of termination
// holds for floating-point numbers and needs no tolerance.
//
// Zero slopes. Tied nodes without slope join at t only if a node with slope reaches them over arcs with room; the
// others make no difference at t and go on with the late part. A part without any slope at all is apart from its
// neighbours by rounding only: it joins at the end of its interval, or at t if that end is infinite.
//
// Numbers. The partition decides everything: at the end each group's threshold is computed anew from the given
// capacities and costs, with compensated sums in the order of the rows, and rounded to the largest double that is not
// above it where it is tiny. The order of groups that share arcs is kept, if need be by raising a threshold by its
// rounding error. After a flow, an excess within a few roundings of its own two terms is none. At a block's threshold the excesses
// add up to zero, so the node with the largest terms takes what the others leave instead of its own rounding error.
// Rounding is thus relative to the terms of a node and to what passes through it. Costs and slopes are counted in powers of
// two near the largest of them, which rounds nothing and keeps thresholds inside the range of a double; those beyond it in
// the caller's units are reported as infinite.
//
// Care. Where costs and capacities, or slopes, differ in size by more than 1e25 (outliers under a Gaussian kernel do), a
// small node that a large flow has crossed would have lost its own numbers. Then every child starts without flow
// from the given numbers, an excess within the rounding of all that has passed its node is none, and a block that lies
// entirely on one side of its rounded threshold is tried again a few roundings further on. About half as fast.
//
// Threads. Each takes the largest block that waits; while none waits it shares the searches of the others. What is
// computed does not depend on the number of threads, only when.
//
// Complexity. Each flow is O(nodes^2 * sqrt(arcs)) at worst for push-relabel, in practice nearly linear on similarity
// graphs; memory is two copies of the arcs (16 bytes each) and of the nodes (about 60 bytes). Nothing recurses.
//
// Sources: Gallo, Grigoriadis, Tarjan (1989) for the nesting; Goldberg, Tarjan (1988) and Cherkassky, Goldberg (1997) for
// push-relabel with exact distances; Tarjan, Ward, Zhang, Zhou, Mao (2006) for balancing arcs; the divide and conquer over
// thresholds is folklore of isotonic and total-variation problems (Hochbaum 2001; Chambolle, Darbon 2009).

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace labelcut {

// Arcs by row: those of node i are at row_start[i] .. row_start[i + 1], with ascending columns. The pattern need
// not be symmetric; arcs from a node to itself are ignored.
struct Graph {
  std::int64_t n_nodes;
  const std::int64_t* row_start;
  const std::int32_t* column;
  const double* capacity;
};

// Called on the calling thread several times a second with the number of settled nodes. It may throw to stop.
using Poll = std::function<void(std::int64_t n_settled)>;

// join_at for every node. Capacities, costs and slopes are finite, capacities and slopes not negative, t_min <= t_max;
// nodes that join before t_min get -inf, nodes that have not joined at t_max get +inf.
std::vector<double> solve_path(const Graph& graph, const double* cost, const double* slope, double t_min, double t_max,
                               int n_threads, const Poll& poll);

// A flow, one number per arc of the graph, that carries as much as possible from nodes with positive excess to nodes
// with negative excess. Used to certify results.
std::vector<double> route(const Graph& graph, const double* excess, const Poll& poll);

}  // namespace labelcut
