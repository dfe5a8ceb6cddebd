#include "monitor/engine/perf_counters.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

namespace dctx::monitor {
namespace {

struct Kind {
  const char* name;
  uint32_t type;
  uint64_t config;
};

constexpr uint64_t kLastLevelMisses = PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                      PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
constexpr std::array<Kind, 11> kKinds = {{
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"llc-misses", PERF_TYPE_HW_CACHE, kLastLevelMisses},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
}};

// Chosen between recordings; a thread that sees another number opens its counters anew.
std::array<Kind, kMaxCounters> chosen{};
std::atomic<size_t> chosen_count{0};
std::atomic<uint32_t> chosen_times{0};

// One counter of one thread.
class Counter {
 public:
  Counter() = default;
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() { close(); }

  bool open(const Kind& kind) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = kind.type;
    attributes.config = kind.config;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const long made = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (made < 0) return false;
    descriptor_ = static_cast<int>(made);
    void* const page = mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_READ,
                            MAP_SHARED, descriptor_, 0);
    page_ = page == MAP_FAILED ? nullptr : static_cast<const perf_event_mmap_page*>(page);
    return true;
  }

  bool read(uint64_t* value) const {
    if (page_ != nullptr && read_here(value)) return true;
    std::array<uint64_t, 3> told{};  // value, time enabled, time running
    if (::read(descriptor_, told.data(), sizeof told) != static_cast<ssize_t>(sizeof told)) {
      return false;
    }
    *value = told[0];
    if (told[2] != 0 && told[2] < told[1]) {  // it shared the processor's counters with others
      *value = static_cast<uint64_t>(static_cast<double>(told[0]) * static_cast<double>(told[1]) /
                                     static_cast<double>(told[2]));
    }
    return true;
  }

 private:
  // As linux/perf_event.h tells: the kernel changes the page under a sequence number.
  bool read_here(uint64_t* value) const {
#if defined(__x86_64__)
    uint32_t sequence = 0;
    do {
      sequence = __atomic_load_n(&page_->lock, __ATOMIC_ACQUIRE);
      const uint32_t index = page_->index;
      const bool shared = page_->time_enabled != page_->time_running;
      if (page_->cap_user_rdpmc == 0 || index == 0 || shared) return false;
      uint32_t low = 0, high = 0;
      __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
      const int unused = 64 - page_->pmc_width;
      const auto count = static_cast<int64_t>((uint64_t{high} << 32 | low) << unused) >> unused;
      *value = static_cast<uint64_t>(page_->offset + count);
      __asm__ volatile("" ::: "memory");  // the processor keeps the order of loads
    } while (__atomic_load_n(&page_->lock, __ATOMIC_RELAXED) != sequence);
    return true;
#else
    static_cast<void>(value);
    return false;
#endif
  }
  void close() {
    if (page_ != nullptr) {
      munmap(const_cast<perf_event_mmap_page*>(page_), static_cast<size_t>(sysconf(_SC_PAGESIZE)));
    }
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor_ = -1;
  const perf_event_mmap_page* page_ = nullptr;
};

struct ThreadCounters {
  uint32_t of_choice = 0;
  pid_t process = 0;
  size_t count = 0;  // 0: they could not be opened
  std::array<Counter, kMaxCounters> counters;

  bool open(size_t wanted) {
    for (size_t i = 0; i < wanted; ++i) {
      if (!counters[i].open(chosen[i])) return false;
    }
    count = wanted;
    return true;
  }
};

thread_local std::unique_ptr<ThreadCounters> own;

const char* why_not() {
  switch (errno) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "the processor, or the virtual machine, does not have it";
    case EACCES:
    case EPERM:
      return "the system forbids it: see /proc/sys/kernel/perf_event_paranoid";
    default:
      return std::strerror(errno);
  }
}

}  // namespace

const std::vector<std::string>& PerfCounters::known() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Kind& kind : kKinds) all.emplace_back(kind.name);
    return all;
  }();
  return names;
}

bool PerfCounters::choose(const std::vector<std::string>& names, std::string* reason) {
  chosen_count.store(0);
  if (names.size() > kMaxCounters) {
    *reason = "at most " + std::to_string(kMaxCounters) + " counters can be read";
    return false;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                          [&](const Kind& each) { return names[i] == each.name; });
    Counter probe;
    if (kind == kKinds.end() || !probe.open(*kind)) {
      *reason = "no counter " + names[i] + ": " +
                (kind == kKinds.end() ? "dctx does not know it" : why_not());
      return false;
    }
    chosen[i] = *kind;
  }
  chosen_times.fetch_add(1);
  chosen_count.store(names.size());
  return true;
}

size_t PerfCounters::count() { return chosen_count.load(std::memory_order_relaxed); }

bool PerfCounters::read(CounterValues* values) {
  const size_t wanted = count();
  if (wanted == 0) return false;
  // A forked child's counters would be its parent's.
  if (own == nullptr || own->of_choice != chosen_times.load() || own->process != getpid()) {
    own = std::make_unique<ThreadCounters>();
    own->of_choice = chosen_times.load();
    own->process = getpid();
    if (!own->open(wanted)) return false;
  }
  if (own->count != wanted) return false;
  for (size_t i = 0; i < wanted; ++i) {
    if (!own->counters[i].read(&(*values)[i])) return false;
  }
  return true;
}

}  // namespace dctx::monitor
