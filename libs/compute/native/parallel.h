#ifndef RETRACE_PARALLEL_H_
#define RETRACE_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace retrace {

/**
 * Calls work(begin, end) on consecutive ranges that cover [0, count), on several threads, and waits for all.
 * Ranges depend only on `count` and `grain`, not on the number of threads, so that sums of sums over ranges are equal on
 * every run and machine. A range has at least `grain` elements.
 *
 * Calls run one at a time; work must not call it again.
 */
void ParallelFor(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& work);

/** The ranges of `ParallelFor`: all have equal length except the last. */
struct Ranges {
  int64_t length;
  int64_t number;
};
Ranges RangesOf(int64_t count, int64_t grain);

}  // namespace retrace

#endif  // RETRACE_PARALLEL_H_
