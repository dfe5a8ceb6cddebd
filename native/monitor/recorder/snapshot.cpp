#include "monitor/recorder/snapshot.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "monitor/engine/clock.hpp"
#include "monitor/gpu/gpu_host.hpp"
#include "monitor/recorder/call_rows.hpp"
#include "monitor/recorder/chunks.hpp"
#include "monitor/recorder/memory_rows.hpp"
#include "monitor/recorder/step_rows.hpp"
#include "monitor/recorder/table.hpp"
#include "monitor/recorder/work_rows.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {
namespace {

using Integers = std::vector<int64_t>;

int64_t id_or_none(uint32_t id) { return id == kNoNode ? -1 : int64_t{id}; }

uint64_t hash_of(const MetricView& metric) {
  uint64_t bits = 0;
  std::memcpy(&bits, &metric.sum_sq, sizeof bits);
  uint64_t hash = mix_bits(metric.count ^ bits);
  for (const int64_t value : {metric.sum_ns, metric.self_ns, metric.min_ns, metric.max_ns,
                              metric.host_gap_ns, metric.cpu_ns, metric.faults, metric.bytes}) {
    hash = mix_bits(hash ^ static_cast<uint64_t>(value));
  }
  return hash;
}

bool measured(const MetricView& metric) {
  return metric.count != 0 || metric.host_gap_ns != 0 || metric.cpu_ns != 0 || metric.faults != 0 ||
         metric.bytes != 0;
}

}  // namespace

void SnapshotWriter::chunk(std::string& out, uint32_t type, std::string_view content) {
  append_chunk(out, type, sequence_++, content);
}

// The order of reading is the registry's, work of devices first: every id that a row holds lies
// below the count of the table that is read after it.
Totals SnapshotWriter::append(std::string& out, std::string_view meta, const SnapshotFacts& facts) {
  Totals totals;
  if (meta != meta_) {
    chunk(out, kMeta, meta);
    meta_ = meta;
  }
  std::vector<gpu::WorkRow> work;
  {
    gpu::WorkTable& table = gpu::GpuHost::instance().table();
    const std::lock_guard<std::mutex> lock(table.mutex());
    work = table.changed(written_work_);
    totals.work_rows = table.size();
    totals.work_records = table.records();
  }
  const std::vector<gpu::SampleRow> samples = instructions_.changed();
  const std::vector<const ThreadRecord*> threads = registry_.threads();
  std::vector<ThreadCounts> counts;
  for (const ThreadRecord* record : threads) {
    counts.push_back({record->store.node_count(), record->arguments.size()});
  }
  if (facts.last && strings_ == 0) {
    const UsedNames used = used_names(threads, counts, work, samples);
    append_names(out, &used);
  } else {
    append_names(out, nullptr);
  }
  append_threads(out, threads);
  for (size_t i = 0; i < threads.size(); ++i) {
    const ThreadRecord& record = *threads[i];
    const auto [nodes, rows] = counts[i];
    append_nodes(out, record, nodes);
    append_metrics(out, record, nodes, totals);
    const std::string calls = call_table(record, rows, nodes, written_[record.index].calls);
    if (!calls.empty()) chunk(out, kCalls, calls);
    append_usage(out, record, nodes);
    const std::string memory = memory_table(record, nodes, written_[record.index].memory);
    if (!memory.empty()) chunk(out, kMemory, memory);
  }
  append_samples(out);
  if (facts.last) append_symbols(out, threads, counts);
  totals.threads = threads.size();
  if (!work.empty()) chunk(out, kWork, work_content(work));
  if (!samples.empty()) {
    chunk(out, kInstructions, SampleWriter::content(samples));
    const std::string code = instructions_.new_code(samples);
    if (!code.empty()) chunk(out, kCubins, code);
  }
  append_steps(out, totals);
  append_losses(out);
  for (; facts.attached != nullptr && attached_ < facts.attached->size(); ++attached_) {
    const Attachment& attachment = (*facts.attached)[attached_];
    chunk(out, attachment.type, attachment.content);
  }
  append_commit(out, totals, facts);
  return totals;
}

void SnapshotWriter::append_threads(std::string& out,
                                    const std::vector<const ThreadRecord*>& threads) {
  Integers index, name, os_thread, top_level;
  for (const ThreadRecord* thread : threads) {
    const ThreadRecord& record = *thread;
    index.push_back(record.index);
    name.push_back(record.name);
    os_thread.push_back(record.os_thread.load(std::memory_order_relaxed));
    top_level.push_back(record.store.top_level_ns());
  }
  Table table(index.size(), 0, 0);
  table.integers(0, index);
  table.integers(1, name);
  table.integers(2, os_thread);
  table.integers(3, top_level);
  std::string content = table.content();
  if (content == threads_) return;
  chunk(out, kThreads, content);
  threads_ = std::move(content);
}

void SnapshotWriter::append_nodes(std::string& out, const ThreadRecord& record, uint32_t count) {
  Written& written = written_[record.index];
  const uint32_t first = written.nodes;
  if (count == first) return;
  Integers parent, alternate, kind, label, line;
  for (uint32_t node = first; node < count; ++node) {
    const NodeView view = record.store.view(node);
    parent.push_back(id_or_none(view.parent));
    alternate.push_back(id_or_none(view.alternate));
    kind.push_back(static_cast<int64_t>(view.kind));
    label.push_back(static_cast<int64_t>(view.label));
    line.push_back(view.line);
  }
  Table table(parent.size(), first, record.index);
  table.integers(0, parent);
  table.integers(1, alternate);
  table.integers(2, kind);
  table.integers(3, label);
  table.integers(4, line);
  chunk(out, kNodes, table.content());
  written.nodes = count;
}

void SnapshotWriter::append_metrics(std::string& out, const ThreadRecord& record, uint32_t count,
                                    Totals& totals) {
  std::vector<uint64_t>& hashes = written_[record.index].metrics;
  hashes.resize(count, 0);
  Integers node, events, sum, self, least, most, gap, cpu, faults, bytes;
  std::vector<double> squares;
  for (uint32_t id = 0; id < count; ++id) {
    const MetricView metric = record.store.metrics(id);
    totals.events += metric.count;
    if (!measured(metric)) continue;
    const uint64_t hash = hash_of(metric) | 1;  // never that of a node without values
    if (hash == hashes[id]) continue;
    hashes[id] = hash;
    node.push_back(id);
    events.push_back(static_cast<int64_t>(metric.count));
    sum.push_back(metric.sum_ns);
    self.push_back(metric.self_ns);
    least.push_back(metric.min_ns);
    most.push_back(metric.max_ns);
    squares.push_back(metric.sum_sq);
    gap.push_back(metric.host_gap_ns);
    cpu.push_back(metric.cpu_ns);
    faults.push_back(metric.faults);
    bytes.push_back(metric.bytes);
  }
  totals.nodes += count;
  totals.top_level_ns += record.store.top_level_ns();
  totals.hook_calls += record.cost.calls.load(std::memory_order_relaxed);
  totals.hook_ns += record.cost.estimated_ns();
  if (node.empty()) return;
  Table table(node.size(), 0, record.index);
  table.integers(0, node);
  table.integers(1, events);
  table.integers(2, sum);
  table.integers(3, self);
  table.integers(4, least);
  table.integers(5, most);
  table.numbers(6, squares);
  table.integers(7, gap);
  table.integers(8, cpu);
  table.integers(9, faults);
  table.integers(10, bytes);
  chunk(out, kMetrics, table.content());
}

void SnapshotWriter::append_steps(std::string& out, Totals& totals) {
  const std::vector<StepSpan> spans = merged_steps(registry_.steps().spans());
  if (spans.empty()) return;
  totals.steps = spans.back().first + spans.back().count;
  totals.steps_begin_ns = spans.front().begin_ns;
  std::array<Integers, 9> columns;
  int64_t end_ns = totals.steps_begin_ns;
  for (const StepSpan& span : spans) {
    const std::array<int64_t, 9> values = {
        static_cast<int64_t>(span.count),
        span.wall_ns,
        span.count == 1 ? 0 : span.longest_ns,
        span.begin_ns - end_ns,
        span.end_ns - span.begin_ns - span.wall_ns,
        span.used.cpu_ns,
        span.host_gap_ns,
        span.used.faults,
        span.used.switches,
    };
    for (size_t column = 0; column < values.size(); ++column) {
      columns[column].push_back(values[column]);
    }
    end_ns = span.end_ns;
  }
  Integers resident;
  for (const StepSpan& span : spans) resident.push_back(span.used.rss_bytes);
  Table table(spans.size(), 0, 0);
  for (size_t column = 0; column < columns.size(); ++column) {
    table.integers(static_cast<uint8_t>(column), columns[column]);
  }
  table.integers(9, resident);
  if (totals.work_rows > 0) {  // else nothing tells that there is work of devices
    Integers busy, copied;
    for (const StepSpan& span : spans) {
      busy.push_back(span.gpu_busy_ns);
      copied.push_back(static_cast<int64_t>(span.copied_bytes));
    }
    table.integers(10, busy);
    table.integers(11, copied);
  }
  Integers peaks;
  for (const StepSpan& span : spans) peaks.push_back(span.device_peak_bytes);
  if (*std::max_element(peaks.begin(), peaks.end()) > 0) table.integers(12, peaks);
  std::string content = table.content();
  if (content == steps_) return;
  chunk(out, kSteps, content);
  steps_ = std::move(content);
}

void SnapshotWriter::append_losses(std::string& out) {
  std::vector<std::string_view> names;
  Integers counts;
  const LossCounters& losses = registry_.losses();
  for (size_t i = 0; i < kLossNames.size(); ++i) {
    const uint64_t count = losses.get(static_cast<Loss>(i));
    if (count == 0) continue;
    names.emplace_back(kLossNames[i]);
    counts.push_back(static_cast<int64_t>(count));
  }
  Table table(names.size(), 0, 0);
  table.texts(0, names);
  table.integers(1, counts);
  std::string content = table.content();
  if (content == losses_) return;
  chunk(out, kLosses, content);
  losses_ = std::move(content);
}

void SnapshotWriter::append_commit(std::string& out, const Totals& totals,
                                   const SnapshotFacts& facts) {
  const Integers values = {int64_t{number_++},
                           facts.utc_ns,
                           facts.monotonic_ns,
                           facts.last ? 1 : 0,
                           static_cast<int64_t>(totals.threads),
                           static_cast<int64_t>(totals.nodes),
                           static_cast<int64_t>(totals.events),
                           int64_t{strings_},
                           int64_t{codes_},
                           int64_t{modules_},
                           totals.top_level_ns,
                           static_cast<int64_t>(totals.steps),
                           totals.steps_begin_ns,
                           facts.recorder_cpu_ns,
                           static_cast<int64_t>(totals.hook_calls),
                           totals.hook_ns,
                           Clock::drift_ns(),
                           static_cast<int64_t>(totals.work_rows),
                           static_cast<int64_t>(totals.work_records)};
  Table table(1, 0, 0);
  for (size_t column = 0; column < values.size(); ++column) {
    table.integers(static_cast<uint8_t>(column), {values[column]});
  }
  chunk(out, kCommit, table.content());
}

}  // namespace dctx::monitor
