// Threads that record while the recorder writes; forks meanwhile. Also run under ThreadSanitizer.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/recorder/recorder.hpp"

using namespace dctx::monitor;

namespace {

std::string temporary(const char* name) {
  return std::string("/tmp/dctx-recorder-test-") + std::to_string(getpid()) + "-" + name;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool exists(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0;
}

void run_operator(const std::string& name) {
  ThreadRecord* record = Registry::instance().current();
  begin_operator(*record, &name, operator_name(*record, name.c_str()), -1);
  CHECK(end_event(*record, &name));
}

void begin(const RecorderOptions& options) {
  Registry::instance().clear();
  CHECK(Recorder::instance().start(options, "{}"));
}

RecorderOptions options_for(const std::string& path) {
  RecorderOptions options;
  options.path = path;
  options.interval_ns = 1'000'000;
  return options;
}

void snapshots_while_threads_record() {
  const std::string path = temporary("threads.dctxrec");
  RecorderOptions options = options_for(path);
  options.compact_bytes = 20'000;
  Recorder& recorder = Recorder::instance();
  begin(options);
  CHECK(!recorder.start(options, "{}"));
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([number] {
      for (int i = 0; i < 2000; ++i) run_operator("op" + std::to_string(number * i % 199));
    });
  }
  for (int i = 0; i < 200; ++i) recorder.snapshot();
  for (std::thread& thread : threads) thread.join();
  uint64_t events = 6000;
  for (; recorder.state().compactions == 0 && events < 16'000; ++events) {
    run_operator("op");
    recorder.snapshot();
  }
  const RecorderState state = recorder.stop();
  CHECK_EQUAL(state.totals.events, events);
  CHECK_EQUAL(state.error, "");
  CHECK(state.snapshots > 1);
  CHECK(state.compactions > 0);
  CHECK_EQUAL(content(path).size(), state.file_bytes);
  CHECK_EQUAL(content(path).substr(0, 7), "DCTXREC");
  std::remove(path.c_str());
}

void nothing_recorded_makes_no_file() {
  const std::string path = temporary("nothing.dctxrec");
  Recorder& recorder = Recorder::instance();
  begin(options_for(path));
  CHECK(!recorder.snapshot());
  const RecorderState state = recorder.stop();
  CHECK_EQUAL(state.file_bytes, 0U);
  CHECK_EQUAL(state.error, "");
  CHECK(!exists(path));
}

void a_place_that_cannot_be_written_is_told() {
  Recorder& recorder = Recorder::instance();
  begin(options_for("/nowhere/at/all.dctxrec"));
  run_operator("op");
  CHECK(!recorder.snapshot());
  CHECK(recorder.stop().error.find("No such file") != std::string::npos);
}

void recording_begins_and_ends_by_time() {
  const std::string path = temporary("window.dctxrec");
  RecorderOptions options = options_for(path);
  Recorder& recorder = Recorder::instance();
  Registry& registry = Registry::instance();
  options.start_ns = 20'000'000;
  begin(options);
  while (!registry.active()) std::this_thread::yield();
  run_operator("op");
  CHECK_EQUAL(recorder.stop().totals.events, 1U);
  options.start_ns = -1;
  options.stop_ns = 20'000'000;
  begin(options);
  while (registry.active()) std::this_thread::yield();
  recorder.stop();
  std::remove(path.c_str());
}

void a_child_leaves_the_file_of_its_parent_alone() {
  const std::string path = temporary("fork.dctxrec");
  Recorder& recorder = Recorder::instance();
  begin(options_for(path));
  run_operator("parent");
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const bool clean = !Registry::instance().active() && !recorder.state().running &&
                         recorder.stop().file_bytes == 0;
      _exit(clean ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
    run_operator("parent");
  }
  CHECK_EQUAL(recorder.stop().totals.events, 6U);
  std::remove(path.c_str());
}

// ThreadSanitizer does not follow threads that a forked child starts.
#ifndef __SANITIZE_THREAD__
void a_child_records_into_its_own_file() {
  const std::string path = temporary("parent.dctxrec");
  const std::string own = temporary("child.dctxrec");
  Recorder& recorder = Recorder::instance();
  begin(options_for(path));
  run_operator("parent");
  recorder.snapshot();
  const pid_t child = fork();
  if (child == 0) {
    begin(options_for(own));
    run_operator("child");
    _exit(recorder.stop().totals.events == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK(exists(own));
  CHECK_EQUAL(recorder.stop().totals.events, 1U);
  std::remove(path.c_str());
  std::remove(own.c_str());
}
#endif

}  // namespace

int main() {
  snapshots_while_threads_record();
  nothing_recorded_makes_no_file();
  a_place_that_cannot_be_written_is_told();
  recording_begins_and_ends_by_time();
  a_child_leaves_the_file_of_its_parent_alone();
#ifndef __SANITIZE_THREAD__
  a_child_records_into_its_own_file();
#endif
  return dctx_test::failures == 0 ? 0 : 1;
}
