/**
 * Rotary attention of short rows, from the joined projections to the joined heads, in one pass over memory.
 *
 * Legend: B rows · T key columns · S = T rounded up to whole vectors · Q queries a row · H query heads · K key/value
 * heads · G = H/K · D head width · E = D rounded up · W = (H + 2K)·D, the joined width: queries, keys, values.
 */
#include <algorithm>
#include <cstring>
#include <vector>

#include "ops.h"
#include "parallel.h"
#include "vector_math.h"

namespace retrace {
namespace {

/** Score of the columns that fill a vector up; its weight is exactly 0. */
constexpr float kNever = -1e30f;
/** A bias below this hides a key: its weight is exactly 0 beside any that is not hidden. */
constexpr float kHidden = -1e8f;

struct Shape {
  int64_t num_rows, num_keys, padded_keys, num_queries, num_heads, num_groups, group_size, head_dim, padded_dim, width;
};

/** What the forward and the backward pass read. */
struct Inputs {
  Shape shape;
  const float* qkv;            // [B·T, W]
  const float* factors;        // [P, W] cosine and sine of pairs, side by side; cell c turns by row c mod P
  int64_t num_factors;         // P
  const int32_t* query_cells;  // [B·Q], or null: all cells
  const float* bias;           // [B or 1, Q, T], or null
  int64_t bias_stride;         // from row to row of the batch

  const float* Factors(int64_t cell) const { return factors + cell % num_factors * shape.width; }

  int64_t QueryCell(int64_t row, int64_t query) const {
    return query_cells != nullptr ? query_cells[row * shape.num_queries + query] : row * shape.num_keys + query;
  }
};

/**
 * Memory of one thread for one head of one row. Rows are padded with zeros to whole vectors: [T, E] with E = D rounded
 * up, and, to vectorize over keys, the transposes [D, S].
 */
struct Scratch {
  explicit Scratch(const Shape& s)
      : keys(s.num_keys * s.padded_dim), keys_t(s.padded_keys * s.head_dim), values(keys.size()),
        values_t(keys_t.size()), query(s.padded_dim), weights(s.padded_keys), slopes(s.padded_keys),
        out(s.padded_dim), d_query(s.padded_dim), d_keys(keys.size()), d_values(keys.size()) {}

  std::vector<float> keys, keys_t, values, values_t, query, weights, slopes, out, d_query, d_keys, d_values;
  /** Keys up to the last one that the query sees, and that number rounded up. */
  int64_t num_visible = 0, padded_visible = 0;
};

RETRACE_INLINE int64_t RoundUp(int64_t size) { return (size + kLanes - 1) / kLanes * kLanes; }

/** The number of keys up to the last that the bias doesn't hide; all of them if it hides all. */
RETRACE_INLINE int64_t CountVisible(const float* bias, int64_t num_keys) {
  int64_t num_visible = num_keys;
  while (num_visible > 0 && bias[num_visible - 1] < kHidden) num_visible--;
  return num_visible == 0 ? num_keys : num_visible;
}

/** Turns the pairs of neighbours of one head: (x₀ + i·x₁)·(c + i·s). */
RETRACE_INLINE void Rotate(const float* x, const float* factors, int64_t head_dim, float* y) {
  for (int64_t i = 0; i < head_dim; i += 2) {
    y[i] = x[i] * factors[i] - x[i + 1] * factors[i + 1];
    y[i + 1] = x[i] * factors[i + 1] + x[i + 1] * factors[i];
  }
}

/** The transpose of `Rotate`: (dy₀ + i·dy₁)·(c − i·s). */
RETRACE_INLINE void RotateBack(const float* dy, const float* factors, int64_t head_dim, float* dx) {
  for (int64_t i = 0; i < head_dim; i += 2) {
    dx[i] = dy[i] * factors[i] + dy[i + 1] * factors[i + 1];
    dx[i + 1] = dy[i + 1] * factors[i] - dy[i] * factors[i + 1];
  }
}

/** x [T, E] → [D, S] */
RETRACE_INLINE void Transpose(const std::vector<float>& x, const Shape& s, std::vector<float>& x_t) {
  for (int64_t d = 0; d < s.head_dim; d++) {
    for (int64_t key = 0; key < s.num_keys; key++) x_t[d * s.padded_keys + key] = x[key * s.padded_dim + d];
  }
}

/** Turned keys, and values, of a row and a key/value head. */
RETRACE_INLINE void LoadKeysValues(const Inputs& in, int64_t row, int64_t group, Scratch& scratch) {
  const Shape& s = in.shape;
  const int64_t key_column = (s.num_heads + group) * s.head_dim;
  const int64_t value_column = (s.num_heads + s.num_groups + group) * s.head_dim;
  for (int64_t key = 0; key < s.num_keys; key++) {
    const int64_t cell = row * s.num_keys + key;
    const float* joined = in.qkv + cell * s.width;
    Rotate(joined + key_column, in.Factors(cell) + key_column, s.head_dim, &scratch.keys[key * s.padded_dim]);
    std::memcpy(&scratch.values[key * s.padded_dim], joined + value_column, s.head_dim * sizeof(float));
  }
  Transpose(scratch.keys, s, scratch.keys_t);
}

/** out += x [D] · rows_t [D, S], for the first `padded_visible` keys. */
RETRACE_INLINE void AddProducts(const float* x, const std::vector<float>& rows_t, const Shape& s,
                                int64_t padded_visible, float* out) {
  for (int64_t key = 0; key < padded_visible; key += kLanes) {
    const float* column = rows_t.data() + key;
    Lanes even = At(out + key), odd = {};
    for (int64_t d = 0; d < s.head_dim; d += 2) {
      even += x[d] * At(column + d * s.padded_keys);
      odd += x[d + 1] * At(column + (d + 1) * s.padded_keys);
    }
    At(out + key) = even + odd;
  }
}

/** out [E] = weights · rows [T, E], for the first `num_visible` keys. */
RETRACE_INLINE void WeightedSum(const float* weights, const std::vector<float>& rows, const Shape& s,
                                int64_t num_visible, float* out) {
  for (int64_t d = 0; d < s.padded_dim; d += kLanes) {
    const float* column = rows.data() + d;
    Lanes even = {}, odd = {};
    int64_t key = 0;
    for (; key + 2 <= num_visible; key += 2) {
      even += weights[key] * At(column + key * s.padded_dim);
      odd += weights[key + 1] * At(column + (key + 1) * s.padded_dim);
    }
    if (key < num_visible) even += weights[key] * At(column + key * s.padded_dim);
    At(out + d) = even + odd;
  }
}

/** Turned query, and its softmax weights over the keys. */
RETRACE_INLINE void LoadQueryWeights(const Inputs& in, int64_t row, int64_t query, int64_t head, Scratch& scratch) {
  const Shape& s = in.shape;
  const int64_t cell = in.QueryCell(row, query);
  const int64_t column = head * s.head_dim;
  float* q = scratch.query.data();
  Rotate(in.qkv + cell * s.width + column, in.Factors(cell) + column, s.head_dim, q);

  float* weights = scratch.weights.data();
  if (in.bias != nullptr) {
    const float* bias = in.bias + row * in.bias_stride + query * s.num_keys;
    scratch.num_visible = CountVisible(bias, s.num_keys);
    std::memcpy(weights, bias, scratch.num_visible * sizeof(float));
  } else {
    scratch.num_visible = s.num_keys;
    std::fill(weights, weights + s.num_keys, 0.0f);
  }
  const int64_t padded_visible = scratch.padded_visible = RoundUp(scratch.num_visible);
  std::fill(weights + scratch.num_visible, weights + padded_visible, kNever);
  AddProducts(q, scratch.keys_t, s, padded_visible, weights);
  Lanes largest_lanes = At(weights);
  for (int64_t key = kLanes; key < padded_visible; key += kLanes) {
    largest_lanes = largest_lanes < At(weights + key) ? At(weights + key) : largest_lanes;
  }
  const float largest = Largest(largest_lanes);
  Lanes sums = {};
  for (int64_t key = 0; key < padded_visible; key += kLanes) {
    const Lanes power = Exp(At(weights + key) - largest);
    At(weights + key) = power;
    sums += power;
  }
  const float scale = 1.0f / Sum(sums);
  for (int64_t key = 0; key < padded_visible; key += kLanes) At(weights + key) *= scale;
}

RETRACE_VECTORIZED
void AttendHeads(const Inputs& in, int64_t begin, int64_t end, float* context) {
  const Shape& s = in.shape;
  Scratch scratch(s);
  for (int64_t item = begin; item < end; item++) {
    const int64_t row = item / s.num_groups, group = item % s.num_groups;
    LoadKeysValues(in, row, group, scratch);
    for (int64_t head = group * s.group_size; head < (group + 1) * s.group_size; head++) {
      for (int64_t query = 0; query < s.num_queries; query++) {
        LoadQueryWeights(in, row, query, head, scratch);
        WeightedSum(scratch.weights.data(), scratch.values, s, scratch.num_visible, scratch.out.data());
        float* out = context + ((row * s.num_queries + query) * s.num_heads + head) * s.head_dim;
        std::memcpy(out, scratch.out.data(), s.head_dim * sizeof(float));
      }
    }
  }
}

/** Adds one query's part to the gradients of keys and values, and leaves that of the turned query. */
RETRACE_INLINE void AddQueryGradients(const Shape& s, const float* d_context, Scratch& scratch) {
  const float *query = scratch.query.data(), *weights = scratch.weights.data();
  float *slopes = scratch.slopes.data(), *d_out = scratch.out.data();
  const int64_t padded_visible = scratch.padded_visible;
  std::memcpy(d_out, d_context, s.head_dim * sizeof(float));
  std::fill(slopes, slopes + padded_visible, 0.0f);
  AddProducts(d_out, scratch.values_t, s, padded_visible, slopes);
  const float mean = Dot(weights, slopes, padded_visible);
  for (int64_t key = 0; key < padded_visible; key += kLanes) {
    At(slopes + key) = At(weights + key) * (At(slopes + key) - mean);
  }
  WeightedSum(slopes, scratch.keys, s, scratch.num_visible, scratch.d_query.data());
  for (int64_t d = 0; d < s.padded_dim; d += kLanes) {
    const Lanes query_lanes = At(query + d), d_out_lanes = At(d_out + d);
    float *d_key = scratch.d_keys.data() + d, *d_value = scratch.d_values.data() + d;
    for (int64_t key = 0; key < scratch.num_visible; key++) {
      At(d_key + key * s.padded_dim) += slopes[key] * query_lanes;
      At(d_value + key * s.padded_dim) += weights[key] * d_out_lanes;
    }
  }
}

RETRACE_VECTORIZED
void AttendGradientHeads(const Inputs& in, const float* d_context, int64_t begin, int64_t end, float* d_qkv) {
  const Shape& s = in.shape;
  Scratch scratch(s);
  for (int64_t item = begin; item < end; item++) {
    const int64_t row = item / s.num_groups, group = item % s.num_groups;
    LoadKeysValues(in, row, group, scratch);
    Transpose(scratch.values, s, scratch.values_t);
    std::fill(scratch.d_keys.begin(), scratch.d_keys.end(), 0.0f);
    std::fill(scratch.d_values.begin(), scratch.d_values.end(), 0.0f);
    for (int64_t head = group * s.group_size; head < (group + 1) * s.group_size; head++) {
      const int64_t column = head * s.head_dim;
      for (int64_t query = 0; query < s.num_queries; query++) {
        LoadQueryWeights(in, row, query, head, scratch);
        AddQueryGradients(s, d_context + ((row * s.num_queries + query) * s.num_heads + head) * s.head_dim, scratch);
        const int64_t cell = in.QueryCell(row, query);
        RotateBack(scratch.d_query.data(), in.Factors(cell) + column, s.head_dim, d_qkv + cell * s.width + column);
      }
    }
    const int64_t key_column = (s.num_heads + group) * s.head_dim;
    const int64_t value_column = (s.num_heads + s.num_groups + group) * s.head_dim;
    for (int64_t key = 0; key < s.num_keys; key++) {
      const int64_t cell = row * s.num_keys + key;
      float* joined = d_qkv + cell * s.width;
      RotateBack(&scratch.d_keys[key * s.padded_dim], in.Factors(cell) + key_column, s.head_dim, joined + key_column);
      std::memcpy(joined + value_column, &scratch.d_values[key * s.padded_dim], s.head_dim * sizeof(float));
    }
  }
}

/** Inputs from `first` on: qkv, factors, query_cells, bias, dims = [B, Q, H, K, D]. */
Inputs ReadInputs(OpCall& call, int first) {
  Require(call.Size(first + 4) == 5, "dims must hold five numbers");
  const int32_t* dims = call.Ints(first + 4);
  Shape s;
  s.num_rows = dims[0];
  s.num_queries = dims[1];
  s.num_heads = dims[2];
  s.num_groups = dims[3];
  s.head_dim = dims[4];
  Require(s.num_groups > 0 && s.num_heads % s.num_groups == 0, "query heads must be a multiple of key/value heads");
  Require(s.head_dim % 2 == 0, "the head width must be even");
  s.group_size = s.num_heads / s.num_groups;
  s.width = (s.num_heads + 2 * s.num_groups) * s.head_dim;
  const int64_t num_cells = call.Size(first) / s.width;
  Require(s.num_rows > 0 && num_cells * s.width == call.Size(first) && num_cells % s.num_rows == 0,
          "qkv must hold rows of the joined width");
  s.num_keys = num_cells / s.num_rows;
  s.padded_keys = RoundUp(s.num_keys);
  s.padded_dim = RoundUp(s.head_dim);

  Inputs in;
  in.shape = s;
  in.qkv = call.Floats(first);
  in.factors = call.Floats(first + 1);
  in.num_factors = call.Size(first + 1) / s.width;
  Require(in.num_factors > 0 && num_cells % in.num_factors == 0, "the cells must be a multiple of the factors");

  const int64_t num_chosen = call.Size(first + 2);
  in.query_cells = num_chosen == 0 ? nullptr : call.Ints(first + 2);
  Require(num_chosen == 0 ? s.num_queries == s.num_keys : num_chosen == s.num_rows * s.num_queries,
          "there must be one cell a query");
  for (int64_t i = 0; i < num_chosen; i++) {
    Require(in.query_cells[i] / s.num_keys == i / s.num_queries, "a query must be a cell of its own row");
  }

  const int64_t bias_size = call.Size(first + 3), one_row = s.num_queries * s.num_keys;
  Require(bias_size == 0 || bias_size == one_row || bias_size == s.num_rows * one_row,
          "the bias must have a number for each query and key");
  in.bias = bias_size == 0 ? nullptr : call.Floats(first + 3);
  in.bias_stride = bias_size == one_row ? 0 : one_row;
  return in;
}

int64_t Grain(const Shape& s) {
  const int64_t work = s.num_queries * s.group_size * s.num_keys * s.head_dim;
  return (1 << 17) / (work + 1) + 1;
}

void Attention(OpCall& call) {
  const Inputs in = ReadInputs(call, 0);
  const Shape& s = in.shape;
  float* context = call.Output(0, {s.num_rows * s.num_queries, s.num_heads * s.head_dim});
  ParallelFor(s.num_rows * s.num_groups, Grain(s),
              [&](int64_t begin, int64_t end) { AttendHeads(in, begin, end, context); });
}

void AttentionGradient(OpCall& call) {
  const Inputs in = ReadInputs(call, 1);
  const Shape& s = in.shape;
  Require(call.Size(0) == s.num_rows * s.num_queries * s.num_heads * s.head_dim,
          "the gradient must have the shape of the context");
  const float* d_context = call.Floats(0);
  float* d_qkv = call.OutputLike(0, 1);
  // Cells that are no queries get no gradient of their query columns; the other columns are written below.
  if (in.query_cells != nullptr) std::memset(d_qkv, 0, call.Size(1) * sizeof(float));
  ParallelFor(s.num_rows * s.num_groups, Grain(s),
              [&](int64_t begin, int64_t end) { AttendGradientHeads(in, d_context, begin, end, d_qkv); });
}

}  // namespace

void RegisterAttention() {
  RegisterOp("RetraceAttention",
             {"qkv: float", "factors: float", "query_cells: int32", "bias: float", "dims: int32"},
             {"context: float"}, &RunOp<&Attention>);
  RegisterOp("RetraceAttentionGradient",
             {"d_context: float", "qkv: float", "factors: float", "query_cells: int32", "bias: float", "dims: int32"},
             {"d_qkv: float"}, &RunOp<&AttentionGradient>);
}

}  // namespace retrace
