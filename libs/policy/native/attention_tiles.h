#ifndef RETRACE_ATTENTION_TILES_H_
#define RETRACE_ATTENTION_TILES_H_

#include <algorithm>
#include <cmath>

#include "vector_math.h"

/** Products of small matrices out of registers, for attention. Names: a [rows, depth] · b [depth, columns] = c [rows, columns]. */
namespace retrace {

/** What rows and columns of products are rounded up to. */
constexpr int kTileRows = 8, kTileColumns = 16;

/** The left factor: element (row, k) is x[row·row_stride + k·step]. */
struct LeftFactor {
  const float* x;
  int64_t row_stride, step;
};

/** The right factor, depth rows of it, and the product, each row `stride` behind the one before. */
struct RightFactor {
  const float* x;
  int64_t stride;
};
struct TileTarget {
  float* x;
  int64_t stride;
};

/** c = a·b for whole tiles. */
void Product(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows, int64_t num_columns,
             const TileTarget& c);

/** c += a·b, likewise. */
void AddProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows, int64_t num_columns,
                const TileTarget& c);

/** x [rows, columns] → [columns, rows], each with its stride. */
RETRACE_INLINE void Transpose(const float* x, int64_t stride, int64_t num_rows, int64_t num_columns, float* x_t,
                              int64_t stride_t) {
  constexpr int64_t kBlock = 16;
  for (int64_t first = 0; first < num_rows; first += kBlock) {
    const int64_t last = std::min(num_rows, first + kBlock);
    for (int64_t column = 0; column < num_columns; column++) {
      for (int64_t row = first; row < last; row++) x_t[column * stride_t + row] = x[row * stride + column];
    }
  }
}

/** Scores → softmax weights over the first `num_visible` columns; exactly 0 from there up to `num_columns`, a multiple of 16. */
RETRACE_INLINE void SoftmaxRow(float* x, int64_t num_visible, int64_t num_columns) {
  std::fill(x + num_visible, x + num_columns, -1e30f);
  Lanes largest_lanes = At(x);
  for (int64_t i = kLanes; i < num_columns; i += kLanes) {
    const Lanes lanes = At(x + i);
    largest_lanes = largest_lanes < lanes ? lanes : largest_lanes;
  }
  const float largest = Largest(largest_lanes);
  Lanes sums = {};
  for (int64_t i = 0; i < num_columns; i += kLanes) {
    const Lanes power = Exp(At(x + i) - largest);
    At(x + i) = power;
    sums += power;
  }
  const float scale = 1.0f / Sum(sums);
  for (int64_t i = 0; i < num_columns; i += kLanes) At(x + i) *= scale;
}

}  // namespace retrace

#endif  // RETRACE_ATTENTION_TILES_H_
