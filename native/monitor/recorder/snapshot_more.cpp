// What a snapshot tells of the processor: what scopes used, where threads were met, and what the
// functions are called.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "common/elf_symbols.hpp"
#include "monitor/engine/native_source.hpp"
#include "monitor/recorder/chunks.hpp"
#include "monitor/recorder/snapshot.hpp"
#include "monitor/recorder/table.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {
namespace {

using Integers = std::vector<int64_t>;

constexpr std::chrono::seconds kSymbolTime{2};

}  // namespace

void SnapshotWriter::append_usage(std::string& out, const ThreadRecord& record, uint32_t count) {
  std::vector<uint64_t>& hashes = written_[record.index].usage;
  const size_t rows = record.usage.size();
  hashes.resize(rows, 0);
  std::array<Integers, 2 + kMaxCounters> columns;
  for (size_t i = 0; i < rows; ++i) {
    const UsageRow& row = record.usage.row(i);
    std::array<int64_t, 2 + kMaxCounters> values{};
    values[0] = row.node;
    values[1] = row.switches.load(std::memory_order_relaxed);
    for (size_t k = 0; k < kMaxCounters; ++k) {
      values[2 + k] = static_cast<int64_t>(row.counters[k].load(std::memory_order_relaxed));
    }
    uint64_t hash = 1;
    for (const int64_t value : values) hash = mix_bits(hash ^ static_cast<uint64_t>(value));
    if (row.node >= count || hash == hashes[i]) continue;
    hashes[i] = hash;
    for (size_t column = 0; column < values.size(); ++column) {
      columns[column].push_back(values[column]);
    }
  }
  if (columns[0].empty()) return;
  Table table(columns[0].size(), 0, record.index);
  for (size_t column = 0; column < columns.size(); ++column) {
    table.integers(static_cast<uint8_t>(column), columns[column]);
  }
  chunk(out, kUsage, table.content());
}

// All places of a thread that was met since the last snapshot: their sums.
void SnapshotWriter::append_samples(std::string& out) {
  std::map<uint32_t, std::vector<std::pair<SampledPlace, uint64_t>>> threads;
  for (const auto& [place, samples] : CpuSampler::instance().places()) {
    if (registry_.present(place.thread)) threads[place.thread].emplace_back(place, samples);
  }
  for (const auto& [thread, places] : threads) {
    uint64_t sum = 0;
    Integers node, module, offset, count;
    for (const auto& [place, samples] : places) {
      const bool known = place.function != SampledPlace::kNoFunction;
      node.push_back(place.node);
      module.push_back(known ? int64_t{native_module(place.function)} : -1);
      offset.push_back(known ? static_cast<int64_t>(native_offset(place.function)) : 0);
      count.push_back(static_cast<int64_t>(samples));
      sum += samples;
    }
    if (written_[thread].samples == sum) continue;
    written_[thread].samples = sum;
    Table table(node.size(), 0, thread);
    table.integers(0, node);
    table.integers(1, module);
    table.integers(2, offset);
    table.integers(3, count);
    chunk(out, kSamples, table.content());
  }
}

// Names of the functions that the trees and the samples tell, as far as they are found in time.
void SnapshotWriter::append_symbols(std::string& out,
                                    const std::vector<const ThreadRecord*>& threads,
                                    const std::vector<ThreadCounts>& counts) {
  std::map<uint32_t, std::set<uint64_t>> offsets;  // by module
  for (size_t i = 0; i < counts.size(); ++i) {
    const ThreadStore& store = threads[i]->store;
    for (uint32_t node = 0; node < counts[i].nodes; ++node) {
      const NodeView view = store.view(node);
      if (view.kind != NodeKind::native) continue;
      offsets[native_module(view.label)].insert(native_offset(view.label));
    }
  }
  for (const auto& [place, samples] : CpuSampler::instance().places()) {
    if (place.function == SampledPlace::kNoFunction) continue;
    offsets[native_module(place.function)].insert(native_offset(place.function));
  }
  const auto end = std::chrono::steady_clock::now() + kSymbolTime;
  Integers module, offset, start;
  std::vector<std::string> names;
  for (const auto& [number, own] : offsets) {
    if (std::chrono::steady_clock::now() > end) break;
    const ModuleView view = registry_.modules().view(number);
    const std::vector<uint64_t> asked(own.begin(), own.end());
    std::vector<ElfSymbol> found;
    if (!symbols_of_module(std::string(registry_.strings().text(view.path)),
                           std::string(registry_.strings().text(view.build_id)), asked, &found)) {
      continue;
    }
    for (size_t i = 0; i < asked.size(); ++i) {
      if (found[i].name.empty()) continue;
      module.push_back(number);
      offset.push_back(static_cast<int64_t>(asked[i]));
      start.push_back(static_cast<int64_t>(found[i].start));
      names.push_back(found[i].name);
    }
  }
  if (names.empty()) return;
  Table table(names.size(), 0, 0);
  table.integers(0, module);
  table.integers(1, offset);
  table.integers(2, start);
  table.texts(3, {names.begin(), names.end()});
  chunk(out, kSymbols, table.content());
}

}  // namespace dctx::monitor
