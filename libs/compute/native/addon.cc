/** An addon without functions. Loading it adds Retrace's ops to the TensorFlow that is loaded in this process. */
#include <node_api.h>

#include <exception>

#include "ops.h"

namespace {

napi_value Register(napi_env env, napi_value exports) {
  try {
    retrace::RegisterAdamW();
    retrace::RegisterAttention();
    retrace::RegisterCachedAttention();
    retrace::RegisterCopyCached();
    retrace::RegisterLinear();
    retrace::RegisterRmsNorm();
    retrace::RegisterSample();
    retrace::RegisterSwiGlu();
    retrace::RegisterTokenDistribution();
  } catch (const std::exception& error) {
    napi_throw_error(env, nullptr, error.what());
  }
  return exports;
}

}  // namespace

NAPI_MODULE(retrace_ops, Register)
