/**
 * `silently(load)`: calls `load` while the standard error of the process is discarded.
 *
 * TensorFlow's libraries log from static initialisers, whatever TF_CPP_MIN_LOG_LEVEL says. Descriptor 2 is replaced in one
 * system call, so that no thread finds it closed.
 */
#include <fcntl.h>
#include <node_api.h>
#include <unistd.h>

namespace {

napi_value Silently(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value load, nobody, result;
  if (napi_get_cb_info(env, info, &count, &load, nullptr, nullptr) != napi_ok) return nullptr;
  napi_get_undefined(env, &nobody);
  const int original = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (original >= 0 && nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  const napi_status status = napi_call_function(env, nobody, load, 0, nullptr, &result);
  if (original >= 0) {
    dup2(original, STDERR_FILENO);
    close(original);
  }
  if (nowhere >= 0) close(nowhere);
  // A pending exception of `load` reaches the caller.
  return status == napi_ok ? result : nullptr;
}

napi_value Register(napi_env env, napi_value exports) {
  napi_value silently;
  if (napi_create_function(env, "silently", NAPI_AUTO_LENGTH, Silently, nullptr, &silently) == napi_ok)
    napi_set_named_property(env, exports, "silently", silently);
  return exports;
}

}  // namespace

NAPI_MODULE(retrace_quiet, Register)
