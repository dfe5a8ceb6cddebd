#include "scan/trace_event/router.hpp"

#include <algorithm>

#include "scan/trace_event/json_repair.hpp"

namespace dctx::trace_event {
namespace {

constexpr size_t kOddPhases = 256;   // phases of more than one letter that are told apart
constexpr size_t kTriples = 16'384;  // texts of three numbers that are remembered
constexpr std::string_view kUnnamed = "(no name)";

// Known keys that tell nothing more: neither a column nor part of `args`.
constexpr ArgSet kIgnored =
    ArgSet::of(Arg::Finished, Arg::TraceName, Arg::TraceIteration, Arg::ExternalTs, Arg::Bandwidth);
constexpr ArgSet kListsOfOldLayout = ArgSet::of(Arg::InputNames, Arg::OutputDims, Arg::OutputType,
                                                Arg::OutputNames, Arg::ExtraArguments);

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
  if (!event.other_args && event.present.within(known) && event.odd_args.is_missing()) return -1;
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
  if (!event.odd_args.is_missing()) add("args", event.odd_args);
  if (scratch_.size() == 1) return -1;
  scratch_ += '}';
  return value_text(scratch_, TextForm::Json);
}

char Router::phase_of(const Event& event) {
  if (event.ph.is_missing()) {
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
  if (timed && (event.name.is_missing() || event.pid.is_missing() || event.tid.is_missing() ||
                (phase == 'X' && event.has_dur == TimeState::Missing))) {
    report_.add(Reason::MissingField, offset_);
  }
  const auto odd = [](const Token& token) {
    return token.form != Form::String && !token.is_missing();
  };
  if (odd(event.ph) || odd(event.cat) || odd(event.name) || !event.odd_args.is_missing()) {
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
    if (event.name.is_missing()) {
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

}  // namespace dctx::trace_event
