#include <cstring>

#include "ops.h"

namespace retrace {
namespace {

/**
 * Copies the first tokens of contexts between slots of a cache [S, 2K, T, D], in place, one copy after the other. `copies`
 * [n, 3] holds the source, the target and the number of tokens. Returns the number of copies, [1].
 */
void CopyCached(OpCall& call) {
  const int64_t num_slots = call.Dim(0, 0), num_heads = call.Dim(0, 1), max_tokens = call.Dim(0, 2), width = call.Dim(0, 3);
  float* cache = const_cast<float*>(call.Floats(0));
  const int32_t* copies = call.Ints(1);
  const int64_t num_copies = call.Size(1) / 3;
  for (int64_t i = 0; i < num_copies; i++) {
    const int64_t from = copies[3 * i], to = copies[3 * i + 1], num_tokens = copies[3 * i + 2];
    Require(from >= 0 && from < num_slots && to >= 0 && to < num_slots && from != to, "slots must be two of the cache");
    Require(num_tokens >= 0 && num_tokens <= max_tokens, "a context has no more tokens than the cache");
    for (int64_t head = 0; head < num_heads; head++) {
      std::memcpy(cache + (to * num_heads + head) * max_tokens * width,
                  cache + (from * num_heads + head) * max_tokens * width, num_tokens * width * sizeof(float));
    }
  }
  *call.Output(0, {1}) = static_cast<float>(num_copies);
}

}  // namespace

void RegisterCopyCached() {
  RegisterOp("RetraceCopyCached", {"cache: float", "copies: int32"}, {"num_copies: float"}, &RunOp<&CopyCached>);
}

}  // namespace retrace
