#include "ops.h"
#include "parallel.h"
#include "vector_math.h"

namespace retrace {
namespace {

constexpr int64_t kGrain = 1 << 14;

void Activate(const float* gate, const float* up, int64_t begin, int64_t end, float* y) {
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) At(y + i) = At(gate + i) * Sigmoid(At(gate + i)) * At(up + i);
  for (; i < end; i++) y[i] = gate[i] * Sigmoid(gate[i]) * up[i];
}

/** silu'(z) = σ(z) + z·σ(z)·(1 − σ(z)) */
template <typename Number>
RETRACE_INLINE Number SiluSlope(Number gate, Number sigmoid) {
  return sigmoid + gate * sigmoid * (1.0f - sigmoid);
}

void ActivateGradient(const float* dy, const float* gate, const float* up, int64_t begin, int64_t end, float* d_gate,
                      float* d_up) {
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    const Lanes sigmoid = Sigmoid(At(gate + i));
    At(d_up + i) = At(dy + i) * At(gate + i) * sigmoid;
    At(d_gate + i) = At(dy + i) * At(up + i) * SiluSlope<Lanes>(At(gate + i), sigmoid);
  }
  for (; i < end; i++) {
    const float sigmoid = Sigmoid(gate[i]);
    d_up[i] = dy[i] * gate[i] * sigmoid;
    d_gate[i] = dy[i] * up[i] * SiluSlope<float>(gate[i], sigmoid);
  }
}

/** gate, up → gate·σ(gate)·up, elementwise. */
void SwiGlu(OpCall& call) {
  Require(call.Size(0) == call.Size(1), "gate and up must have the same shape");
  const float *gate = call.Floats(0), *up = call.Floats(1);
  float* y = call.OutputLike(0, 0);
  ParallelFor(call.Size(0), kGrain,
              [&](int64_t begin, int64_t end) { Activate(gate, up, begin, end, y); });
}

/** dy, gate, up → the gradients of gate and up. */
void SwiGluGradient(OpCall& call) {
  Require(call.Size(0) == call.Size(1) && call.Size(0) == call.Size(2), "dy, gate and up must have the same shape");
  const float *dy = call.Floats(0), *gate = call.Floats(1), *up = call.Floats(2);
  float *d_gate = call.OutputLike(0, 0), *d_up = call.OutputLike(1, 0);
  ParallelFor(call.Size(0), kGrain, [&](int64_t begin, int64_t end) {
    ActivateGradient(dy, gate, up, begin, end, d_gate, d_up);
  });
}

}  // namespace

void RegisterSwiGlu() {
  RegisterOp("RetraceSwiGlu", {"gate: float", "up: float"}, {"y: float"}, &RunOp<&SwiGlu>);
  RegisterOp("RetraceSwiGluGradient", {"dy: float", "gate: float", "up: float"}, {"d_gate: float", "d_up: float"},
             &RunOp<&SwiGluGradient>);
}

}  // namespace retrace
