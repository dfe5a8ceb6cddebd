#include "monitor/engine/cpu_sampler.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "monitor/engine/registry.hpp"
#include "monitor/engine/thread_watch.hpp"
#include "tree/hash.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace dctx::monitor {

// What the handler of one thread writes to. It outlives the thread until all is collected.
struct CpuSampler::Sampled {
  SampleRing ring;
  std::atomic<const ThreadRecord*> record{nullptr};
  std::atomic<bool> ended{false};
};

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

std::atomic<uint32_t> rate{0};     // 0: nothing is sampled
std::atomic<uint32_t> started{0};  // times; timers of an earlier start are replaced
std::atomic<uint64_t> refused{0};
int signal_number = 0;

uint64_t instruction(const void* context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  static_cast<void>(context);
  return 0;
#endif
}

// The context that is open on the interrupted thread, which may be about to change it: what is
// read is one of its contexts in any case.
uint32_t open_node(const ThreadRecord& record) {
  if (record.generation != Registry::instance().generation() || record.open.empty()) return 0;
  const uint32_t node = record.open.back().base;
  return node < record.store.node_count() ? node : 0;
}

}  // namespace

// The timer of one thread.
struct CpuSampler::Owner {
  std::shared_ptr<Sampled> sampled;
  timer_t timer{};
  uint32_t of_start = 0;

  bool begin(uint32_t hz) {
    auto fresh = std::make_shared<Sampled>();
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal_number;
    event.sigev_value.sival_ptr = fresh.get();
    event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return false;
    sampled = std::move(fresh);
    const int64_t period_ns = kSecondNs / hz;
    const timespec period{period_ns / kSecondNs, period_ns % kSecondNs};
    const itimerspec setting{period, period};
    return timer_settime(timer, 0, &setting, nullptr) == 0;
  }
  void end() {
    if (sampled == nullptr) return;
    // A signal that is on its way must not find the ring gone: the collector waits for `ended`,
    // and this thread takes no more of them.
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal_number);
    pthread_sigmask(SIG_BLOCK, &own, nullptr);
    timer_delete(timer);
    const timespec none{0, 0};
    while (sigtimedwait(&own, nullptr, &none) > 0) {
    }
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
    sampled->ended.store(true, std::memory_order_release);
    sampled.reset();
  }
  ~Owner() { end(); }

  static void on_signal(int, siginfo_t* info, void* context) {
    if (info->si_code != SI_TIMER || !Registry::instance().active()) return;
    auto* const sampled = static_cast<Sampled*>(info->si_value.sival_ptr);
    const ThreadRecord* const record = sampled->record.load(std::memory_order_relaxed);
    if (record == nullptr || rate.load(std::memory_order_relaxed) == 0) return;
    const CpuSample sample{record->index, open_node(*record), instruction(context),
                           1 + static_cast<uint32_t>(std::max(info->si_overrun, 0))};
    if (!sampled->ring.push(sample)) refused.fetch_add(1, std::memory_order_relaxed);
  }

  static Owner& of_thread() {
    thread_local Owner owner;
    return owner;
  }
};

size_t CpuSampler::Hash::operator()(const SampledPlace& place) const {
  return mix_bits(mix_bits(uint64_t{place.thread} << 32 | place.node) ^ place.function);
}

CpuSampler& CpuSampler::instance() {
  static CpuSampler* const sampler = new CpuSampler;  // handlers run until the process ends
  return *sampler;
}

bool CpuSampler::start(uint32_t hz, uint64_t (*function)(uintptr_t pc), std::string* reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A signal that nobody uses: the last of the free ones, as programs take the first.
  for (int number = SIGRTMAX - 1; signal_number == 0 && number > SIGRTMIN; --number) {
    struct sigaction now{};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction own{};
    own.sa_sigaction = Owner::on_signal;
    own.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&own.sa_mask);
    if (sigaction(number, &own, nullptr) == 0) signal_number = number;
  }
  if (signal_number == 0) {
    *reason = "the program uses all real-time signals";
    return false;
  }
  Owner probe;
  if (!probe.begin(hz)) {
    *reason = std::string("the system gives no timer of CPU time: ") + std::strerror(errno);
    return false;
  }
  function_ = function;
  for (const std::shared_ptr<Sampled>& thread : threads_) {  // what an earlier recording left
    for (CpuSample sample{}; thread->ring.pop(&sample);) {
    }
  }
  places_.clear();
  refused.store(0);
  started.fetch_add(1);
  rate.store(hz);
  thread_entered.store(enter, std::memory_order_release);
  return true;
}

void CpuSampler::stop() {
  rate.store(0);
  thread_entered.store(nullptr, std::memory_order_release);
}

bool CpuSampler::running() const { return rate.load() != 0; }
uint64_t CpuSampler::dropped() const { return refused.load(); }

void CpuSampler::enter(ThreadRecord& record) {
  const uint32_t hz = rate.load();
  if (hz == 0) return;
  Owner& owner = Owner::of_thread();
  if (owner.sampled == nullptr || owner.of_start != started.load()) {
    owner.end();
    if (!owner.begin(hz)) return;
    owner.of_start = started.load();
    CpuSampler& sampler = instance();
    const std::lock_guard<std::mutex> lock(sampler.mutex_);
    sampler.threads_.push_back(owner.sampled);
  }
  owner.sampled->record.store(&record, std::memory_order_relaxed);
}

void CpuSampler::collect() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::shared_ptr<Sampled>& thread : threads_) {
    const bool ended = thread->ended.load(std::memory_order_acquire);  // then nothing follows
    for (CpuSample sample{}; thread->ring.pop(&sample);) {
      const uint64_t function =
          function_ != nullptr ? function_(sample.pc) : SampledPlace::kNoFunction;
      places_[{sample.thread, sample.node, function}] += sample.ticks;
    }
    if (ended) thread.reset();
  }
  threads_.erase(std::remove(threads_.begin(), threads_.end(), nullptr), threads_.end());
}

void CpuSampler::after_fork_in_child() {
  stop();
  threads_.clear();
  places_.clear();
  Owner& owner = Owner::of_thread();
  if (owner.sampled != nullptr) owner.sampled.reset();  // timers are not inherited
}

}  // namespace dctx::monitor
