#include <cmath>
#include <stdexcept>

#include "ops.h"
#include "parallel.h"
#include "vector_math.h"

namespace retrace {
namespace {

constexpr int64_t kGrain = 1 << 14;

void NormRows(const float* x, float epsilon, int64_t width, int64_t begin, int64_t end, float* y, float* inverse) {
  for (int64_t row = begin; row < end; row++) {
    const float* x_row = x + row * width;
    float* y_row = y + row * width;
    const float scale = 1.0f / std::sqrt(Dot(x_row, x_row, width) / width + epsilon);
    inverse[row] = scale;
    for (int64_t i = 0; i < width; i++) y_row[i] = x_row[i] * scale;
  }
}

void NormGradientRows(const float* dy, const float* y, const float* inverse, int64_t width, int64_t begin,
                      int64_t end, float* dx) {
  for (int64_t row = begin; row < end; row++) {
    const float* dy_row = dy + row * width;
    const float* y_row = y + row * width;
    float* dx_row = dx + row * width;
    const float mean = Dot(dy_row, y_row, width) / width;
    const float scale = inverse[row];
    for (int64_t i = 0; i < width; i++) dx_row[i] = (dy_row[i] - y_row[i] * mean) * scale;
  }
}

/** x [N, H], epsilon [] → y = x/√(mean(x²) + ε) [N, H], 1/√(mean(x²) + ε) [N, 1]. */
void RmsNorm(OpCall& call) {
  const int64_t num_rows = call.Dim(0, 0), width = call.Dim(0, 1);
  const float *x = call.Floats(0), epsilon = *call.Floats(1);
  float* y = call.OutputLike(0, 0);
  float* inverse = call.Output(1, {num_rows, 1});
  ParallelFor(num_rows, kGrain / (width + 1) + 1, [&](int64_t begin, int64_t end) {
    NormRows(x, epsilon, width, begin, end, y, inverse);
  });
}

/** dy [N, H], y, 1/√(mean(x²) + ε) → dx = (dy − y·mean(dy·y))/√(mean(x²) + ε). */
void RmsNormGradient(OpCall& call) {
  Require(call.Size(0) == call.Size(1), "the gradient and the norm must have the same shape");
  const int64_t num_rows = call.Dim(0, 0), width = call.Dim(0, 1);
  const float *dy = call.Floats(0), *y = call.Floats(1), *inverse = call.Floats(2);
  float* dx = call.OutputLike(0, 0);
  ParallelFor(num_rows, kGrain / (width + 1) + 1, [&](int64_t begin, int64_t end) {
    NormGradientRows(dy, y, inverse, width, begin, end, dx);
  });
}

}  // namespace

void RegisterRmsNorm() {
  RegisterOp("RetraceRmsNorm", {"x: float", "epsilon: float"}, {"y: float", "inverse: float"}, &RunOp<&RmsNorm>);
  RegisterOp("RetraceRmsNormGradient", {"dy: float", "y: float", "inverse: float"}, {"dx: float"},
             &RunOp<&RmsNormGradient>);
}

}  // namespace retrace
