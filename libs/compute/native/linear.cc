/**
 * Products of a few rows with a matrix in the layout of checkpoints, for decoding. Reading the matrix takes most of the time, so
 * it is read once, in place. Every result is one dot product in a fixed order, whichever rows are beside it.
 *
 * Legend: N rows · I inputs · O outputs.
 */
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "ops.h"
#include "parallel.h"
#include "vector_math.h"

namespace retrace {
namespace {

/** Rows of a tile; the sums of a tile stay in registers. */
constexpr int kRows = 4;

/** Multiply-adds from which another thread saves time. */
constexpr int64_t kGrain = 1 << 17;

struct Inputs {
  int64_t num_rows, num_inputs, num_outputs;
  const float* x;         // [N, I]
  const float* weight;    // [O, I]
  const float* bias;      // [O], or null
  const float* residual;  // [N, O], or null
};

/** Outputs of a tile; AVX-512 has twice as many registers. */
constexpr int kOutputs = kLanes == 16 ? 4 : 2;

/** Partial sums of one dot product, as many on every processor so that all give the same numbers, and the vectors for them. */
constexpr int kPartials = 16, kVectors = kPartials / kLanes;

/** Adds the partial sums by halves into one vector, which `Sum` adds in the same way. */
RETRACE_INLINE Lanes AddUp(Lanes (&partials)[kVectors]) {
  for (int width = kVectors / 2; width > 0; width /= 2) {
    for (int v = 0; v < width; v++) partials[v] += partials[v + width];
  }
  return partials[0];
}

/** Computes `rows` × `outputs` dot products, from row n and output o on. */
template <int rows, int outputs>
RETRACE_INLINE void Tile(const Inputs& in, int64_t n, int64_t o, float* y) {
  const int64_t size = in.num_inputs, whole = size / kPartials * kPartials;
  const float* x = in.x + n * size;
  const float* w = in.weight + o * size;
  Lanes sums[rows][outputs][kVectors] = {};
  for (int64_t i = 0; i < whole; i += kPartials) {
#pragma GCC unroll 8
    for (int output = 0; output < outputs; output++) {
      // Prefetches the next tile, because the matrix is too large for the processor's first caches.
      __builtin_prefetch(w + (outputs + output) * size + i);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; v++) {
        const Lanes column = At(w + output * size + i + v * kLanes);
#pragma GCC unroll 4
        for (int row = 0; row < rows; row++) sums[row][output][v] += column * At(x + row * size + i + v * kLanes);
      }
    }
  }
  float totals[rows * outputs];
  if constexpr (rows * outputs % kLanes == 0) {
    for (int first = 0; first < rows * outputs; first += kLanes) {
      Lanes vectors[kLanes];
      for (int i = 0; i < kLanes; i++) vectors[i] = AddUp(sums[(first + i) / outputs][(first + i) % outputs]);
      At(totals + first) = Sums(vectors);
    }
  } else {
    for (int i = 0; i < rows * outputs; i++) totals[i] = Sum(AddUp(sums[i / outputs][i % outputs]));
  }
  for (int row = 0; row < rows; row++) {
    for (int output = 0; output < outputs; output++) {
      float sum = totals[row * outputs + output];
      for (int64_t i = whole; i < size; i++) sum += w[output * size + i] * x[row * size + i];
      if (in.bias != nullptr) sum += in.bias[o + output];
      const int64_t cell = (n + row) * in.num_outputs + o + output;
      y[cell] = in.residual != nullptr ? in.residual[cell] + sum : sum;
    }
  }
}

template <int outputs>
RETRACE_INLINE void OutputRows(const Inputs& in, int64_t o, float* y) {
  int64_t n = 0;
  for (; n + kRows <= in.num_rows; n += kRows) Tile<kRows, outputs>(in, n, o, y);
  for (; n < in.num_rows; n++) Tile<1, outputs>(in, n, o, y);
}

void Outputs(const Inputs& in, int64_t begin, int64_t end, float* y) {
  int64_t o = begin;
  for (; o + kOutputs <= end; o += kOutputs) OutputRows<kOutputs>(in, o, y);
  for (; o < end; o++) OutputRows<1>(in, o, y);
}

/** x/√(mean(x²) + ε) ⊙ weight, row by row. */
void NormRows(const float* x, const float* weight, float epsilon, int64_t num_rows, int64_t width, float* y) {
  for (int64_t row = 0; row < num_rows; row++) {
    const float* x_row = x + row * width;
    const float scale = 1.0f / std::sqrt(Dot(x_row, x_row, width) / width + epsilon);
    for (int64_t i = 0; i < width; i++) y[row * width + i] = x_row[i] * scale * weight[i];
  }
}

const float* Optional(OpCall& call, int input, int64_t size, const char* rule) {
  if (call.Size(input) == 0) return nullptr;
  Require(call.Size(input) == size, rule);
  return call.Floats(input);
}

/**
 * x [N, I], weight [O, I], bias [O] or [0], residual [N, O] or [0], norm [I] or [0], epsilon [] →
 * residual + norm(x)·weightᵀ + bias, [N, O].
 */
void Linear(OpCall& call) {
  Inputs in;
  in.num_rows = call.Dim(0, 0);
  in.num_inputs = call.Dim(0, 1);
  in.num_outputs = call.Dim(1, 0);
  Require(call.Dim(1, 1) == in.num_inputs, "the matrix must have a column for each input");
  in.x = call.Floats(0);
  in.weight = call.Floats(1);
  in.bias = Optional(call, 2, in.num_outputs, "the bias must have a number for each output");
  in.residual = Optional(call, 3, in.num_rows * in.num_outputs, "the residual must have the shape of the result");
  const float* norm = Optional(call, 4, in.num_inputs, "the norm must have a number for each input");
  std::vector<float> normed;
  if (norm != nullptr) {
    normed.resize(in.num_rows * in.num_inputs);
    NormRows(in.x, norm, *call.Floats(5), in.num_rows, in.num_inputs, normed.data());
    in.x = normed.data();
  }
  float* y = call.Output(0, {in.num_rows, in.num_outputs});
  ParallelFor(in.num_outputs, kGrain / (in.num_rows * in.num_inputs + 1) + 1,
              [&](int64_t begin, int64_t end) { Outputs(in, begin, end, y); });
}

}  // namespace

void RegisterLinear() {
  RegisterOp("RetraceLinear",
             {"x: float", "weight: float", "bias: float", "residual: float", "norm: float", "epsilon: float"},
             {"y: float"}, &RunOp<&Linear>);
}

}  // namespace retrace
