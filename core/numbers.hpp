// The numbers that all files of the core share.

#pragma once

#include <cstdint>
#include <limits>

namespace labelcut {

using Index = std::uint32_t;  // a node of a block

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kEnough = 1e300;  // beyond it products overflow, and no cost can matter

}  // namespace labelcut
