#include "parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace retrace {
namespace {

constexpr int64_t kMaxRanges = 64;

/** As many as this process may run on, or as TensorFlow was told to use. */
int NumThreads() {
  const char* told = std::getenv("TF_NUM_INTRAOP_THREADS");
  if (told != nullptr && std::atoi(told) > 0) return std::atoi(told);
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) == 0) return CPU_COUNT(&processors);
  return std::max(1u, std::thread::hardware_concurrency());
}

/** Threads that wait for a job, which the caller works on with them. */
class Pool {
 public:
  static Pool& Get() {
    // Never destroyed: threads may outlive static destructors at exit.
    static Pool* pool = new Pool(NumThreads() - 1);
    return *pool;
  }

  void Run(int64_t num_ranges, const std::function<void(int64_t range)>& run_range) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      job_ = &run_range;
      num_ranges_ = num_ranges;
      next_range_.store(0, std::memory_order_relaxed);
      num_working_ = num_threads_;
      generation_++;
    }
    wake_.notify_all();
    WorkOn(run_range, num_ranges);
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return num_working_ == 0; });
    job_ = nullptr;
  }

  int num_threads() const { return num_threads_; }

 private:
  explicit Pool(int num_threads) : num_threads_(num_threads) {
    for (int i = 0; i < num_threads; i++) std::thread([this] { Loop(); }).detach();
  }

  void Loop() {
    uint64_t seen = 0;
    for (;;) {
      const std::function<void(int64_t)>* job;
      int64_t num_ranges;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return generation_ != seen; });
        seen = generation_;
        job = job_;
        num_ranges = num_ranges_;
      }
      WorkOn(*job, num_ranges);
      std::lock_guard<std::mutex> lock(mutex_);
      if (--num_working_ == 0) idle_.notify_one();
    }
  }

  void WorkOn(const std::function<void(int64_t)>& run_range, int64_t num_ranges) {
    for (;;) {
      const int64_t range = next_range_.fetch_add(1, std::memory_order_relaxed);
      if (range >= num_ranges) return;
      run_range(range);
    }
  }

  const int num_threads_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::atomic<int64_t> next_range_{0};
  const std::function<void(int64_t)>* job_ = nullptr;
  int64_t num_ranges_ = 0;
  int num_working_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace

Ranges RangesOf(int64_t count, int64_t grain) {
  if (count <= 0) return {1, 0};
  const int64_t number = std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, kMaxRanges);
  const int64_t length = (count + number - 1) / number;
  return {length, (count + length - 1) / length};
}

void ParallelFor(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& work) {
  const Ranges ranges = RangesOf(count, grain);
  const auto run_range = [&](int64_t range) {
    work(range * ranges.length, std::min(count, (range + 1) * ranges.length));
  };
  if (ranges.number <= 1 || Pool::Get().num_threads() == 0) {
    for (int64_t range = 0; range < ranges.number; range++) run_range(range);
    return;
  }
  // Graphs of one process may run ops of several threads at once.
  static std::mutex one_at_a_time;
  std::lock_guard<std::mutex> lock(one_at_a_time);
  Pool::Get().Run(ranges.number, run_range);
}

}  // namespace retrace
