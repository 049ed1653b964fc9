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
#else
#define RETRACE_VECTORIZED
#endif

#define RETRACE_INLINE inline __attribute__((always_inline))

namespace retrace {

constexpr int kLanes = 16;

/**
 * Sixteen numbers that are computed with together, at any address: compilers take as many registers as it needs. A
 * template forgets that any address will do, so templates take lanes by value, never by reference.
 */
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t IntLanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));

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

typedef float HalfLanes __attribute__((vector_size(kLanes / 2 * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef float QuarterLanes __attribute__((vector_size(kLanes / 4 * sizeof(float)), aligned(sizeof(float)), may_alias));

/** The sum of the lanes, by halves. */
RETRACE_INLINE float FoldedSum(const Lanes& lanes) {
  HalfLanes halves[2];
  std::memcpy(halves, &lanes, sizeof(lanes));
  const HalfLanes half = halves[0] + halves[1];
  QuarterLanes quarters[2];
  std::memcpy(quarters, &half, sizeof(half));
  const QuarterLanes quarter = quarters[0] + quarters[1];
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/** Σ a·b */
RETRACE_INLINE float Dot(const float* a, const float* b, int64_t size) {
  Lanes lanes = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) lanes += At(a + i) * At(b + i);
  float sum = Sum(lanes);
  for (; i < size; i++) sum += a[i] * b[i];
  return sum;
}

}  // namespace retrace

#endif  // RETRACE_VECTOR_MATH_H_
