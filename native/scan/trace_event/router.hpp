#pragma once
// Events to rows of tables: interning, lanes, side tables, and what is counted on the way.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scan/trace_event/category.hpp"
#include "scan/trace_event/event.hpp"
#include "scan/trace_event/scan_report.hpp"
#include "scan/trace_event/tables.hpp"
#include "scan/trace_event/text_interner.hpp"

namespace dctx::trace_event {

// Rows of a side table, each combination of values once. Row has no padding bytes.
template <class Row>
class RowInterner {
 public:
  explicit RowInterner(size_t max_rows) : keys_(max_rows, SIZE_MAX), recent_(kRecent) {}

  // The row, and whether it is a new one; -1 past the limit. `hint`: what often goes with the same
  // row.
  std::pair<int32_t, bool> intern(const Row& row, int32_t hint) {
    Recent& recent = recent_[static_cast<uint32_t>(hint) % kRecent];
    if (recent.id >= 0 && std::memcmp(&recent.row, &row, sizeof(Row)) == 0) {
      return {recent.id, false};
    }
    const size_t before = keys_.size();
    const int32_t id =
        keys_.intern({reinterpret_cast<const char*>(&row), sizeof(Row)}, TextForm::Body);
    recent = {row, id};
    return {id, keys_.size() > before};
  }

 private:
  static constexpr size_t kRecent = 256;
  struct Recent {
    Row row{};
    int32_t id = -1;
  };
  TextInterner keys_;
  std::vector<Recent> recent_;
};

using Triple = std::array<int64_t, 3>;

// A short text seen before: pid, tid and category hardly change from event to event.
class LastText {
 public:
  bool holds(const Token& token) const { return token.size == size_ && ends(token) == ends_; }
  int32_t id() const { return id_; }
  void keep(const Token& token, int32_t id) {
    if (token.size > kBytes) return;
    size_ = token.size;
    ends_ = ends(token);
    id_ = id;
  }

 private:
  static constexpr size_t kBytes = 16;

  // All bytes of a text of up to sixteen; kPadding bytes behind it are readable.
  static std::pair<uint64_t, uint64_t> ends(const Token& token) {
    uint64_t first;
    std::memcpy(&first, token.data, 8);
    if (token.size < 8) return {first & ((uint64_t{1} << 8 * token.size) - 1), 0};
    uint64_t last;
    std::memcpy(&last, token.data + token.size - 8, 8);
    return {first, last};
  }

  size_t size_ = SIZE_MAX;
  std::pair<uint64_t, uint64_t> ends_;
  int32_t id_ = -1;
};

struct Limits {
  size_t max_texts = 2'000'000;
  size_t max_text_bytes = size_t{256} << 20;
  size_t max_event_bytes = size_t{64} << 20;
  size_t max_depth = 64;
  size_t max_layout_links = 4096;  // between values of events, remembered; 0: each is read anew
};

enum Side : uint8_t { kHostSide, kGpuSide, kAsyncSide, kCounterSide, kWindowSide };

class Router {
 public:
  explicit Router(const Limits& limits);

  // `offset`: of the event in the file. `lenient`: how it was read. When it was not, its text is
  // still there.
  void add(const Event& event, uint64_t offset, bool lenient);
  void add_empty(uint64_t offset);
  // Whether an event of this kind was read again for a list of its args.
  bool missed_list() const { return missed_list_; }

  // Ends the tables: texts get the ids that `intern` gives to each sound text.
  void finish(const std::function<int32_t(std::string_view)>& intern);

  Tables& tables() { return tables_; }
  ScanReport& report() { return report_; }
  uint64_t elements() const { return seq_; }
  uint64_t events() const { return events_; }
  uint8_t ts_fraction() const { return ts_fraction_; }
  const std::map<std::string, uint64_t>& phases() const { return phase_counts_; }
  const std::map<std::string, uint64_t>& categories() const { return category_counts_; }
  const std::map<std::string, uint64_t>& flows_dropped() const { return flows_dropped_; }

 private:
  struct Category {
    int32_t text;
    EventClass event_class;
    bool launch_flow;
    bool ends_at_gpu;  // its flows' ids are correlations
    uint64_t count;
    uint64_t flows;
  };
  struct LaneKey {
    int32_t side, pid, tid;
  };
  using ShapeKey = std::array<int32_t, 4>;
  struct ConfigKey {
    Triple grid, block;
    int64_t registers, smem;
    double real[3];
    int64_t occupancy;
  };
  struct CollectiveKey {
    int64_t integer[10];
    int64_t text[9];
  };
  struct TritonKey {
    int64_t text[5];
    int64_t integer[2];
  };
  // What all rows of an event share.
  struct Row {
    int64_t ts_ns;
    int64_t dur_ns;
    int32_t name;
    uint8_t flags;
  };

  char phase_of(const Event& event);
  size_t category_of(const Event& event);
  int32_t text(std::string_view text, TextForm form = TextForm::Body);  // never -1
  int32_t value_text(std::string_view text, TextForm form);             // -1 past the limit
  int32_t token_text(const Token& token) {                              // never -1
    return token.id >= 0 ? token.id : new_token_text(token);
  }
  int32_t token_value(const Token& token) {  // -1 past the limit
    return token.id >= 0 ? token.id : new_token_value(token);
  }
  int32_t arg_text(const Event& event, Arg arg) {
    return event.present.has(arg) ? token_value(event.value_of(arg)) : -1;
  }
  int32_t new_token_text(const Token& token);
  int32_t new_token_value(const Token& token);
  int32_t cached(LastText& last, const Token& token);
  int32_t lane(const Event& event, Side side);
  const EventArgs& args_of(const Event& event);
  int32_t remainder(const Event& event, const ArgSet& consumed);
  int32_t shape(const Event& event, int32_t name);
  int32_t config(const Event& event, int32_t name);
  Triple triple(const Event& event, Arg arg);
  int32_t collective(const Event& event, int32_t name);
  int32_t triton(const Event& event, int32_t name);

  bool time_of(const Event& event, char phase, Row& row);
  void count_odd(const Event& event, char phase);
  size_t put(EventTable& table, const Event& event, const Row& row, Side side,
             const ArgSet& consumed);
  static void put_integer(I64Column& column, size_t row, const Event& event, Arg arg) {
    if (event.present.has(arg)) column.put(row, event.integer_of(arg));
  }
  void put_integer(I32Column& column, size_t row, const Event& event, Arg arg);
  void put_text(TextColumn& column, size_t row, const Event& event, Arg arg) {
    put_id(column, row, arg_text(event, arg));
  }
  static void put_id(I32Column& column, size_t row, int32_t id) {
    if (id >= 0) column.put(row, id);
  }
  static void put_stream(I64Column& column, size_t row, const Event& event);

  void complete(const Event& event, const Row& row, const Category& category);
  void op(const Event& event, const Row& row, uint8_t kind);
  void python(const Event& event, const Row& row);
  void launch(const Event& event, const Row& row, uint8_t kind);
  void gpu(const Event& event, const Row& row, uint8_t kind);
  void sync(const Event& event, const Row& row, int32_t category);
  void span(const Event& event, const Row& row);
  void memory(const Event& event, const Row& row);
  void other(const Event& event, const Row& row, int32_t category, char phase);
  void mark(const Event& event, const Row& row, int32_t category, char phase);
  void counter(const Event& event, const Row& row);
  void flow(const Event& event, const Row& row, Category& category, char phase);
  void meta(const Event& event);

  void note_launch_flow(const Event& event, char phase);
  void link_flows();
  std::vector<int32_t> sound_texts(const std::function<int32_t(std::string_view)>& intern);
  void number_lanes();

  // Of the room for texts: what is no name may take a quarter, a few texts of our own all of it.
  static constexpr double kValues = 0.25;
  static constexpr double kNames = 1.0;
  static constexpr double kOwn = 1e9;

  Limits limits_;
  Tables tables_;
  ScanReport report_;
  TextInterner texts_;
  RowInterner<LaneKey> lane_keys_;
  RowInterner<ShapeKey> shape_keys_;
  RowInterner<ConfigKey> config_keys_;
  RowInterner<CollectiveKey> collective_keys_;
  RowInterner<TritonKey> triton_keys_;
  TextInterner triple_texts_;
  std::vector<Triple> triples_;  // by id of the text
  std::vector<Category> categories_;
  std::vector<int32_t> category_of_text_;
  LastText last_pid_, last_tid_;
  std::array<LastText, 16> last_categories_;
  Event listed_;  // read again
  bool missed_list_ = false;
  std::string scratch_;
  uint64_t offset_ = 0;
  uint64_t seq_ = 0;
  uint64_t events_ = 0;
  uint8_t ts_fraction_ = 0;
  std::array<uint64_t, 256> phases_{};
  std::map<std::string, uint64_t> phase_counts_, category_counts_, flows_dropped_;
  std::vector<int64_t> flow_starts_;                    // correlation ids
  std::vector<std::pair<int64_t, int64_t>> flow_ends_;  // correlation id, time
};

}  // namespace dctx::trace_event
