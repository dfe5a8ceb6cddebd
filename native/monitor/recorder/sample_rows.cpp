#include "monitor/recorder/sample_rows.hpp"

#include <mutex>
#include <string_view>

#include "monitor/engine/context.hpp"
#include "monitor/gpu/gpu_host.hpp"
#include "monitor/recorder/table.hpp"

namespace dctx::monitor {

using gpu::SampleRow;

std::vector<SampleRow> SampleWriter::changed() {
  gpu::SampleTable& table = gpu::GpuHost::instance().samples();
  const std::lock_guard<std::mutex> lock(table.mutex());
  return table.changed(seen_);
}

std::string SampleWriter::content(const std::vector<SampleRow>& rows) {
  Table table(rows.size(), 0, 0);
  uint8_t next = 0;
  const auto column = [&](auto&& value) {
    std::vector<int64_t> values;
    values.reserve(rows.size());
    for (const SampleRow& row : rows) values.push_back(static_cast<int64_t>(value(row)));
    table.integers(next++, values);
  };
  column([](const SampleRow& row) { return row.row; });
  column([](const SampleRow& row) {
    const PackedContext context{row.key.context};
    return context.known() ? int64_t{context.thread()} : -1;
  });
  column([](const SampleRow& row) {
    const PackedContext context{row.key.context};
    return context.known() ? static_cast<int64_t>(context.node()) : 0;
  });
  column([](const SampleRow& row) { return row.key.kernel; });
  column([](const SampleRow& row) { return row.key.function; });
  column([](const SampleRow& row) { return row.key.cubin_crc; });
  column([](const SampleRow& row) { return row.key.offset; });  // kNoOffset: −1
  column([](const SampleRow& row) { return row.key.reason; });
  column([](const SampleRow& row) { return row.key.device; });
  column([](const SampleRow& row) { return row.samples; });
  column([](const SampleRow& row) { return row.not_issued; });
  return table.content();
}

std::string SampleWriter::new_code(const std::vector<SampleRow>& rows) {
  std::vector<int64_t> sums;
  std::vector<std::string> codes;
  for (const SampleRow& row : rows) {
    const uint64_t crc = row.key.cubin_crc;
    std::string code;
    if (written_.count(crc) > 0 || !gpu::GpuHost::instance().cubins().find(crc, code)) continue;
    written_.insert(crc);
    sums.push_back(static_cast<int64_t>(crc));
    codes.push_back(std::move(code));
  }
  if (sums.empty()) return "";
  Table table(sums.size(), 0, 0);
  table.integers(0, sums);
  table.texts(1, std::vector<std::string_view>(codes.begin(), codes.end()));
  return table.content();
}

}  // namespace dctx::monitor
