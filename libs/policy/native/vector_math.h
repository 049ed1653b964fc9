#ifndef RETRACE_VECTOR_MATH_H_
#define RETRACE_VECTOR_MATH_H_

#include <cstdint>
#include <cstring>

/**
 * A function compiled for several generations of x86 processors; the best that the running one has is taken when the
 * library is loaded. What it calls must be inline.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define RETRACE_VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
/** The same where each generation has a text of its own: a function is written once for each. */
#define RETRACE_VERSIONS
#define RETRACE_VERSION(machine) __attribute__((target(machine)))
#else
#define RETRACE_VECTORIZED
#define RETRACE_VERSION(machine)
#endif

#define RETRACE_INLINE inline __attribute__((always_inline))

namespace retrace {

/**
 * Numbers that are computed with together, at any address: as many as a register of AVX2 holds. Of vectors that no register holds,
 * compilers keep what lives through a loop in memory, which makes it five to fifty times slower; AVX-512 at half its width costs a tenth
 * where elements are computed one by one, and products of matrices take `WideLanes` there. A template forgets that any address will
 * do, so templates take lanes by value, never by reference.
 */
constexpr int kLanes = 8;

#define RETRACE_VECTOR(Number, size) \
  typedef Number __attribute__((vector_size((size) * sizeof(Number)), aligned(sizeof(Number)), may_alias))
RETRACE_VECTOR(float, kLanes) Lanes;
RETRACE_VECTOR(int32_t, kLanes) IntLanes;
/** A register of SSE2 or NEON. */
RETRACE_VECTOR(float, kLanes / 2) HalfLanes;
/** A register of AVX-512. */
RETRACE_VECTOR(float, 2 * kLanes) WideLanes;

RETRACE_INLINE Lanes& At(float* x) { return *reinterpret_cast<Lanes*>(x); }
RETRACE_INLINE const Lanes& At(const float* x) { return *reinterpret_cast<const Lanes*>(x); }

/**
 * eˣ to 2 units in the last place: 2ⁿ·eʳ with |r| ≤ ln 2 / 2, eʳ by its Taylor polynomial of degree 7. Arguments
 * below −87 give exactly 0, those above 88 about 1.6e38; NaN stays NaN. For single numbers and lanes of them.
 */
template <typename Number, typename Integer>
RETRACE_INLINE Number ExpOf(Number x) {
  const Number zero = x - x;
  const Number highest = zero + 88.0f, lowest = zero - 87.0f;
  const Number floored = x < lowest ? lowest : x;
  const Number bounded = floored > highest ? highest : floored;
  // Adding and taking away 1.5·2²³ rounds to the nearest integer.
  const Number shifted = bounded * 1.44269504f + 12582912.0f;
  const Number n = shifted - 12582912.0f;
  // ln 2 in two parts, so that n·ln 2 is exact enough.
  const Number r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
  Number p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  Integer bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits << 23) + 0x3f800000;
  Number scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return x < lowest ? zero : p * scale;
}

RETRACE_INLINE float Exp(float x) { return ExpOf<float, int32_t>(x); }
RETRACE_INLINE Lanes Exp(const Lanes& x) { return ExpOf<Lanes, IntLanes>(x); }

RETRACE_INLINE float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }
RETRACE_INLINE Lanes Sigmoid(const Lanes& x) { return 1.0f / (1.0f + Exp(-x)); }

RETRACE_INLINE float Sum(const Lanes& lanes) {
  float sum = 0;
  for (int lane = 0; lane < kLanes; lane++) sum += lanes[lane];
  return sum;
}

RETRACE_INLINE float Largest(const Lanes& lanes) {
  float largest = lanes[0];
  for (int lane = 1; lane < kLanes; lane++) largest = largest < lanes[lane] ? lanes[lane] : largest;
  return largest;
}

/** As many numbers as a `Part` holds, at any address. */
template <typename Part>
RETRACE_INLINE Part PartAt(const float* x) {
  Part part;
  std::memcpy(&part, x, sizeof(part));
  return part;
}

/** The sum of the lanes, by halves. */
RETRACE_INLINE float FoldedSum(const Lanes& lanes) {
  HalfLanes halves[2];
  std::memcpy(halves, &lanes, sizeof(lanes));
  const HalfLanes half = halves[0] + halves[1];
  return (half[0] + half[2]) + (half[1] + half[3]);
}

/** Σ a·b */
RETRACE_INLINE float Dot(const float* a, const float* b, int64_t size) {
  Lanes even = {}, odd = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    even += At(a + i) * At(b + i);
    odd += At(a + i + kLanes) * At(b + i + kLanes);
  }
  for (; i + kLanes <= size; i += kLanes) even += At(a + i) * At(b + i);
  float sum = FoldedSum(even + odd);
  for (; i < size; i++) sum += a[i] * b[i];
  return sum;
}

}  // namespace retrace

#endif  // RETRACE_VECTOR_MATH_H_
