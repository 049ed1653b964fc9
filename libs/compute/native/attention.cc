/**
 * Rotary causal attention of concatenated ragged sequences, from the joined projections to the joined heads. Its time grows with
 * Σ length², not with the square of all tokens. No matrix of scores leaves the processor's caches, and the gradient computes the
 * weights again (the idea of arXiv:2205.14135, with whole rows of scores).
 *
 * Legend: N cells · M queries · T tokens of a sequence · S = T rounded up to whole tiles · H query heads · K key/value heads ·
 * G = H/K · D head width · E = D rounded up to whole vectors · W = (H + 2K)·D, the joined width: queries, keys, values.
 */
#include <algorithm>
#include <cstring>
#include <vector>

#include "attention_math.h"
#include "attention_tiles.h"
#include "ops.h"
#include "parallel.h"

namespace retrace {
namespace {

/** Rows of scores (one query of one head each) that are computed together, because they share keys and values. */
constexpr int64_t kBlockRows = 32;

/** Cells and queries of one sequence: [begin, end) of each. */
struct Sequence {
  int64_t begin, end, first_query, last_query;
  int64_t length() const { return end - begin; }
};

/** The inputs of the forward and the backward pass. */
struct Inputs : Heads {
  int64_t num_queries, padded_dim;
  const float* qkv;        // [N, W]
  const float* factors;    // [P, W] cosine and sine of pairs, side by side, by the position in the sequence
  const int32_t* queries;  // [M] cells in increasing order; null: all cells
  std::vector<Sequence> sequences;

  int64_t QueryCell(int64_t query) const { return queries == nullptr ? query : queries[query]; }
};

RETRACE_INLINE int64_t RoundUp(int64_t size, int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

/** Memory of one thread for one group of heads of one sequence; `_t` are transposes. Padding is zero. */
struct Scratch {
  int64_t stride = 0;                            // S
  std::vector<float> keys, values;               // [S, E]
  std::vector<float> keys_t, values_t;           // [E, S]
  std::vector<float> d_keys, d_values;           // [S, E]
  std::vector<float> queries, out, d_queries;    // [block rows, E]
  std::vector<float> weights, slopes;            // [block rows, S]

  void Resize(const Inputs& in, int64_t length, bool with_gradient) {
    stride = RoundUp(length, kTileColumns);
    const int64_t size = stride * in.padded_dim, block = kBlockRows * in.padded_dim;
    for (auto* x : {&keys, &values, &keys_t}) x->assign(size, 0.0f);
    for (auto* x : {&queries, &out}) x->assign(block, 0.0f);
    weights.resize(kBlockRows * stride);
    if (!with_gradient) return;
    for (auto* x : {&values_t, &d_keys, &d_values}) x->assign(size, 0.0f);
    d_queries.assign(block, 0.0f);
    slopes.resize(kBlockRows * stride);
  }
};

/** Applies the transpose of `Rotate`: (dy₀ + i·dy₁)·(c − i·s). */
RETRACE_INLINE void RotateBack(const float* dy, const float* factors, int64_t head_dim, float* dx) {
  for (int64_t i = 0; i < head_dim; i += 2) {
    dx[i] = dy[i] * factors[i] + dy[i + 1] * factors[i + 1];
    dx[i + 1] = dy[i + 1] * factors[i] - dy[i] * factors[i + 1];
  }
}

/** Loads the rotated keys, and the values, of one sequence and key/value head. */
RETRACE_INLINE void LoadKeysValues(const Inputs& in, const Sequence& sequence, int64_t group, Scratch& scratch) {
  const int64_t key_column = (in.num_heads + group) * in.head_dim;
  const int64_t value_column = (in.num_heads + in.num_groups + group) * in.head_dim;
  for (int64_t t = 0; t < sequence.length(); t++) {
    const float* joined = in.qkv + (sequence.begin + t) * in.width;
    Rotate(joined + key_column, in.factors + t * in.width + key_column, in.head_dim, &scratch.keys[t * in.padded_dim]);
    std::memcpy(&scratch.values[t * in.padded_dim], joined + value_column, in.head_dim * sizeof(float));
  }
  Transpose(scratch.keys.data(), in.padded_dim, sequence.length(), in.head_dim, scratch.keys_t.data(), scratch.stride);
}

/** Rows of scores of a group of heads: row r is query first + r / G of head r mod G, of those of the sequence. */
struct Block {
  int64_t first_row, num_rows;
  /** Number of keys that its last query sees, and the same rounded up. */
  int64_t num_visible, padded_visible;
  /** Its rows rounded up to whole tiles. */
  int64_t padded_rows() const { return RoundUp(num_rows, kTileRows); }
};

/** The query, cell, position and first column of a row of a block. */
struct BlockRow {
  int64_t query, cell, position, column;
};

RETRACE_INLINE BlockRow RowAt(const Inputs& in, const Sequence& sequence, int64_t group, int64_t row) {
  const int64_t query = sequence.first_query + row / in.group_size;
  const int64_t cell = in.QueryCell(query);
  return {query, cell, cell - sequence.begin, (group * in.group_size + row % in.group_size) * in.head_dim};
}

/** Loads the rotated queries of a block, and computes their softmax weights over the keys. */
RETRACE_INLINE Block LoadWeights(const Inputs& in, const Sequence& sequence, int64_t group, int64_t first_row,
                                 Scratch& scratch) {
  const int64_t num_rows = (sequence.last_query - sequence.first_query) * in.group_size;
  Block block = {first_row, std::min(kBlockRows, num_rows - first_row), 0, 0};
  for (int64_t row = 0; row < block.num_rows; row++) {
    const BlockRow at = RowAt(in, sequence, group, first_row + row);
    Rotate(in.qkv + at.cell * in.width + at.column, in.factors + at.position * in.width + at.column, in.head_dim,
           &scratch.queries[row * in.padded_dim]);
    block.num_visible = at.position + 1;
  }
  block.padded_visible = RoundUp(block.num_visible, kTileColumns);
  float* weights = scratch.weights.data();
  Product({scratch.queries.data(), in.padded_dim, 1}, {scratch.keys_t.data(), scratch.stride}, in.head_dim,
          block.padded_rows(), block.padded_visible, {weights, scratch.stride});
  for (int64_t row = 0; row < block.num_rows; row++) {
    const BlockRow at = RowAt(in, sequence, group, first_row + row);
    SoftmaxRow(weights + row * scratch.stride, at.position + 1, block.padded_visible);
  }
  return block;
}

void AttendGroup(const Inputs& in, const Sequence& sequence, int64_t group, Scratch& scratch, float* context) {
  LoadKeysValues(in, sequence, group, scratch);
  const int64_t num_rows = (sequence.last_query - sequence.first_query) * in.group_size;
  for (int64_t first = 0; first < num_rows; first += kBlockRows) {
    const Block block = LoadWeights(in, sequence, group, first, scratch);
    Product({scratch.weights.data(), scratch.stride, 1}, {scratch.values.data(), in.padded_dim}, block.num_visible,
            block.padded_rows(), in.padded_dim, {scratch.out.data(), in.padded_dim});
    for (int64_t row = 0; row < block.num_rows; row++) {
      const BlockRow at = RowAt(in, sequence, group, first + row);
      std::memcpy(context + at.query * in.num_heads * in.head_dim + at.column, &scratch.out[row * in.padded_dim],
                  in.head_dim * sizeof(float));
    }
  }
}

/** Adds a block's part to the gradients of keys and values, and computes the gradient of its rotated queries. */
RETRACE_INLINE void AddBlockGradients(const Inputs& in, const Block& block, Scratch& scratch) {
  const int64_t stride = scratch.stride, dim = in.padded_dim;
  float *weights = scratch.weights.data(), *slopes = scratch.slopes.data();
  const float* d_out = scratch.out.data();
  Product({d_out, dim, 1}, {scratch.values_t.data(), stride}, in.head_dim, block.padded_rows(), block.padded_visible,
          {slopes, stride});
  for (int64_t row = 0; row < block.num_rows; row++) {
    float *slope = slopes + row * stride, *weight = weights + row * stride;
    const float mean = Dot(weight, slope, block.padded_visible);
    for (int64_t i = 0; i < block.padded_visible; i += kLanes) At(slope + i) = At(weight + i) * (At(slope + i) - mean);
  }
  Product({slopes, stride, 1}, {scratch.keys.data(), dim}, block.num_visible, block.padded_rows(), dim,
          {scratch.d_queries.data(), dim});
  AddProduct({slopes, 1, stride}, {scratch.queries.data(), dim}, block.num_rows, block.padded_visible, dim,
             {scratch.d_keys.data(), dim});
  AddProduct({weights, 1, stride}, {d_out, dim}, block.num_rows, block.padded_visible, dim,
             {scratch.d_values.data(), dim});
}

void AttendGradientGroup(const Inputs& in, const Sequence& sequence, int64_t group, const float* d_context,
                         Scratch& scratch, float* d_qkv) {
  const int64_t dim = in.padded_dim;
  LoadKeysValues(in, sequence, group, scratch);
  Transpose(scratch.values.data(), dim, sequence.length(), in.head_dim, scratch.values_t.data(), scratch.stride);
  const int64_t num_rows = (sequence.last_query - sequence.first_query) * in.group_size;
  for (int64_t first = 0; first < num_rows; first += kBlockRows) {
    const Block block = LoadWeights(in, sequence, group, first, scratch);
    for (int64_t row = 0; row < block.num_rows; row++) {
      const BlockRow at = RowAt(in, sequence, group, first + row);
      std::memcpy(&scratch.out[row * dim], d_context + at.query * in.num_heads * in.head_dim + at.column,
                  in.head_dim * sizeof(float));
    }
    AddBlockGradients(in, block, scratch);
    for (int64_t row = 0; row < block.num_rows; row++) {
      const BlockRow at = RowAt(in, sequence, group, first + row);
      RotateBack(&scratch.d_queries[row * dim], in.factors + at.position * in.width + at.column, in.head_dim,
                 d_qkv + at.cell * in.width + at.column);
    }
  }
  const int64_t key_column = (in.num_heads + group) * in.head_dim;
  const int64_t value_column = (in.num_heads + in.num_groups + group) * in.head_dim;
  for (int64_t t = 0; t < sequence.length(); t++) {
    float* joined = d_qkv + (sequence.begin + t) * in.width;
    RotateBack(&scratch.d_keys[t * dim], in.factors + t * in.width + key_column, in.head_dim, joined + key_column);
    std::memcpy(joined + value_column, &scratch.d_values[t * dim], in.head_dim * sizeof(float));
  }
}

/** Inputs from `first` on: qkv, factors, offsets, queries, dims = [H, K, D]. */
Inputs ReadInputs(OpCall& call, int first) {
  Inputs in = {ReadHeads(call, first + 4)};
  in.padded_dim = RoundUp(in.head_dim, kTileColumns);
  const int64_t num_cells = call.Size(first) / in.width;
  Require(num_cells * in.width == call.Size(first), "qkv must hold rows of the joined width");
  in.qkv = call.Floats(first);
  in.factors = call.Floats(first + 1);
  const int64_t num_positions = call.Size(first + 1) / in.width;

  const int64_t num_chosen = call.Size(first + 3);
  in.queries = num_chosen == 0 ? nullptr : call.Ints(first + 3);
  in.num_queries = num_chosen == 0 ? num_cells : num_chosen;
  const int64_t num_offsets = call.Size(first + 2);
  const int32_t* offsets = call.Ints(first + 2);
  Require(num_offsets > 0 && offsets[0] == 0 && offsets[num_offsets - 1] == num_cells, "offsets must span the cells");
  int64_t query = 0;
  for (int64_t s = 0; s + 1 < num_offsets; s++) {
    Require(offsets[s] <= offsets[s + 1], "offsets must rise");
    Require(offsets[s + 1] - offsets[s] <= num_positions, "there must be a factor for each position of a sequence");
    const int64_t first_query = query;
    for (; query < in.num_queries && in.QueryCell(query) < offsets[s + 1]; query++) {
      Require(in.QueryCell(query) >= offsets[s] && (query == first_query || in.QueryCell(query) > in.QueryCell(query - 1)),
              "queries must be cells, rising");
    }
    if (query > first_query) in.sequences.push_back({offsets[s], offsets[s + 1], first_query, query});
  }
  Require(query == in.num_queries, "queries must be cells, rising");
  return in;
}

/** Runs work(sequence, group, scratch) for each group of heads of each sequence with a query. */
template <typename Work>
void ForEachGroup(const Inputs& in, bool with_gradient, const Work& work) {
  const int64_t count = static_cast<int64_t>(in.sequences.size()) * in.num_groups;
  const int64_t average = in.num_queries / std::max<int64_t>(1, in.sequences.size());
  const int64_t grain = (1 << 17) / (average * average * in.group_size * in.head_dim + 1) + 1;
  ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    Scratch scratch;
    for (int64_t item = begin; item < end; item++) {
      const Sequence& sequence = in.sequences[item / in.num_groups];
      scratch.Resize(in, sequence.length(), with_gradient);
      work(sequence, item % in.num_groups, scratch);
    }
  });
}

void Attention(OpCall& call) {
  const Inputs in = ReadInputs(call, 0);
  float* context = call.Output(0, {in.num_queries, in.num_heads * in.head_dim});
  ForEachGroup(in, false, [&](const Sequence& sequence, int64_t group, Scratch& scratch) {
    AttendGroup(in, sequence, group, scratch, context);
  });
}

void AttentionGradient(OpCall& call) {
  const Inputs in = ReadInputs(call, 1);
  Require(call.Size(0) == in.num_queries * in.num_heads * in.head_dim, "the gradient must have the shape of the context");
  const float* d_context = call.Floats(0);
  float* d_qkv = call.OutputLike(0, 1);
  // Queries that nobody asked for, and sequences without any, get no gradient; the rest is written below.
  if (in.queries != nullptr) std::memset(d_qkv, 0, call.Size(1) * sizeof(float));
  ForEachGroup(in, true, [&](const Sequence& sequence, int64_t group, Scratch& scratch) {
    AttendGradientGroup(in, sequence, group, d_context, scratch, d_qkv);
  });
}

}  // namespace

void RegisterAttention() {
  RegisterOp("RetraceAttention",
             {"qkv: float", "factors: float", "offsets: int32", "queries: int32", "dims: int32"}, {"context: float"},
             &RunOp<&Attention>);
  RegisterOp("RetraceAttentionGradient",
             {"d_context: float", "qkv: float", "factors: float", "offsets: int32", "queries: int32", "dims: int32"},
             {"d_qkv: float"}, &RunOp<&AttentionGradient>);
}

}  // namespace retrace
