// Memory answers late: what a loop will read some rounds on is asked for early.

#pragma once

namespace labelcut {

inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

}  // namespace labelcut
