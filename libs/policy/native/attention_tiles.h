#ifndef RETRACE_ATTENTION_TILES_H_
#define RETRACE_ATTENTION_TILES_H_

#include <algorithm>
#include <cmath>

#include "vector_math.h"

/**
 * Products of small matrices out of registers, for attention: eight rows at a time, so that what is read of the right factor
 * serves eight rows. Names: a [rows, depth] · b [depth, columns] = c [rows, columns].
 */
namespace retrace {

constexpr int kTileRows = 8;
constexpr int kTileColumns = 2 * kLanes;

/** The left factor: element (row, k) is x[row·row_stride + k·step]. */
struct LeftFactor {
  const float* x;
  int64_t row_stride, step;
};

/** c (+)= a·b for eight rows and kVectors·16 columns. */
template <int kVectors, bool kAdds>
RETRACE_INLINE void TileProduct(const LeftFactor& a, const float* b, int64_t b_stride, int64_t depth, float* c,
                                int64_t c_stride) {
  Lanes sums[kTileRows][kVectors];
#pragma GCC unroll 8
  for (int row = 0; row < kTileRows; row++) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; v++) sums[row][v] = kAdds ? At(c + row * c_stride + v * kLanes) : Lanes{};
  }
  const float* left = a.x;
  for (int64_t k = 0; k < depth; k++, left += a.step, b += b_stride) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; v++) {
      const Lanes right = At(b + v * kLanes);
#pragma GCC unroll 8
      for (int row = 0; row < kTileRows; row++) sums[row][v] += left[row * a.row_stride] * right;
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kTileRows; row++) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; v++) At(c + row * c_stride + v * kLanes) = sums[row][v];
  }
}

/** c (+)= a·b for a multiple of eight rows and of sixteen columns. */
template <bool kAdds>
RETRACE_INLINE void Product(const LeftFactor& a, const float* b, int64_t b_stride, int64_t depth, int64_t num_rows,
                            int64_t num_columns, float* c, int64_t c_stride) {
  int64_t column = 0;
  for (; column + kTileColumns <= num_columns; column += kTileColumns) {
    for (int64_t row = 0; row < num_rows; row += kTileRows) {
      TileProduct<2, kAdds>({a.x + row * a.row_stride, a.row_stride, a.step}, b + column, b_stride, depth,
                            c + row * c_stride + column, c_stride);
    }
  }
  if (column == num_columns) return;
  for (int64_t row = 0; row < num_rows; row += kTileRows) {
    TileProduct<1, kAdds>({a.x + row * a.row_stride, a.row_stride, a.step}, b + column, b_stride, depth,
                          c + row * c_stride + column, c_stride);
  }
}

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
