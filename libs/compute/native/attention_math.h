#ifndef RETRACE_ATTENTION_MATH_H_
#define RETRACE_ATTENTION_MATH_H_

#include <algorithm>

#include "op.h"
#include "vector_math.h"

namespace retrace {

/** H query heads, K key/value heads, G = H/K, D, and W = (H + 2K)·D: the joined width of queries, keys and values. */
struct Heads {
  int64_t num_heads, num_groups, group_size, head_dim, width;
};

/** Reads the heads from the input dims = [H, K, D]. */
inline Heads ReadHeads(OpCall& call, int input) {
  Require(call.Size(input) == 3, "dims must hold three numbers");
  const int32_t* dims = call.Ints(input);
  const int64_t num_heads = dims[0], num_groups = dims[1], head_dim = dims[2];
  Require(num_groups > 0 && num_heads % num_groups == 0, "query heads must be a multiple of key/value heads");
  Require(head_dim > 0 && head_dim % 2 == 0, "the head width must be even");
  return {num_heads, num_groups, num_heads / num_groups, head_dim, (num_heads + 2 * num_groups) * head_dim};
}

/** Rotates the neighbouring pairs of one head: (x₀ + i·x₁)·(c + i·s). */
RETRACE_INLINE void Rotate(const float* x, const float* factors, int64_t head_dim, float* y) {
  for (int64_t i = 0; i < head_dim; i += 2) {
    y[i] = x[i] * factors[i] - x[i + 1] * factors[i + 1];
    y[i + 1] = x[i] * factors[i + 1] + x[i + 1] * factors[i];
  }
}

/**
 * Replaces the first `num_visible` scores by exp(score − largest), and the others up to `num_columns`, a multiple of kLanes, by
 * exactly 0. Returns the sum.
 */
RETRACE_INLINE float SoftmaxPowers(float* x, int64_t num_visible, int64_t num_columns) {
  std::fill(x + num_visible, x + num_columns, -1e30f);
  Lanes largest_lanes = At(x);
  for (int64_t i = kLanes; i < num_columns; i += kLanes) {
    largest_lanes = largest_lanes < At(x + i) ? At(x + i) : largest_lanes;
  }
  const float largest = Largest(largest_lanes);
  Lanes sums = {};
  for (int64_t i = 0; i < num_columns; i += kLanes) {
    const Lanes power = Exp(At(x + i) - largest);
    At(x + i) = power;
    sums += power;
  }
  return Sum(sums);
}

}  // namespace retrace

#endif  // RETRACE_ATTENTION_MATH_H_
