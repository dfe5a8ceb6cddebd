#pragma once
#include <atomic>

namespace dctx::monitor {

struct ThreadRecord;

// Told on each thread that begins to record, with its record. Null: nobody watches threads.
inline std::atomic<void (*)(ThreadRecord& record)> thread_entered{nullptr};

}  // namespace dctx::monitor
