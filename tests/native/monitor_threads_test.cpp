// Threads that record while another one reads everything without a lock. Also run under
// ThreadSanitizer.
#include <pthread.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "frame_stack.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/engine/listeners.hpp"

using namespace dctx::monitor;
using dctx_test::Call;
using dctx_test::Code;

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 3000;

// Reads all that is published; returns the events counted.
uint64_t snapshot() {
  Registry& registry = Registry::instance();
  uint64_t events = 0;
  for (const ThreadRecord* record : registry.threads()) {
    const ThreadStore& store = record->store;
    const uint32_t nodes = store.node_count();
    const uint32_t codes = registry.codes().size();
    const uint32_t strings = registry.strings().size();
    for (uint32_t node = 1; node < nodes; ++node) {
      const NodeView view = store.view(node);
      CHECK(view.parent < node);
      if (view.kind == NodeKind::python) {
        CHECK(view.label < codes);
        const CodeView code = registry.codes().view(static_cast<uint32_t>(view.label));
        CHECK(code.file < strings && code.function < strings);
        CHECK(!registry.strings().text(code.function).empty());
      }
      events += store.metrics(node).count;
    }
  }
  return events;
}

void work(int number, std::atomic<ThreadRecord*>* forward) {
  Registry& registry = Registry::instance();
  std::deque<Code> codes;  // addresses differ, contents repeat between threads
  for (int i = 0; i < 8; ++i) codes.push_back({"file.py", "f" + std::to_string(i), i + 1});
  for (int round = 0; round < kRounds; ++round) {
    ThreadRecord* record = registry.current();
    if (number == 0) forward->store(record);
    Call outer(codes[static_cast<size_t>(round % 8)], round % 97);
    const std::string name = "op" + std::to_string(round % 50);
    begin_operator(*record, &outer, operator_name(*record, name.c_str()), round);
    ThreadRecord* linked = forward->load();
    begin_backward(*record, &name, operator_name(*record, "B"), {linked, round});
    CHECK(end_event(*record, &name));
    CHECK(end_event(*record, &outer));
  }
}

void readers_see_whole_rows() {
  Registry& registry = Registry::instance();
  registry.clear();
  registry.start({});
  std::atomic<ThreadRecord*> forward{registry.current()};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i, &forward);
  uint64_t seen = 0;
  for (int i = 0; i < 200; ++i) {
    const uint64_t now = snapshot();
    CHECK(now >= seen);
    seen = now;
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(snapshot(), uint64_t{kThreads} * kRounds * 2);
}

void recordings_start_and_stop_under_load() {
  Registry& registry = Registry::instance();
  registry.clear();
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&registry, &done] {
      const int event = 0;
      while (!done.load()) {
        if (!registry.active()) {
          std::this_thread::yield();
          continue;
        }
        ThreadRecord* record = registry.current();
        begin_operator(*record, &event, operator_name(*record, "op"), -1);
        if (ThreadRecord* now = registry.current_if_any()) end_event(*now, &event);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    registry.start({});
    snapshot();
    registry.stop();
    if (i % 10 == 0) registry.clear();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

// What a listener is told with; it must not be told any more once it was removed.
struct Ear {
  std::atomic<uint64_t> told{0};
  std::atomic<bool> removed{false};
};

void hear(const dctx_event*, void* user) {
  auto& ear = *static_cast<Ear*>(user);
  CHECK(!ear.removed.load());
  ear.told.fetch_add(1);
}

void listeners_come_and_go_under_load() {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&done] {
      dctx_event event{};
      event.event = DCTX_END;
      event.domain = DCTX_DOMAIN_USER;
      while (!done.load()) Listeners::instance().tell(event);
    });
  }
  Listeners& listeners = Listeners::instance();
  for (int round = 0; round < 200; ++round) {
    Ear ear;
    const int handle = listeners.add(DCTX_DOMAIN_USER, DCTX_END, hear, &ear);
    CHECK(handle >= 0);
    while (ear.told.load() == 0) std::this_thread::yield();
    CHECK_EQUAL(listeners.remove(handle), 0);
    ear.removed.store(true);
    CHECK_EQUAL(listeners.remove(handle), static_cast<int>(Listeners::kUnknown));
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  CHECK(!Listeners::any());
}

void threads_of_one_name_follow_each_other() {
  Registry& registry = Registry::instance();
  registry.clear();
  registry.start({});
  for (int i = 0; i < 100; ++i) {
    std::thread([&registry] {
      const int event = 0;
      ThreadRecord* record = registry.current();
      begin_operator(*record, &event, operator_name(*record, "op"), -1);
      end_event(*record, &event);
    }).join();
  }
  CHECK_EQUAL(registry.threads().size(), 1U);
  CHECK_EQUAL(snapshot(), 100U);
}

// However often a process records, its threads keep the memory of one recording.
void forgotten_trees_give_their_memory() {
  Registry& registry = Registry::instance();
  registry.clear();
  registry.start({});
  const uint32_t own = registry.current()->index;
  const auto record_on_threads = [&registry](int round) {
    std::set<uint32_t> used;
    for (int i = 0; i < 3; ++i) {
      std::thread([&registry, &used, round, i] {
        pthread_setname_np(pthread_self(), ("t" + std::to_string(round * 3 + i)).c_str());
        const int event = 0;
        ThreadRecord* record = registry.current();
        CHECK_EQUAL(record->store.node_count(), 1U);
        begin_operator(*record, &event, operator_name(*record, "op"), -1);
        end_event(*record, &event);
        used.insert(record->index);
      }).join();
    }
    return used;
  };
  const std::set<uint32_t> first = record_on_threads(0);
  CHECK_EQUAL(first.size(), 3U);
  const PackedContext old = PackedContext::of(*first.begin(), registry.thread(own).epoch, 1);
  CHECK(registry.holds(old.thread(), old.epoch()));
  for (int round = 1; round < 5; ++round) {
    registry.clear();
    registry.start({});
    CHECK(registry.threads().empty());
    CHECK_EQUAL(registry.current()->index, own);
    CHECK(record_on_threads(round) == first);
    CHECK_EQUAL(registry.threads().size(), 4U);
    CHECK_EQUAL(snapshot(), 3U);
    CHECK(!registry.holds(old.thread(), old.epoch()));
  }
}

}  // namespace

int main() {
  engine_state.python = FrameWalk<dctx_test::FakeFrames>::source();
  forgotten_trees_give_their_memory();  // first: no record of another test is left
  readers_see_whole_rows();
  recordings_start_and_stop_under_load();
  listeners_come_and_go_under_load();
  threads_of_one_name_follow_each_other();

  return dctx_test::report();
}
