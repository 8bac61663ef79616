// A sum of doubles that loses nothing worth mentioning.

#pragma once

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

}  // namespace labelcut
