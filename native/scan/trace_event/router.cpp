#include "scan/trace_event/router.hpp"

#include <algorithm>

#include "scan/trace_event/json_repair.hpp"
#include "scan/trace_event/seen_texts.hpp"

namespace dctx::trace_event {
namespace {

constexpr size_t kOddPhases = 256;   // phases of more than one letter that are told apart
constexpr size_t kTriples = 16'384;  // texts of three numbers that are remembered
constexpr std::string_view kUnnamed = "(no name)";
constexpr std::string_view kTooMany = "(too many distinct texts)";

// Known keys that tell nothing more: neither a column nor part of `args`.
constexpr ArgSet kIgnored =
    ArgSet::of(Arg::Finished, Arg::TraceName, Arg::TraceIteration, Arg::ExternalTs, Arg::Bandwidth);
constexpr ArgSet kListsOfOldLayout = ArgSet::of(Arg::InputNames, Arg::OutputDims, Arg::OutputType,
                                                Arg::OutputNames, Arg::ExtraArguments);

TextForm form_of(const Token& token) {
  return token.form == Form::Container ? TextForm::Json : TextForm::Body;
}

bool is_missing(const Token& token) { return token.form == Form::None || token.is_null(); }

}  // namespace

Router::Router(const Limits& limits)
    : limits_(limits),
      texts_(limits.max_texts * 4, limits.max_text_bytes * 4),
      lane_keys_(limits.max_texts),
      shape_keys_(limits.max_texts),
      config_keys_(limits.max_texts),
      collective_keys_(limits.max_texts),
      triton_keys_(limits.max_texts),
      triple_texts_(kTriples, kTriples * 32) {
  categories_.push_back({-1, EventClass::Other, false, false, 0, 0});  // events without one
}

int32_t Router::text(std::string_view text, TextForm form) {
  const int32_t id = texts_.intern(text, form, kNames);
  if (id >= 0) return id;
  report_.add(Reason::TextCap, offset_);
  return texts_.intern(kTooMany, TextForm::Body, kOwn);
}

int32_t Router::value_text(std::string_view text, TextForm form) {
  const int32_t id = texts_.intern(text, form, kValues);
  if (id < 0) report_.add(Reason::TextCap, offset_);
  return id;
}

int32_t Router::arg_text(const Event& event, Arg arg) {
  if (!event.present.has(arg)) return -1;
  return token_value(event.value_of(arg));
}

int32_t Router::token_text(const Token& token) {
  if (token.id >= 0) return token.id;
  const int32_t id = texts_.intern(token.text(), form_of(token), kNames);
  if (id < 0) return text(token.text(), form_of(token));
  if (token.seen != nullptr) token.seen->keep(texts_.text(id), id, token.form);
  return id;
}

int32_t Router::token_value(const Token& token) {
  if (token.id >= 0) return token.id;
  const int32_t id = value_text(token.text(), form_of(token));
  if (id >= 0 && token.seen != nullptr) token.seen->keep(texts_.text(id), id, token.form);
  return id;
}

int32_t Router::cached(LastText& last, const Token& token) {
  if (is_missing(token)) return text({});
  if (token.id >= 0) return token.id;
  if (token.seen == nullptr && last.holds(token)) return last.id();
  const int32_t id = token_text(token);
  const bool capped = texts_.text(id) != token.text();  // each time it is counted
  if (token.form != Form::Container && !capped) last.keep(token, id);
  return id;
}

size_t Router::category_of(const Event& event) {
  if (is_missing(event.cat)) return 0;
  if (event.cat.id >= 0) return static_cast<size_t>(event.cat.id);
  LastText& last = last_categories_[(event.cat.size + static_cast<uint8_t>(*event.cat.data)) %
                                    last_categories_.size()];
  if (event.cat.seen == nullptr && event.cat.form == Form::String && last.holds(event.cat)) {
    return static_cast<size_t>(last.id());
  }
  const auto id = static_cast<size_t>(text(event.cat.text(), form_of(event.cat)));
  if (id >= category_of_text_.size()) category_of_text_.resize(id + 1, -1);
  if (category_of_text_[id] < 0) {
    category_of_text_[id] = static_cast<int32_t>(categories_.size());
    const std::string_view name = texts_.text(static_cast<int32_t>(id));
    categories_.push_back({static_cast<int32_t>(id), class_of(name), is_launch_flow(name),
                           name == kLaunchFlow, 0, 0});
  }
  if (texts_.text(static_cast<int32_t>(id)) !=
      event.cat.text()) {  // too many texts: counted each time
    return static_cast<size_t>(category_of_text_[id]);
  }
  if (event.cat.form == Form::String) last.keep(event.cat, category_of_text_[id]);
  if (event.cat.seen != nullptr) event.cat.seen->id = category_of_text_[id];
  return static_cast<size_t>(category_of_text_[id]);
}

int32_t Router::lane(const Event& event, Side side) {
  const LaneKey key{side, cached(last_pid_, event.pid), cached(last_tid_, event.tid)};
  const auto [id, is_new] = lane_keys_.intern(key, key.pid ^ key.tid ^ key.side);
  if (id < 0) {
    report_.add(Reason::TextCap, offset_);
    return 0;  // there are millions: the first one takes the rest
  }
  if (is_new) {
    const size_t row = tables_.lane.rows++;
    tables_.lane.side.put(row, side);
    tables_.lane.pid.put(row, key.pid);
    tables_.lane.tid.put(row, key.tid);
  }
  return id;
}

// Read again when there is no list of them. What follows a sound event does not count.
const EventArgs& Router::args_of(const Event& event) {
  if (event.listed) return event.args;
  missed_list_ = true;
  Lexer<false> lexer(event.end, limits_.max_depth);
  read_event(event.begin, lexer, listed_);
  return listed_.args;
}

// The args that are no columns, in file order, as the text of an object; -1 when there are none.
int32_t Router::remainder(const Event& event, const ArgSet& consumed) {
  const ArgSet known = consumed | kIgnored;
  if (!event.other_args && event.present.within(known) && is_missing(event.odd_args)) return -1;
  scratch_.assign("{");
  const auto add = [this](std::string_view key, const Token& value) {
    if (scratch_.size() > 1) scratch_ += ',';
    scratch_ += '"';
    scratch_ += key;
    scratch_ += "\":";
    if (value.form == Form::String) {
      scratch_ += '"';
      scratch_ += value.text();
      scratch_ += '"';
    } else {
      scratch_ += value.text();
    }
  };
  for (const EventArg& entry : args_of(event)) {
    if (entry.replaced) continue;
    if (entry.arg != Arg::Other) {
      if (!event.present.has(entry.arg) || known.has(entry.arg)) continue;
      if (kListsOfOldLayout.has(entry.arg) && entry.value.text() == "[]") continue;
    }
    add(entry.key, entry.value);
  }
  if (!is_missing(event.odd_args)) add("args", event.odd_args);
  if (scratch_.size() == 1) return -1;
  scratch_ += '}';
  return value_text(scratch_, TextForm::Json);
}

char Router::phase_of(const Event& event) {
  if (is_missing(event.ph)) {
    ++phase_counts_[""];
    return '\0';
  }
  if (event.ph.size == 1 && event.ph.form == Form::String) {
    ++phases_[static_cast<uint8_t>(*event.ph.data)];
    return *event.ph.data;
  }
  std::string phase;
  unescape(event.ph.text(), phase);
  if (phase_counts_.size() < kOddPhases || phase_counts_.count(phase) > 0) ++phase_counts_[phase];
  return '\0';
}

void Router::count_odd(const Event& event, char phase) {
  const EventNotes& notes = event.notes;
  if (notes.non_finite + notes.coerced + notes.wide_int + notes.dup_key + notes.trailing_comma >
      0) {
    report_.add(Reason::NonFinite, offset_, notes.non_finite);
    report_.add(Reason::Coerced, offset_, notes.coerced);
    report_.add(Reason::WideInt, offset_, notes.wide_int);
    report_.add(Reason::DupKey, offset_, notes.dup_key);
    report_.add(Reason::Unclosed, offset_, notes.trailing_comma);
  }
  const bool timed = phase == 'X' || phase == 'B' || phase == 'i';
  if (timed && (is_missing(event.name) || is_missing(event.pid) || is_missing(event.tid) ||
                (phase == 'X' && event.has_dur == TimeState::Missing))) {
    report_.add(Reason::MissingField, offset_);
  }
  const auto odd = [](const Token& token) {
    return token.form != Form::String && !is_missing(token);
  };
  if (odd(event.ph) || odd(event.cat) || odd(event.name) || !is_missing(event.odd_args)) {
    report_.add(Reason::OddType, offset_);
  }
}

// False when the event has no time and cannot be placed.
bool Router::time_of(const Event& event, char phase, Row& row) {
  if (event.has_ts != TimeState::Fine) {
    report_.add(event.has_ts == TimeState::Bad ? Reason::BadTime : Reason::NoTs, offset_);
    return false;
  }
  row.ts_ns = event.ts.rounded();
  ts_fraction_ = std::max(ts_fraction_, event.ts.fraction);
  if (phase != 'X') return true;
  if (event.has_dur == TimeState::Fine) {
    ts_fraction_ = std::max(ts_fraction_, event.dur.fraction);
    row.dur_ns = rounded_length(event.ts, event.dur);
    if (row.dur_ns < 0) {
      row.dur_ns = 0;
      row.flags |= kNegDur;
      report_.add(Reason::NegDur, offset_);
    }
  } else {
    row.flags |= kNoDur;
    if (event.has_dur == TimeState::Bad) report_.add(Reason::BadTime, offset_);
  }
  return true;
}

void Router::add_empty(uint64_t offset) {
  ++seq_;
  report_.add(Reason::EmptyElement, offset);
}

void Router::add(const Event& event, uint64_t offset, bool lenient) {
  if (event.empty) {
    add_empty(offset);
    return;
  }
  offset_ = offset;
  missed_list_ = false;
  ++events_;
  const char phase = phase_of(event);
  const size_t index = category_of(event);
  Category& category = categories_[index];
  ++category.count;
  count_odd(event, phase);
  Row row{0, 0, -1, 0};
  if (lenient || event.notes.repaired) {
    row.flags |= kRecovered;
    report_.add(Reason::Recovered, offset);
  }
  const bool memory_event = event.name.text() == "[memory]" &&
                            (index == 0 || category.event_class == EventClass::MemoryInstant);
  const auto place = [&] {
    if (!time_of(event, phase, row)) return false;
    if (is_missing(event.name)) {
      row.flags |= kNoName;
      row.name = text(kUnnamed);
    } else {
      row.name = token_text(event.name);
    }
    return true;
  };
  switch (phase) {
    case 'X':
      if (!place()) break;
      if (memory_event) {
        row.dur_ns = 0;
        memory(event, row);
      } else {
        complete(event, row, category);
      }
      break;
    case 'i':
    case 'I':
    case 'R':
      if (!place()) break;
      if (memory_event) {
        memory(event, row);
      } else {
        other(event, row, category.text, phase);
      }
      break;
    case 'B':
    case 'E':
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
      if (place()) mark(event, row, category.text, phase);
      break;
    case 'C':
      if (place()) counter(event, row);
      break;
    case 's':
    case 't':
    case 'f':
      if (category.launch_flow) {
        ++category.flows;
        if (category.ends_at_gpu) note_launch_flow(event, phase);
      } else if (place()) {
        flow(event, row, category, phase);
      }
      break;
    case 'M':
      meta(event);
      break;
    default:
      report_.add(Reason::BadPhase, offset);
      break;
  }
  ++seq_;
}

void Router::note_launch_flow(const Event& event, char phase) {
  int64_t id = 0;
  if (event.id.plain == Plain::Integer) {
    id = event.id.number;
  } else {
    const NumberKind kind = parse_integer(event.id.text(), id);
    if (kind != NumberKind::Fine && kind != NumberKind::Wide) return;
  }
  if (phase == 's') flow_starts_.push_back(id);
  if (phase == 'f' && event.has_ts == TimeState::Fine) {
    flow_ends_.emplace_back(id, event.ts.rounded());
  }
}

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
