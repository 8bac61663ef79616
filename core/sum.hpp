// Sums of doubles: one that loses nothing worth mentioning, and one with the bytes of numpy.

#pragma once

#include <cstdint>

namespace labelcut {

// A sum that keeps what each addition rounds off (Neumaier), found without a branch (Knuth).
class Sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    const double added = next - sum_;
    lost_ += (sum_ - (next - added)) + (x - added);
    sum_ = next;
  }
  void add(const Sum& other) {
    add(other.sum_);
    lost_ += other.lost_;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

// The sum of number(begin) .. number(end - 1) in the order of numpy: eight sums side by side, and halves of more than 128.
template <typename Get>
double add_up(std::int64_t begin, std::int64_t end, const Get& number) {
  const std::int64_t n = end - begin;
  if (n > 128) {
    const std::int64_t middle = begin + n / 2 - n / 2 % 8;
    return add_up(begin, middle, number) + add_up(middle, end, number);
  }
  std::int64_t k = begin;
  double total = 0.0;
  if (n >= 8) {
    double sum[8];
    for (std::int64_t l = 0; l < 8; ++l) sum[l] = number(k + l);
    for (k += 8; k + 8 <= end; k += 8) {
      for (std::int64_t l = 0; l < 8; ++l) sum[l] += number(k + l);
    }
    total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
  for (; k < end; ++k) total += number(k);
  return total;
}

}  // namespace labelcut
