#ifndef RETRACE_OPS_H_
#define RETRACE_OPS_H_

#include "op.h"

namespace retrace {

void RegisterAdamW();
void RegisterAttention();
void RegisterCachedAttention();
void RegisterCopyCached();
void RegisterLinear();
void RegisterRmsNorm();
void RegisterSample();
void RegisterSwiGlu();
void RegisterTokenDistribution();

}  // namespace retrace

#endif  // RETRACE_OPS_H_
