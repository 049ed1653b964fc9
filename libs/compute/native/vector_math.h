#ifndef RETRACE_VECTOR_MATH_H_
#define RETRACE_VECTOR_MATH_H_

#include <cstdint>
#include <cstring>
#include <utility>

#define RETRACE_INLINE inline __attribute__((always_inline))

namespace retrace {

/**
 * Numbers in one vector: as many as a register holds of the processor that this is compiled for (`binding.gyp`). Compilers keep
 * larger vectors in memory during a loop, which makes it five to fifty times slower.
 */
#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

/** A vector at any address. Template parameters lose its alignment, so memory is read and written as `Lanes` by name. */
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t IntLanes __attribute__((vector_size(kLanes * sizeof(int32_t)), aligned(sizeof(int32_t)), may_alias));

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
  // Adding and subtracting 1.5·2²³ rounds to the nearest integer.
  const Number shifted = bounded * 1.44269504f + 12582912.0f;
  const Number n = shifted - 12582912.0f;
  // With ln 2 in two parts, n·ln 2 is exact enough.
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

/** The sum of the lanes, by halves. */
RETRACE_INLINE float Sum(const Lanes& lanes) {
  float sums[kLanes];
  std::memcpy(sums, &lanes, sizeof(sums));
#pragma GCC unroll 4
  for (int width = kLanes / 2; width > 0; width /= 2) {
#pragma GCC unroll 8
    for (int lane = 0; lane < width; lane++) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

/** Picks lanes of two vectors; the indexes of b follow those of a. */
template <int... index>
RETRACE_INLINE Lanes Pick(const Lanes& a, const Lanes& b) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, index...);
#else
  return __builtin_shuffle(a, b, IntLanes{index...});
#endif
}

/** Adds the halves of each group of 2·width lanes; results of `a` come before those of `b`. */
template <int width, int... lane>
RETRACE_INLINE Lanes AddHalves(const Lanes& a, const Lanes& b, std::integer_sequence<int, lane...>) {
  return Pick<lane / width * 2 * width + lane % width...>(a, b) + Pick<lane / width * 2 * width + lane % width + width...>(a, b);
}

template <int width>
RETRACE_INLINE void AddHalvesOfAll(Lanes (&vectors)[kLanes]) {
  for (int i = 0; i < width; i++) {
    vectors[i] = AddHalves<width>(vectors[2 * i], vectors[2 * i + 1], std::make_integer_sequence<int, kLanes>());
  }
  if constexpr (width > 1) AddHalvesOfAll<width / 2>(vectors);
}

/** The sums of kLanes vectors, equal to `Sum` of each, in a few instructions each. */
RETRACE_INLINE Lanes Sums(Lanes (&vectors)[kLanes]) {
  AddHalvesOfAll<kLanes / 2>(vectors);
  return vectors[0];
}

RETRACE_INLINE float Largest(const Lanes& lanes) {
  float largest = lanes[0];
  for (int lane = 1; lane < kLanes; lane++) largest = largest < lanes[lane] ? lanes[lane] : largest;
  return largest;
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
  float sum = Sum(even + odd);
  for (; i < size; i++) sum += a[i] * b[i];
  return sum;
}

}  // namespace retrace

#endif  // RETRACE_VECTOR_MATH_H_
