// The inner loops for x86 processors with AVX2 and FMA.

#include <immintrin.h>

#include "tile.hpp"

namespace labelcut {
namespace {

struct Floats256 {
  __m256 low, high;

  static Floats256 load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
  static Floats256 all(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  void add_product(Floats256 a, Floats256 b) {
    low = _mm256_fmadd_ps(a.low, b.low, low);
    high = _mm256_fmadd_ps(a.high, b.high, high);
  }
  std::uint32_t at_most(Floats256 limit) const {
    const int lower = _mm256_movemask_ps(_mm256_cmp_ps(low, limit.low, _CMP_LE_OQ));
    const int upper = _mm256_movemask_ps(_mm256_cmp_ps(high, limit.high, _CMP_LE_OQ));
    return static_cast<std::uint32_t>(lower | upper << 8);
  }
};

struct Doubles256 {
  __m256d low, high;

  static Doubles256 load(const double* from) { return {_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)}; }
  static Doubles256 all(double x) { return {_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
  void store(double* to) const {
    _mm256_storeu_pd(to, low);
    _mm256_storeu_pd(to + 4, high);
  }
  void add_product(Doubles256 a, Doubles256 b) {
    low = _mm256_fmadd_pd(a.low, b.low, low);
    high = _mm256_fmadd_pd(a.high, b.high, high);
  }
  void add_square(Doubles256 a, Doubles256 b) {
    const __m256d lower = _mm256_sub_pd(a.low, b.low), upper = _mm256_sub_pd(a.high, b.high);
    low = _mm256_add_pd(low, _mm256_mul_pd(lower, lower));
    high = _mm256_add_pd(high, _mm256_mul_pd(upper, upper));
  }
  std::uint32_t at_most(Doubles256 limit) const {
    const int lower = _mm256_movemask_pd(_mm256_cmp_pd(low, limit.low, _CMP_LE_OQ));
    const int upper = _mm256_movemask_pd(_mm256_cmp_pd(high, limit.high, _CMP_LE_OQ));
    return static_cast<std::uint32_t>(lower | upper << 4);
  }
};

}  // namespace

const Loops avx2_loops = {scan_tile<Floats256, float>, scan_tile<Doubles256, double>, measure_away<Doubles256>};

}  // namespace labelcut
