#include <cmath>

#include "ops.h"
#include "parallel.h"
#include "vector_math.h"

namespace retrace {
namespace {

constexpr int64_t kGrain = 1 << 15;

/** The numbers of the op's input `settings`, in its order. */
struct Settings {
  float beta1, beta2, epsilon, gradient_scale;
  /** η/(1 − β₁ᵗ), 1/(1 − β₂ᵗ), 1 − η·λ. */
  float step_size, second_correction, weight_scale;
};

void Step(const float* weight, const float* first, const float* second, const float* gradient,
          const Settings& settings, int64_t begin, int64_t end, float* new_weight, float* new_first,
          float* new_second) {
  const Settings s = settings;
  for (int64_t i = begin; i < end; i++) {
    const float g = gradient[i] * s.gradient_scale;
    const float m = s.beta1 * first[i] + (1.0f - s.beta1) * g;
    const float v = s.beta2 * second[i] + (1.0f - s.beta2) * g * g;
    new_first[i] = m;
    new_second[i] = v;
    new_weight[i] = weight[i] * s.weight_scale - s.step_size * m / (std::sqrt(v * s.second_correction) + s.epsilon);
  }
}

/** weight, first and second moment, gradient (all of one shape), settings [7] → the new weight and moments. */
void AdamW(OpCall& call) {
  const int64_t size = call.Size(0);
  Require(call.Size(1) == size && call.Size(2) == size && call.Size(3) == size,
          "weight, moments and gradient must have the same shape");
  Require(call.Size(4) == sizeof(Settings) / sizeof(float), "settings must hold seven numbers");
  const float *weight = call.Floats(0), *first = call.Floats(1), *second = call.Floats(2), *gradient = call.Floats(3);
  const Settings settings = *reinterpret_cast<const Settings*>(call.Floats(4));
  float *new_weight = call.OutputLike(0, 0), *new_first = call.OutputLike(1, 1), *new_second = call.OutputLike(2, 2);
  ParallelFor(size, kGrain, [&](int64_t begin, int64_t end) {
    Step(weight, first, second, gradient, settings, begin, end, new_weight, new_first, new_second);
  });
}

}  // namespace

void RegisterAdamW() {
  RegisterOp("RetraceAdamW", {"weight: float", "first: float", "second: float", "gradient: float", "settings: float"},
             {"new_weight: float", "new_first: float", "new_second: float"}, &RunOp<&AdamW>);
}

}  // namespace retrace
