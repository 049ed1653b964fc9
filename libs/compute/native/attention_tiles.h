#ifndef RETRACE_ATTENTION_TILES_H_
#define RETRACE_ATTENTION_TILES_H_

#include <algorithm>

#include "attention_math.h"

/** Products of small matrices in registers, for attention: a [rows, depth] · b [depth, columns] = c [rows, columns]. */
namespace retrace {

/** Rows and columns of products are rounded up to multiples of these. */
constexpr int kTileRows = 8, kTileColumns = 16;
static_assert(kTileColumns % kLanes == 0, "columns must be whole vectors");

/** Rows whose sums, in two vectors of columns each, fit in registers: AVX-512 has 32 registers, others 16. */
constexpr int kSumRows = kLanes == 16 ? 8 : 4;
static_assert(kTileRows % kSumRows == 0, "tiles must fill the rows that callers round up to");

/** The left factor: element (row, k) is x[row·row_stride + k·step]. */
struct LeftFactor {
  const float* x;
  int64_t row_stride, step;
};

/** The right factor, of which `depth` rows are used, and the product; rows start `stride` elements apart. */
struct RightFactor {
  const float* x;
  int64_t stride;
};
struct TileTarget {
  float* x;
  int64_t stride;
};

/** c (+)= a·b for `kSumRows` rows and `vectors` vectors of columns, all of which use a value of b after one read. */
template <int vectors, bool adds>
RETRACE_INLINE void TileProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, const TileTarget& c) {
  Lanes sums[kSumRows][vectors];
#pragma GCC unroll 8
  for (int row = 0; row < kSumRows; row++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) sums[row][v] = adds ? At(c.x + row * c.stride + v * kLanes) : Lanes{};
  }
  const float *left = a.x, *right = b.x;
  for (int64_t k = 0; k < depth; k++, left += a.step, right += b.stride) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      const Lanes columns = At(right + v * kLanes);
#pragma GCC unroll 8
      for (int row = 0; row < kSumRows; row++) sums[row][v] += left[row * a.row_stride] * columns;
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kSumRows; row++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) At(c.x + row * c.stride + v * kLanes) = sums[row][v];
  }
}

/** Computes all rows of the columns that a tile at `column` covers. */
template <int vectors, bool adds>
RETRACE_INLINE void ColumnsProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows,
                                   int64_t column, const TileTarget& c) {
  for (int64_t row = 0; row < num_rows; row += kSumRows) {
    TileProduct<vectors, adds>({a.x + row * a.row_stride, a.row_stride, a.step}, {b.x + column, b.stride}, depth,
                               {c.x + row * c.stride + column, c.stride});
  }
}

/** c (+)= a·b for whole tiles. */
template <bool adds>
RETRACE_INLINE void TiledProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows,
                                 int64_t num_columns, const TileTarget& c) {
  int64_t column = 0;
  for (; column + 2 * kLanes <= num_columns; column += 2 * kLanes)
    ColumnsProduct<2, adds>(a, b, depth, num_rows, column, c);
  for (; column < num_columns; column += kLanes) ColumnsProduct<1, adds>(a, b, depth, num_rows, column, c);
}

/** c = a·b for whole tiles. */
inline void Product(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows, int64_t num_columns,
                    const TileTarget& c) {
  TiledProduct<false>(a, b, depth, num_rows, num_columns, c);
}

/** c += a·b for whole tiles. */
inline void AddProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows, int64_t num_columns,
                       const TileTarget& c) {
  TiledProduct<true>(a, b, depth, num_rows, num_columns, c);
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
  const float scale = 1.0f / SoftmaxPowers(x, num_visible, num_columns);
  for (int64_t i = 0; i < num_columns; i += kLanes) At(x + i) *= scale;
}

}  // namespace retrace

#endif  // RETRACE_ATTENTION_TILES_H_
