#pragma once
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace dctx::scan {

struct Range {
  size_t begin;
  size_t end;
};

// Contiguous parts of [0, size), one a thread; one part only when there is little to do.
inline std::vector<Range> split(size_t size, unsigned threads) {
  constexpr size_t kMinPerThread = 64;
  size_t parts = threads < 1 ? 1 : threads;
  if (parts > size / kMinPerThread) parts = size / kMinPerThread;
  if (parts < 1) parts = 1;
  std::vector<Range> ranges;
  for (size_t i = 0; i < parts; ++i) ranges.push_back({size * i / parts, size * (i + 1) / parts});
  return ranges;
}

// Calls work(index, range) for every part, each on a thread of its own; the first exception is
// thrown again here once all have ended.
template <typename Work>
void run_parallel(const std::vector<Range>& parts, const Work& work) {
  std::vector<std::exception_ptr> errors(parts.size());
  const auto guarded = [&](size_t i) {
    try {
      work(i, parts[i]);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(parts.size() - 1);
  for (size_t i = 1; i < parts.size(); ++i) {
    try {
      threads.emplace_back(guarded, i);
    } catch (const std::system_error&) {
      guarded(i);  // the system grants no further thread
    }
  }
  guarded(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace dctx::scan
