// The end of a file: flows to the operations they lead to, ids of sound texts, counts by name.
#include <algorithm>

#include "scan/trace_event/json_repair.hpp"
#include "scan/trace_event/router.hpp"

namespace dctx::trace_event {

// Marks the GPU operations that a dropped flow leads to: one that has a start. Flows come in the
// order of the operations, more or less: the next one is tried before a search.
void Router::link_flows() {
  const auto sort = [](auto& values) {
    if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
  };
  sort(flow_starts_);
  sort(flow_ends_);
  auto start = flow_starts_.begin();
  const auto unstarted = [&](const std::pair<int64_t, int64_t>& end) {
    while (start != flow_starts_.end() && *start < end.first) ++start;
    return start == flow_starts_.end() || *start != end.first;
  };
  flow_ends_.erase(std::remove_if(flow_ends_.begin(), flow_ends_.end(), unstarted),
                   flow_ends_.end());
  GpuTable& gpu = tables_.gpu;
  gpu.corr.fill(gpu.rows);
  auto next = flow_ends_.begin();
  for (size_t i = 0; gpu.corr.data() != nullptr && i < gpu.rows; ++i) {
    const std::pair<int64_t, int64_t> sought(gpu.corr.data()[i], gpu.ts_ns.data()[i]);
    if (next == flow_ends_.end() || *next != sought) {
      next = std::lower_bound(flow_ends_.begin(), flow_ends_.end(), sought);
      if (next == flow_ends_.end() || *next != sought) continue;
    }
    gpu.flags.data()[i] |= kFlowLinked;
    ++next;
  }
  std::vector<int64_t>().swap(flow_starts_);
  std::vector<std::pair<int64_t, int64_t>>().swap(flow_ends_);
}

std::vector<int32_t> Router::sound_texts(const std::function<int32_t(std::string_view)>& intern) {
  std::vector<int32_t> ids(texts_.size());
  std::string sound;
  uint64_t repaired = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (texts_.form(id) == TextForm::Json) {
      normalise_json(texts_.text(id), sound);
    } else if (unescape(texts_.text(id), sound)) {
      ++repaired;
    }
    ids[i] = intern(sound);
  }
  report_.add_unplaced(Reason::RepairedText, repaired);
  return ids;
}

// The number in a pid or tid: "7", "stream 7 ".
void Router::number_lanes() {
  static constexpr std::string_view kStream = "stream ";
  LaneTable& lanes = tables_.lane;
  const auto number = [this](I64Column& column, size_t row, int32_t id) {
    std::string_view text = texts_.text(id);
    if (text.substr(0, kStream.size()) == kStream) text.remove_prefix(kStream.size());
    int64_t value = 0;
    const NumberKind kind = parse_integer(text, value);
    if (kind == NumberKind::Fine || kind == NumberKind::Wide) column.put(row, value);
  };
  for (size_t row = 0; row < lanes.rows; ++row) {
    number(lanes.pid_num, row, lanes.pid.data()[row]);
    number(lanes.tid_num, row, lanes.tid.data()[row]);
  }
}

void Router::finish(const std::function<int32_t(std::string_view)>& intern) {
  link_flows();
  number_lanes();
  std::string name;
  for (const Category& category : categories_) {
    name.clear();
    if (category.text >= 0) unescape(texts_.text(category.text), name);
    if (category.count > 0) category_counts_[name] += category.count;
    if (category.flows > 0) flows_dropped_[name] += category.flows;
  }
  for (size_t c = 0; c < phases_.size(); ++c) {
    if (phases_[c] == 0) continue;
    unescape(std::string(1, static_cast<char>(c)), name);
    phase_counts_[name] += phases_[c];
  }
  const std::vector<int32_t> ids = sound_texts(intern);
  for (Table* const table : tables_.all()) {
    for (const auto& [column_name, column] : table->columns()) {
      column->fill(table->rows);
      if (column->holds_texts) column->map_ids(ids);
    }
  }
  texts_ = TextInterner(0, 0);
  lane_keys_ = RowInterner<LaneKey>(0);
  shape_keys_ = RowInterner<ShapeKey>(0);
  config_keys_ = RowInterner<ConfigKey>(0);
  collective_keys_ = RowInterner<CollectiveKey>(0);
  triton_keys_ = RowInterner<TritonKey>(0);
}

}  // namespace dctx::trace_event
