#include "attention_tiles.h"

#include "vector_math.h"

namespace retrace {
namespace {

/**
 * c (+)= a·b for `rows` rows and `parts` parts of columns, each of which a register holds: the sums stay there, and what is read of
 * the right factor serves all rows. Vectors wider than a register would be kept in memory.
 */
template <typename Part, int rows, int parts, bool adds>
RETRACE_INLINE void TileProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, const TileTarget& c) {
  constexpr int kWidth = sizeof(Part) / sizeof(float);
  Part sums[rows][parts];
#pragma GCC unroll 8
  for (int row = 0; row < rows; row++) {
#pragma GCC unroll 4
    for (int p = 0; p < parts; p++) sums[row][p] = adds ? PartAt<Part>(c.x + row * c.stride + p * kWidth) : Part{};
  }
  const float *left = a.x, *right = b.x;
  for (int64_t k = 0; k < depth; k++, left += a.step, right += b.stride) {
#pragma GCC unroll 4
    for (int p = 0; p < parts; p++) {
      const Part columns = PartAt<Part>(right + p * kWidth);
#pragma GCC unroll 8
      for (int row = 0; row < rows; row++) sums[row][p] += left[row * a.row_stride] * columns;
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < rows; row++) {
#pragma GCC unroll 4
    for (int p = 0; p < parts; p++) std::memcpy(c.x + row * c.stride + p * kWidth, &sums[row][p], sizeof(Part));
  }
}

/** All rows of the columns from `column` on that one tile covers. */
template <typename Part, int rows, int parts, bool adds>
RETRACE_INLINE void ColumnsProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows,
                                   int64_t column, const TileTarget& c) {
  for (int64_t row = 0; row < num_rows; row += rows) {
    TileProduct<Part, rows, parts, adds>({a.x + row * a.row_stride, a.row_stride, a.step}, {b.x + column, b.stride},
                                         depth, {c.x + row * c.stride + column, c.stride});
  }
}

template <typename Part, int rows, int parts, bool adds>
RETRACE_INLINE void TiledProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows,
                                 int64_t num_columns, const TileTarget& c) {
  static_assert(kTileRows % rows == 0, "tiles must fill the rows that callers round up to");
  constexpr int64_t kWidth = sizeof(Part) / sizeof(float), kColumns = parts * kWidth;
  int64_t column = 0;
  for (; column + kColumns <= num_columns; column += kColumns)
    ColumnsProduct<Part, rows, parts, adds>(a, b, depth, num_rows, column, c);
  for (; column < num_columns; column += kWidth)
    ColumnsProduct<Part, rows, 1, adds>(a, b, depth, num_rows, column, c);
}

#define RETRACE_PRODUCTS(Part, rows, parts)                                                                        \
  void Products(bool adds, const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows,             \
                int64_t num_columns, const TileTarget& c) {                                                        \
    if (adds)                                                                                                      \
      TiledProduct<Part, rows, parts, true>(a, b, depth, num_rows, num_columns, c);                                \
    else                                                                                                           \
      TiledProduct<Part, rows, parts, false>(a, b, depth, num_rows, num_columns, c);                               \
  }

#ifdef RETRACE_VERSIONS
RETRACE_VERSION("arch=x86-64-v4") RETRACE_PRODUCTS(WideLanes, 8, 2)
RETRACE_VERSION("arch=x86-64-v3") RETRACE_PRODUCTS(Lanes, 4, 2)
#endif
RETRACE_VERSION("default") RETRACE_PRODUCTS(HalfLanes, 4, 2)

}  // namespace

void Product(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows, int64_t num_columns,
             const TileTarget& c) {
  Products(false, a, b, depth, num_rows, num_columns, c);
}

void AddProduct(const LeftFactor& a, const RightFactor& b, int64_t depth, int64_t num_rows, int64_t num_columns,
                const TileTarget& c) {
  Products(true, a, b, depth, num_rows, num_columns, c);
}

}  // namespace retrace
