/**
 * Samples one token a row from softmax(z/temperature) by inverse CDF, optionally only from the likeliest tokens.
 *
 * Legend: R rows of logits · V vocabulary · B samples.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "ops.h"
#include "parallel.h"
#include "vector_math.h"

namespace retrace {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

struct Sample {
  const float* logits;
  float inverse_temperature, top_p, uniform;
  int64_t top_k;
  bool greedy;
};

struct Powers {
  /** e^((z − largest)/temperature) of each id, 0 for those that were cut. */
  std::vector<float> values;
  /** Their sum, and Σ power·(z − largest)/temperature. */
  double sum = 0, weighted = 0;
};

RETRACE_INLINE int64_t LargestId(const float* logits, int64_t size) {
  int64_t largest = 0;
  for (int64_t id = 1; id < size; id++) largest = logits[id] > logits[largest] ? id : largest;
  return largest;
}

RETRACE_INLINE void Raise(const float* logits, int64_t size, float largest, float inverse_temperature, Powers& powers) {
  float* values = powers.values.data();
  Lanes sums = {}, weighted = {};
  int64_t id = 0;
  for (; id + kLanes <= size; id += kLanes) {
    const Lanes excess = (At(logits + id) - largest) * inverse_temperature;
    const Lanes power = Exp(excess);
    At(values + id) = power;
    sums += power;
    weighted += excess * power;
  }
  powers.sum = Sum(sums);
  powers.weighted = Sum(weighted);
  for (; id < size; id++) {
    const float excess = (logits[id] - largest) * inverse_temperature;
    values[id] = Exp(excess);
    powers.sum += values[id];
    powers.weighted += excess * values[id];
  }
}

/** log Σ e^(z − largest) */
RETRACE_INLINE float LogSum(const float* logits, int64_t size, float largest) {
  Lanes sums = {};
  int64_t id = 0;
  for (; id + kLanes <= size; id += kLanes) sums += Exp(At(logits + id) - largest);
  double sum = Sum(sums);
  for (; id < size; id++) sum += Exp(logits[id] - largest);
  return static_cast<float>(std::log(sum));
}

/** The lowest logit of the top_k likeliest ids. */
float TopKThreshold(const float* logits, int64_t size, int64_t top_k, std::vector<float>& order) {
  if (top_k <= 0 || top_k >= size) return kNone;
  order.assign(logits, logits + size);
  std::nth_element(order.begin(), order.begin() + (top_k - 1), order.end(), std::greater<float>());
  return order[top_k - 1];
}

/** The lowest logit of the smallest set of likeliest ids that reaches the share top_p of all ids with logits ≥ `lowest`. */
float TopPThreshold(const Sample& sample, int64_t size, float largest, float lowest, std::vector<float>& order) {
  if (sample.top_p >= 1) return lowest;
  order.clear();
  double total = 0;
  const auto power = [&](float logit) { return Exp((logit - largest) * sample.inverse_temperature); };
  for (int64_t id = 0; id < size; id++) {
    if (sample.logits[id] < lowest) continue;
    order.push_back(sample.logits[id]);
    total += power(sample.logits[id]);
  }
  double reached = 0;
  // Usually few ids reach top_p, so they are sorted in parts of growing size.
  for (size_t begin = 0, part = 64; begin < order.size(); begin += part, part *= 4) {
    const size_t end = std::min(order.size(), begin + part);
    std::partial_sort(order.begin() + begin, order.begin() + end, order.end(), std::greater<float>());
    for (size_t i = begin; i < end; i++) {
      reached += power(order[i]);
      if (reached >= sample.top_p * total) return order[i];
    }
  }
  return lowest;
}

RETRACE_INLINE void CutBelow(float threshold, const Sample& sample, int64_t size, float largest, Powers& powers) {
  powers.sum = powers.weighted = 0;
  for (int64_t id = 0; id < size; id++) {
    if (sample.logits[id] < threshold) {
      powers.values[id] = 0;
      continue;
    }
    powers.sum += powers.values[id];
    powers.weighted += (sample.logits[id] - largest) * sample.inverse_temperature * powers.values[id];
  }
}

/** The first id at which the running sum of powers exceeds uniform·sum; never one whose power is 0. */
RETRACE_INLINE int64_t InverseCdf(const Powers& powers, int64_t size, float uniform) {
  const double threshold = uniform * powers.sum;
  double reached = 0;
  int64_t id = 0, last = 0;
  for (; id + kLanes <= size; id += kLanes) {
    const double block = Sum(At(powers.values.data() + id));
    if (reached + block > threshold) break;
    reached += block;
  }
  // With other rounding the ids of a block may sum to less than the threshold; then the next id with a power is the result.
  for (; id < size; id++) {
    if (powers.values[id] <= 0) continue;
    reached += powers.values[id];
    last = id;
    if (reached > threshold) return id;
  }
  if (last > 0) return last;
  for (id = size - 1; id > 0 && !(powers.values[id] > 0);) id--;
  return id;
}

void SampleRow(const Sample& sample, int64_t size, int64_t num_samples, float* out) {
  Powers powers;
  std::vector<float> order;
  powers.values.resize(size);
  const float* logits = sample.logits;
  const int64_t largest_id = LargestId(logits, size);
  const float largest = logits[largest_id], inverse = sample.inverse_temperature;
  Raise(logits, size, largest, inverse, powers);
  const float raw_log_sum =
      inverse == 1 ? static_cast<float>(std::log(powers.sum)) : LogSum(logits, size, largest);
  const float top_k_threshold = TopKThreshold(logits, size, sample.top_k, order);
  const float threshold = TopPThreshold(sample, size, largest, top_k_threshold, order);
  if (threshold > kNone) CutBelow(threshold, sample, size, largest, powers);
  const int64_t id = sample.greedy ? largest_id : InverseCdf(powers, size, sample.uniform);
  const float log_sum = static_cast<float>(std::log(powers.sum));
  out[0] = static_cast<float>(id);
  out[num_samples] = (logits[id] - largest) * inverse - log_sum;
  out[2 * num_samples] = logits[id] - largest - raw_log_sum;
  out[3 * num_samples] = log_sum - static_cast<float>(powers.weighted / powers.sum);
}

/**
 * logits [R, V], rows [B], numbers [3, B] (1/temperature, top_p, uniform), choices [2, B] (top_k or 0, greedy) →
 * [4, B]: id, log p of it under the cut distribution, log p under softmax(z), entropy of the cut distribution.
 */
void SampleTokens(OpCall& call) {
  const int64_t num_rows = call.Dim(0, 0), size = call.Dim(0, 1), num_samples = call.Size(1);
  Require(call.Size(2) == 3 * num_samples && call.Size(3) == 2 * num_samples, "each sample must have its parameters");
  Require(size < (1 << 24), "ids must be exact as float32");
  const float *logits = call.Floats(0), *numbers = call.Floats(2);
  const int32_t *rows = call.Ints(1), *choices = call.Ints(3);
  for (int64_t b = 0; b < num_samples; b++) Require(rows[b] >= 0 && rows[b] < num_rows, "a row must be one of the logits");
  float* samples = call.Output(0, {4, num_samples});
  ParallelFor(num_samples, (1 << 14) / (size + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++) {
      const Sample sample = {logits + rows[b] * size,      numbers[b],  numbers[num_samples + b],
                             numbers[2 * num_samples + b], choices[b],  choices[num_samples + b] != 0};
      SampleRow(sample, size, num_samples, samples + b);
    }
  });
}

}  // namespace

void RegisterSample() {
  RegisterOp("RetraceSample", {"logits: float", "rows: int32", "numbers: float", "choices: int32"}, {"samples: float"},
             &RunOp<&SampleTokens>);
}

}  // namespace retrace
