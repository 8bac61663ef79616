// The inner loops for x86 processors with AVX-512.

#include <immintrin.h>

#include "tile.hpp"

namespace labelcut {
namespace {

struct Floats512 {
  __m512 number;

  static Floats512 load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static Floats512 all(float x) { return {_mm512_set1_ps(x)}; }
  void add_product(Floats512 a, Floats512 b) { number = _mm512_fmadd_ps(a.number, b.number, number); }
  std::uint32_t at_most(Floats512 limit) const { return _mm512_cmp_ps_mask(number, limit.number, _CMP_LE_OQ); }
};

struct Doubles512 {
  __m512d number;

  static Doubles512 load(const double* from) { return {_mm512_loadu_pd(from)}; }
  static Doubles512 all(double x) { return {_mm512_set1_pd(x)}; }
  void store(double* to) const { _mm512_storeu_pd(to, number); }
  void add_product(Doubles512 a, Doubles512 b) { number = _mm512_fmadd_pd(a.number, b.number, number); }
  void add_square(Doubles512 a, Doubles512 b) {
    const __m512d difference = _mm512_sub_pd(a.number, b.number);
    number = _mm512_add_pd(number, _mm512_mul_pd(difference, difference));
  }
  std::uint32_t at_most(Doubles512 limit) const { return _mm512_cmp_pd_mask(number, limit.number, _CMP_LE_OQ); }
};

}  // namespace

const Loops avx512_loops = {scan_tile<Floats512, float>, scan_tile<Doubles512, double>, measure_away<Doubles512>};

}  // namespace labelcut
