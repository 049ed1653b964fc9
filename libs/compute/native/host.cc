/**
 * Prepares the process in which TensorFlow computes.
 *
 * `silently(load)` calls `load` while the standard error of the process is discarded: TensorFlow's libraries log from static
 * initialisers, whatever TF_CPP_MIN_LOG_LEVEL says. Descriptor 2 is replaced in one system call, so that no thread finds it closed.
 *
 * `keepSignalsOffHeap()` keeps handlers of signals off the stack pointer of this thread, and of all threads that it starts from now
 * on. Matrix products of many rows (oneDNN's sgemm, which Eigen's contractions call) point it into a block of the heap. The kernel
 * writes a signal's frame below it, over whatever is there, and the process ends with "corrupted size vs. prev_size". Other threads
 * of Node get these signals instead, and pass them on through a pipe. A profiler, which signals this thread itself, says that its
 * handler wants a stack of its own (SA_ONSTACK), and gets one.
 */
#include <fcntl.h>
#include <node_api.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

/** A handler takes a few KiB, and with AVX-512 and AMX the registers 11 KiB. */
constexpr size_t kSignalStackBytes = 256 * 1024;

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

napi_value KeepSignalsOffHeap(napi_env, napi_callback_info) {
  const int handled[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGCONT, SIGURG, SIGVTALRM, SIGWINCH, SIGIO};
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : handled) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  stack_t present;
  if (sigaltstack(nullptr, &present) != 0 || !(present.ss_flags & SS_DISABLE)) return nullptr;
  void* memory = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, nullptr);
  return nullptr;
}

void Export(napi_env env, napi_value exports, const char* name, napi_callback callback) {
  napi_value function;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function) == napi_ok)
    napi_set_named_property(env, exports, name, function);
}

napi_value Register(napi_env env, napi_value exports) {
  Export(env, exports, "silently", Silently);
  Export(env, exports, "keepSignalsOffHeap", KeepSignalsOffHeap);
  return exports;
}

}  // namespace

NAPI_MODULE(retrace_host, Register)
