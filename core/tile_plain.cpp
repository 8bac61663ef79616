// The inner loops for any processor.

#include "tile.hpp"

namespace labelcut {
namespace {

template <typename Number>
struct PlainLanes {
  Number number[kLanes<Number>];

  static PlainLanes load(const Number* from) {
    PlainLanes lanes;
    for (std::size_t l = 0; l < kLanes<Number>; ++l) lanes.number[l] = from[l];
    return lanes;
  }
  static PlainLanes all(Number x) {
    PlainLanes lanes;
    for (Number& number : lanes.number) number = x;
    return lanes;
  }
  void store(Number* to) const {
    for (std::size_t l = 0; l < kLanes<Number>; ++l) to[l] = number[l];
  }
  void add_product(const PlainLanes& a, const PlainLanes& b) {
    for (std::size_t l = 0; l < kLanes<Number>; ++l) number[l] += a.number[l] * b.number[l];
  }
  void add_square(const PlainLanes& a, const PlainLanes& b) {
    for (std::size_t l = 0; l < kLanes<Number>; ++l) {
      const Number difference = a.number[l] - b.number[l];
      number[l] += difference * difference;
    }
  }
  std::uint32_t at_most(const PlainLanes& limit) const {
    std::uint32_t hits = 0;
    for (std::size_t l = 0; l < kLanes<Number>; ++l) hits |= std::uint32_t{number[l] <= limit.number[l]} << l;
    return hits;
  }
};

}  // namespace

const Loops plain_loops = {scan_tile<PlainLanes<float>, float>, scan_tile<PlainLanes<double>, double>,
                           measure_away<PlainLanes<double>>};

}  // namespace labelcut
