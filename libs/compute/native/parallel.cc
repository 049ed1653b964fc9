#include "parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

namespace retrace {
namespace {

constexpr int64_t kMaxRanges = 64;

/** The number of processors that this process may use, or that TF_NUM_INTRAOP_THREADS allows. */
int NumThreads() {
  const char* told = std::getenv("TF_NUM_INTRAOP_THREADS");
  if (told != nullptr && std::atoi(told) > 0) return std::atoi(told);
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) == 0) return CPU_COUNT(&processors);
  return std::max(1u, std::thread::hardware_concurrency());
}

/** Ranges that threads take one by one. A thread that starts late finds none left, and accesses nothing else. */
struct Job {
  const std::function<void(int64_t range)>* run_range;
  int64_t num_ranges;
  std::atomic<int64_t> next_range{0};
  std::atomic<int64_t> num_done{0};
};

/** Threads that wait for a job, on which the calling thread works, too. */
class Pool {
 public:
  static Pool& Get() {
    // Never destroyed: threads may outlive static destructors at exit.
    static Pool* pool = new Pool(NumThreads() - 1);
    return *pool;
  }

  /** Returns when all ranges are done, without waiting for threads that have not woken up yet. */
  void Run(int64_t num_ranges, const std::function<void(int64_t range)>& run_range) {
    const auto job = std::make_shared<Job>();
    job->run_range = &run_range;
    job->num_ranges = num_ranges;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      job_ = job;
    }
    wake_.notify_all();
    WorkOn(*job);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return job->num_done.load() == num_ranges; });
    job_ = nullptr;
  }

  int num_threads() const { return num_threads_; }

 private:
  explicit Pool(int num_threads) : num_threads_(num_threads) {
    for (int i = 0; i < num_threads; i++) std::thread([this] { Loop(); }).detach();
  }

  void Loop() {
    std::shared_ptr<Job> last;
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return job_ != nullptr && job_ != last; });
        job = job_;
      }
      WorkOn(*job);
      last = job;
    }
  }

  void WorkOn(Job& job) {
    for (;;) {
      const int64_t range = job.next_range.fetch_add(1);
      if (range >= job.num_ranges) return;
      (*job.run_range)(range);
      if (job.num_done.fetch_add(1) + 1 == job.num_ranges) {
        std::lock_guard<std::mutex> lock(mutex_);
        done_.notify_one();
      }
    }
  }

  const int num_threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::shared_ptr<Job> job_;
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
