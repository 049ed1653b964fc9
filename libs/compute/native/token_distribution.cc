#include <algorithm>
#include <cmath>

#include "ops.h"
#include "parallel.h"
#include "vector_math.h"

namespace retrace {
namespace {

constexpr int64_t kGrain = 1 << 14;

struct RowSums {
  /** Largest logit, log Σ e^(z − largest), Σ (z − largest)·e^(z − largest) / Σ e^(z − largest). */
  float largest, log_sum, mean;
};

RETRACE_INLINE RowSums Summarize(const float* logits, int64_t size, float inverse_temperature) {
  const int64_t whole = size / kLanes * kLanes;
  float largest = logits[0];
  if (whole > 0) {
    Lanes lanes = At(logits);
    for (int64_t i = kLanes; i < whole; i += kLanes) lanes = lanes < At(logits + i) ? At(logits + i) : lanes;
    largest = Largest(lanes);
  }
  for (int64_t i = whole; i < size; i++) largest = std::max(largest, logits[i]);

  Lanes sums = {}, weighted = {};
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Lanes excess = (At(logits + i) - largest) * inverse_temperature;
    const Lanes power = Exp(excess);
    sums += power;
    weighted += excess * power;
  }
  double sum = Sum(sums), weighted_sum = Sum(weighted);
  for (int64_t i = whole; i < size; i++) {
    const float excess = (logits[i] - largest) * inverse_temperature;
    const float power = Exp(excess);
    sum += power;
    weighted_sum += excess * power;
  }
  return {largest, static_cast<float>(std::log(sum)), static_cast<float>(weighted_sum / sum)};
}

/** ∂(dc·log p_t + de·entropy)/∂z without the part of the target itself. */
template <typename Number>
RETRACE_INLINE Number LogitGradient(Number logit, const RowSums& sums, float d_logprob, float d_entropy,
                                    float inverse_temperature) {
  const Number logp = (logit - sums.largest) * inverse_temperature - sums.log_sum;
  const float entropy = sums.log_sum - sums.mean;
  return -Exp(logp) * (d_logprob + d_entropy * (logp + entropy)) * inverse_temperature;
}

void DistributionRows(const float* logits, const int32_t* targets, float inverse_temperature, int64_t vocab_size,
                      int64_t num_rows, int64_t begin, int64_t end, float* distribution) {
  for (int64_t row = begin; row < end; row++) {
    const float* z = logits + row * vocab_size;
    const RowSums sums = Summarize(z, vocab_size, inverse_temperature);
    distribution[row] = (z[targets[row]] - sums.largest) * inverse_temperature - sums.log_sum;
    distribution[num_rows + row] = sums.log_sum - sums.mean;
  }
}

void DistributionGradientRows(const float* d_distribution, const float* logits, const int32_t* targets,
                              float inverse_temperature, int64_t vocab_size, int64_t num_rows, int64_t begin,
                              int64_t end, float* d_logits) {
  for (int64_t row = begin; row < end; row++) {
    const float* z = logits + row * vocab_size;
    float* dz = d_logits + row * vocab_size;
    const RowSums sums = Summarize(z, vocab_size, inverse_temperature);
    const float d_logprob = d_distribution[row], d_entropy = d_distribution[num_rows + row];
    int64_t i = 0;
    for (; i + kLanes <= vocab_size; i += kLanes) {
      At(dz + i) = LogitGradient<Lanes>(At(z + i), sums, d_logprob, d_entropy, inverse_temperature);
    }
    for (; i < vocab_size; i++) dz[i] = LogitGradient<float>(z[i], sums, d_logprob, d_entropy, inverse_temperature);
    dz[targets[row]] += d_logprob * inverse_temperature;
  }
}

void RequireTargets(const int32_t* targets, int64_t num_rows, int64_t vocab_size) {
  for (int64_t row = 0; row < num_rows; row++) {
    Require(targets[row] >= 0 && targets[row] < vocab_size, "a target must be an id of the vocabulary");
  }
}

/** logits [M, V], targets [M], 1/temperature [] → [2, M]: log p of each target, entropy; p = softmax(z/temperature). */
void TokenDistribution(OpCall& call) {
  const int64_t num_rows = call.Dim(0, 0), vocab_size = call.Dim(0, 1);
  Require(call.Size(1) == num_rows, "there must be one target a row");
  const float *logits = call.Floats(0), inverse_temperature = *call.Floats(2);
  const int32_t* targets = call.Ints(1);
  RequireTargets(targets, num_rows, vocab_size);
  float* distribution = call.Output(0, {2, num_rows});
  ParallelFor(num_rows, kGrain / (vocab_size + 1) + 1, [&](int64_t begin, int64_t end) {
    DistributionRows(logits, targets, inverse_temperature, vocab_size, num_rows, begin, end, distribution);
  });
}

/** The gradient of the logits: dz_i = (1[i = t]·dc − p_i·(dc + de·(log p_i + entropy)))/temperature. */
void TokenDistributionGradient(OpCall& call) {
  const int64_t num_rows = call.Dim(1, 0), vocab_size = call.Dim(1, 1);
  Require(call.Size(0) == 2 * num_rows && call.Size(2) == num_rows, "there must be one target and gradient a row");
  const float *d_distribution = call.Floats(0), *logits = call.Floats(1), inverse_temperature = *call.Floats(3);
  const int32_t* targets = call.Ints(2);
  RequireTargets(targets, num_rows, vocab_size);
  float* d_logits = call.OutputLike(0, 1);
  ParallelFor(num_rows, kGrain / (vocab_size + 1) + 1, [&](int64_t begin, int64_t end) {
    DistributionGradientRows(d_distribution, logits, targets, inverse_temperature, vocab_size, num_rows, begin, end,
                             d_logits);
  });
}

}  // namespace

void RegisterTokenDistribution() {
  RegisterOp("RetraceTokenDistribution", {"logits: float", "targets: int32", "inverse_temperature: float"},
             {"distribution: float"}, &RunOp<&TokenDistribution>);
  RegisterOp("RetraceTokenDistributionGradient",
             {"d_distribution: float", "logits: float", "targets: int32", "inverse_temperature: float"},
             {"d_logits: float"}, &RunOp<&TokenDistributionGradient>);
}

}  // namespace retrace
