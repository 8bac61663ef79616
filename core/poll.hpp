// How long work tells of itself and lets itself be stopped.

#pragma once

#include <cstdint>
#include <functional>

namespace labelcut {

// Called on the calling thread several times a second with the number of things settled. It may throw to stop.
using Poll = std::function<void(std::int64_t n_settled)>;

}  // namespace labelcut
