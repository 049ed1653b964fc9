/**
 * Rotary attention of new tokens over the cached keys and values of their contexts, to which theirs are added.
 *
 * Legend: N new tokens · S slots · T longest context · H query heads · K key/value heads · G = H/K · D head width ·
 * W = (H + 2K)·D, the joined width: queries, keys, values · R tokens whose result is wanted.
 */
#include <algorithm>
#include <cstring>
#include <vector>

#include "attention_math.h"
#include "ops.h"
#include "parallel.h"

namespace retrace {
namespace {

struct Inputs : Heads {
  int64_t num_tokens, max_tokens;
  const float* qkv;          // [N, W]
  const float* factors;      // [P, W] cosine and sine of pairs, side by side, by position
  const int32_t* slots;      // [N]
  const int32_t* positions;  // [N]
  const int32_t* wanted;     // [R]
  int64_t num_wanted;
  /** [S, 2K, T, D], the keys' heads before the values'. Written in place, because only the generator reads this tensor. */
  float* cache;

  float* Cached(int64_t slot, int64_t head, int64_t position) const {
    return cache + ((slot * 2 * num_groups + head) * max_tokens + position) * head_dim;
  }
};

void WriteTokens(const Inputs& in, int64_t begin, int64_t end) {
  for (int64_t token = begin; token < end; token++) {
    const float* joined = in.qkv + token * in.width;
    const float* factors = in.factors + in.positions[token] * in.width;
    for (int64_t group = 0; group < in.num_groups; group++) {
      const int64_t key = (in.num_heads + group) * in.head_dim, value = key + in.num_groups * in.head_dim;
      Rotate(joined + key, factors + key, in.head_dim, in.Cached(in.slots[token], group, in.positions[token]));
      std::memcpy(in.Cached(in.slots[token], in.num_groups + group, in.positions[token]), joined + value,
                  in.head_dim * sizeof(float));
    }
  }
}

/** Dot products of one query with neighbouring keys. */
template <int num_keys>
RETRACE_INLINE void Score(const float* query, const float* keys, int64_t head_dim, float* scores) {
  Lanes sums[num_keys] = {};
  int64_t i = 0;
  for (; i + kLanes <= head_dim; i += kLanes) {
    for (int key = 0; key < num_keys; key++) sums[key] += At(query + i) * At(keys + key * head_dim + i);
  }
  if constexpr (num_keys == kLanes) {
    At(scores) = Sums(sums);
  } else {
    for (int key = 0; key < num_keys; key++) scores[key] = Sum(sums[key]);
  }
  for (; i < head_dim; i++) {
    for (int key = 0; key < num_keys; key++) scores[key] += query[i] * keys[key * head_dim + i];
  }
}

/** out [D] = Σ weights·values/sum, for a head width of whole vectors. */
RETRACE_INLINE void WeightedSum(const float* weights, float sum, const float* values, int64_t num_keys,
                                int64_t head_dim, float* out) {
  const float scale = 1.0f / sum;
  int64_t d = 0;
  for (; d + kLanes <= head_dim; d += kLanes) {
    Lanes even = {}, odd = {};
    int64_t key = 0;
    for (; key + 2 <= num_keys; key += 2) {
      even += weights[key] * At(values + key * head_dim + d);
      odd += weights[key + 1] * At(values + (key + 1) * head_dim + d);
    }
    if (key < num_keys) even += weights[key] * At(values + key * head_dim + d);
    At(out + d) = (even + odd) * scale;
  }
  for (; d < head_dim; d++) {
    float total = 0;
    for (int64_t key = 0; key < num_keys; key++) total += weights[key] * values[key * head_dim + d];
    out[d] = total * scale;
  }
}

void AttendTokens(const Inputs& in, int64_t begin, int64_t end, float* context) {
  std::vector<float> query(in.head_dim), scores(in.max_tokens + kLanes);
  for (int64_t item = begin; item < end; item++) {
    const int64_t result = item / in.num_groups, group = item % in.num_groups, token = in.wanted[result];
    const int64_t slot = in.slots[token], num_keys = in.positions[token] + 1;
    const float *keys = in.Cached(slot, group, 0), *values = in.Cached(slot, in.num_groups + group, 0);
    for (int64_t head = group * in.group_size; head < (group + 1) * in.group_size; head++) {
      const int64_t column = head * in.head_dim;
      Rotate(in.qkv + token * in.width + column, in.factors + in.positions[token] * in.width + column, in.head_dim,
             query.data());
      int64_t key = 0;
      for (; key + kLanes <= num_keys; key += kLanes) {
        Score<kLanes>(query.data(), keys + key * in.head_dim, in.head_dim, scores.data() + key);
      }
      for (; key < num_keys; key++) {
        Score<1>(query.data(), keys + key * in.head_dim, in.head_dim, scores.data() + key);
      }
      const float sum = SoftmaxPowers(scores.data(), num_keys, (num_keys + kLanes - 1) / kLanes * kLanes);
      WeightedSum(scores.data(), sum, values, num_keys, in.head_dim, context + (result * in.num_heads + head) * in.head_dim);
    }
  }
}

Inputs ReadInputs(OpCall& call) {
  Inputs in = {ReadHeads(call, 6)};
  in.num_tokens = call.Dim(0, 0);
  Require(call.Dim(0, 1) == in.width && call.Dim(1, 1) == in.width, "qkv and factors must have the joined width");
  Require(call.Dim(5, 1) == 2 * in.num_groups && call.Dim(5, 3) == in.head_dim, "the cache must be [S, 2K, T, D]");
  Require(call.Size(2) == in.num_tokens && call.Size(3) == in.num_tokens, "each token must have a slot and a position");
  in.max_tokens = call.Dim(5, 2);
  in.qkv = call.Floats(0);
  in.factors = call.Floats(1);
  in.slots = call.Ints(2);
  in.positions = call.Ints(3);
  in.wanted = call.Ints(4);
  in.num_wanted = call.Size(4);
  in.cache = const_cast<float*>(call.Floats(5));
  const int64_t num_slots = call.Dim(5, 0), num_positions = std::min(in.max_tokens, call.Dim(1, 0));
  for (int64_t token = 0; token < in.num_tokens; token++) {
    Require(in.slots[token] >= 0 && in.slots[token] < num_slots, "a slot must be one of the cache");
    Require(in.positions[token] >= 0 && in.positions[token] < num_positions, "a position must be one of the cache");
  }
  for (int64_t result = 0; result < in.num_wanted; result++) {
    Require(in.wanted[result] >= 0 && in.wanted[result] < in.num_tokens, "a wanted token must be one of the tokens");
  }
  return in;
}

/**
 * Rotates the keys of qkv [N, W] and writes them, and the values, to their slots and positions of the cache. Then attends from
 * the wanted tokens to all tokens of their slot up to their position: the joined heads, [R, H·D].
 */
void CachedAttention(OpCall& call) {
  const Inputs in = ReadInputs(call);
  ParallelFor(in.num_tokens, 64, [&](int64_t begin, int64_t end) { WriteTokens(in, begin, end); });
  float* context = call.Output(0, {in.num_wanted, in.num_heads * in.head_dim});
  int64_t num_keys = 0;
  for (int64_t result = 0; result < in.num_wanted; result++) num_keys += in.positions[in.wanted[result]] + 1;
  const int64_t work = num_keys * in.group_size * in.head_dim / (in.num_wanted + 1) + 1;
  ParallelFor(in.num_wanted * in.num_groups, (1 << 16) / work + 1,
              [&](int64_t begin, int64_t end) { AttendTokens(in, begin, end, context); });
}

}  // namespace

void RegisterCachedAttention() {
  RegisterOp("RetraceCachedAttention",
             {"qkv: float", "factors: float", "slots: int32", "positions: int32", "wanted: int32", "cache: float",
              "dims: int32"},
             {"context: float"}, &RunOp<&CachedAttention>);
}

}  // namespace retrace
