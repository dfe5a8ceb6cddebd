// The parts of a recording's format: check sums, tables, chunks, and what a snapshot leaves out.
#include <string>
#include <vector>

#include "check.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/recorder/chunks.hpp"
#include "monitor/recorder/crc32c.hpp"
#include "monitor/recorder/snapshot.hpp"
#include "monitor/recorder/step_rows.hpp"
#include "monitor/recorder/table.hpp"

using namespace dctx::monitor;

namespace {

uint64_t number_at(const std::string& bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The types of the chunks, in order. Checks framing and check sums on the way.
std::vector<std::string> chunk_types(const std::string& bytes) {
  std::vector<std::string> types;
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t size = number_at(bytes, at + 8, 8);
    const uint32_t head = crc32c(bytes.data() + at, 20);
    CHECK_EQUAL(number_at(bytes, at + 20, 4), crc32c(bytes.data() + at + 24, size, head));
    types.push_back(bytes.substr(at, 4));
    at += 24 + (size + 7) / 8 * 8;
  }
  CHECK_EQUAL(at, bytes.size());
  return types;
}

void check_sums_are_those_of_the_standard() {
  CHECK_EQUAL(crc32c("123456789", 9), 0xe3069283U);  // RFC 3720
  CHECK_EQUAL(crc32c("6789", 4, crc32c("12345", 5)), 0xe3069283U);
  CHECK_EQUAL(crc32c(std::string(32, '\0').data(), 32), 0x8a9136aaU);  // RFC 3720, B.4
}

void columns_are_as_narrow_as_their_values() {
  Table table(3, 7, 2);
  table.integers(0, {0, 0, 0});
  table.integers(1, {1, -1, 127});
  table.integers(2, {128, -129, 0});
  table.texts(3, {"a", "", "bcd"});
  const std::string content = table.content();
  CHECK_EQUAL(number_at(content, 0, 4), 3U);
  CHECK_EQUAL(number_at(content, 4, 4), 7U);
  CHECK_EQUAL(number_at(content, 8, 4), 2U);
  CHECK_EQUAL(number_at(content, 12, 2), 4U);
  const auto width = [&](size_t column) { return number_at(content, 16 + 8 * column + 2, 1); };
  CHECK_EQUAL(width(0), 0U);
  CHECK_EQUAL(width(1), 1U);
  CHECK_EQUAL(width(2), 2U);
  CHECK_EQUAL(content.substr(16 + 4 * 8),
              std::string("\x01\xff\x7f\x80\x00\x7f\xff\x00\x00\x01\x00\x03"
                          "abcd",
                          16));
}

void a_snapshot_holds_only_what_is_new() {
  Registry& registry = Registry::instance();
  registry.clear();
  registry.start({});
  ThreadRecord& record = *registry.current();
  const auto run = [&](const char* name) {
    begin_operator(record, name, operator_name(record, name), -1);
    CHECK(end_event(record, name));
  };
  run("first");
  SnapshotWriter writer(registry);
  std::string bytes;
  Totals totals = writer.append(bytes, "{}", {1, 2, 3, false});
  CHECK_EQUAL(chunk_types(bytes),
              (std::vector<std::string>{"META", "STR ", "THRD", "NODE", "MET ", "LOSS", "COMM"}));
  CHECK(totals.any());
  CHECK_EQUAL(totals.nodes, 2U);
  CHECK_EQUAL(totals.events, 1U);

  bytes.clear();
  writer.append(bytes, "{}", {1, 2, 3, false});
  CHECK_EQUAL(chunk_types(bytes), (std::vector<std::string>{"COMM"}));

  run("first");
  bytes.clear();
  writer.append(bytes, "{}", {1, 2, 3, false});
  CHECK_EQUAL(chunk_types(bytes), (std::vector<std::string>{"THRD", "MET ", "COMM"}));

  run("second");
  registry.steps().mark({registry.steps().spans().empty() ? 10 : 20});
  registry.losses().add(Loss::drops, 4);
  bytes.clear();
  totals = writer.append(bytes, "{\"a\": 1}", {1, 2, 3, true});
  CHECK_EQUAL(chunk_types(bytes), (std::vector<std::string>{"META", "STR ", "THRD", "NODE", "MET ",
                                                            "STEP", "LOSS", "COMM"}));
  CHECK_EQUAL(totals.events, 3U);
  CHECK_EQUAL(totals.steps, 1U);

  registry.strings().intern("used by nobody");
  bytes.clear();
  SnapshotWriter(registry).append(bytes, "{}", {1, 2, 3, false});
  CHECK(bytes.find("used by nobody") != std::string::npos);
  bytes.clear();
  SnapshotWriter(registry).append(bytes, "{}", {1, 2, 3, true});
  CHECK(bytes.find("used by nobody") == std::string::npos);
  CHECK(bytes.find("second") != std::string::npos);
  registry.stop();
}

void the_program_knows_its_steps_best() {
  StepLog log;
  log.begin({100});
  log.mark({110});  // an optimizer: two of them in each step
  log.mark({120});
  CHECK_EQUAL(log.count(), 2U);
  log.mark_by_program({130});
  log.mark({150});
  log.mark_by_program({170});
  const std::vector<StepSpan> spans = log.spans();
  CHECK_EQUAL(spans.size(), 2U);
  CHECK_EQUAL(spans[0].begin_ns, 100);
  CHECK_EQUAL(spans[0].end_ns, 130);
  CHECK_EQUAL(spans[1].end_ns, 170);
  log.begin({200});
  log.mark({210});
  CHECK_EQUAL(log.count(), 1U);
}

void steps_tell_what_was_used_in_them() {
  const int a = 0, b = 0;  // two threads
  StepLog log;
  log.begin({100, ProcessUsage{1000, 10, 1, 50}});
  log.mark({110, ProcessUsage{1005, 12, 1, 70}, &a, 4});
  log.resume({200, ProcessUsage{2000, 30, 9, 60}});  // a pause is in no step
  log.mark({230, ProcessUsage{2007, 30, 10, 65}, &a, 9});
  log.mark({240, ProcessUsage{2010, 31, 10, 65}, &b, 1});
  const std::vector<StepSpan> spans = log.spans();
  CHECK_EQUAL(spans.size(), 3U);
  CHECK_EQUAL(spans[0].used.cpu_ns, 5);
  CHECK_EQUAL(spans[0].host_gap_ns, 4);
  CHECK_EQUAL(spans[0].used.rss_bytes, 70);
  CHECK_EQUAL(spans[1].begin_ns, 200);
  CHECK_EQUAL(spans[1].wall_ns, 30);
  CHECK_EQUAL(spans[1].used.cpu_ns, 7);
  CHECK_EQUAL(spans[1].used.switches, 1);
  CHECK_EQUAL(spans[1].host_gap_ns, 5);
  CHECK_EQUAL(spans[2].host_gap_ns, -1);  // another thread ended it
  StepSpan both = spans[0];
  both.merge(spans[1]);
  CHECK_EQUAL(both.wall_ns, 40);
  CHECK_EQUAL(both.end_ns - both.begin_ns, 130);
}

void short_steps_tell_what_was_used_together() {
  StepLog log;
  log.begin({0, ProcessUsage{100, 5, 0, 50}});
  int64_t now_ns = 0;
  for (uint32_t i = 0; i < StepLog::kAskedSteps; ++i) {  // the first ones each for itself
    CHECK(log.asks_usage(++now_ns));
    log.mark({now_ns, ProcessUsage{100 + now_ns, 5, 0, 60}});
  }
  CHECK(!log.asks_usage(now_ns + 999'999));
  log.mark({now_ns + 500'000});
  CHECK(log.asks_usage(now_ns + 1'000'000));
  log.mark({now_ns + 1'000'000, ProcessUsage{150, 8, 2, 40}});
  const std::vector<StepSpan> spans = log.spans();
  CHECK_EQUAL(spans.size(), 18U);
  CHECK_EQUAL(spans[16].used.cpu_ns, 0);
  CHECK_EQUAL(spans[16].used.rss_bytes, 60);  // as last told
  CHECK_EQUAL(spans[17].used.cpu_ns, 34);
  CHECK_EQUAL(spans[17].used.faults, 3);
  CHECK_EQUAL(spans[17].used.rss_bytes, 40);
  int64_t cpu_ns = 0;
  for (const StepSpan& span : spans) cpu_ns += span.used.cpu_ns;
  CHECK_EQUAL(cpu_ns, 50);  // nothing is lost
  // After a pause steps tell it again, and what was used in the pause is in none.
  log.resume({5'000'000, ProcessUsage{900, 90, 9, 40}});
  CHECK(log.asks_usage(5'000'001));
  log.mark({5'000'010, ProcessUsage{907, 91, 9, 40}});
  CHECK_EQUAL(log.spans().back().used.cpu_ns, 7);
}

void many_steps_become_few_rows() {
  std::vector<StepSpan> spans;
  for (uint64_t i = 0; i < 2 * kMaxStepRows + 1; ++i) {
    const auto begin = static_cast<int64_t>(i) * 10;
    ProcessUsage used{3, 2, 1, i == 5 ? 4096 : 8};
    spans.push_back({i, 1, begin, begin + 10, i == 5 ? 99 : 10, 10, used, i == 9 ? -1 : 4});
  }
  const std::vector<StepSpan> rows = merged_steps(spans);
  CHECK(rows.size() <= kMaxStepRows);
  uint64_t count = 0;
  for (const StepSpan& row : rows) count += row.count;
  CHECK_EQUAL(count, 2 * kMaxStepRows + 1);
  CHECK_EQUAL(rows[1].first, 4U);
  CHECK_EQUAL(rows[1].longest_ns, 99);
  CHECK_EQUAL(rows.back().end_ns, spans.back().end_ns);
  CHECK_EQUAL(rows[1].wall_ns, 40);
  CHECK_EQUAL(rows[1].used.cpu_ns, 12);
  CHECK_EQUAL(rows[1].used.faults, 8);
  CHECK_EQUAL(rows[1].used.switches, 4);
  CHECK_EQUAL(rows[1].used.rss_bytes, 4096);
  CHECK_EQUAL(rows[1].host_gap_ns, 16);
  CHECK_EQUAL(rows[2].host_gap_ns, -1);  // one of its steps is not known
}

}  // namespace

int main() {
  check_sums_are_those_of_the_standard();
  columns_are_as_narrow_as_their_values();
  a_snapshot_holds_only_what_is_new();
  steps_tell_what_was_used_in_them();
  short_steps_tell_what_was_used_together();
  many_steps_become_few_rows();
  the_program_knows_its_steps_best();
  return dctx_test::failures == 0 ? 0 : 1;
}
