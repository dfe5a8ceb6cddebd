// One function a kind of event: those that are no spans of work.
#include "scan/trace_event/router.hpp"

namespace dctx::trace_event {
namespace {

constexpr ArgSet kMemoryArgs = ArgSet::of(Arg::Addr, Arg::MemBytes, Arg::TotalAlloc,
                                          Arg::TotalReserved, Arg::DevType, Arg::DevId, Arg::EvIdx);
constexpr ArgSet kOtherArgs = ArgSet::of(Arg::Corr, Arg::BeginNs, Arg::EndNs);
constexpr ArgSet kMetaArgs = ArgSet::of(Arg::MetaName, Arg::MetaLabels, Arg::SortIndex);

}  // namespace

void Router::memory(const Event& event, const Row& row) {
  MemoryTable& table = tables_.memory;
  const size_t at = put(table, event, row, kHostSide, kMemoryArgs);
  put_integer(table.addr, at, event, Arg::Addr);
  put_integer(table.bytes, at, event, Arg::MemBytes);
  put_integer(table.total_alloc, at, event, Arg::TotalAlloc);
  put_integer(table.total_reserved, at, event, Arg::TotalReserved);
  put_integer(table.dev_type, at, event, Arg::DevType);
  put_integer(table.dev_id, at, event, Arg::DevId);
}

void Router::other(const Event& event, const Row& row, int32_t category, char phase) {
  OtherTable& table = tables_.other;
  const size_t at = put(table, event, row, kHostSide, kOtherArgs);
  put_id(table.cat, at, category);
  table.ph.put(at, static_cast<uint8_t>(phase));
  put_integer(table.corr, at, event, Arg::Corr);
  put_integer(table.begin_ns, at, event, Arg::BeginNs);
  put_integer(table.end_ns, at, event, Arg::EndNs);
}

void Router::mark(const Event& event, const Row& row, int32_t category, char phase) {
  MarkTable& table = tables_.mark;
  const bool nested = phase == 'B' || phase == 'E';
  const size_t at = put(table, event, row, nested ? kHostSide : kAsyncSide, ArgSet());
  put_id(table.cat, at, category);
  table.ph.put(at, static_cast<uint8_t>(phase));
  const auto add = [&](TextColumn& column, const Token& token) {
    if (token.is_missing()) return;
    column.put(at,
               text(token.text(), token.form == Form::Container ? TextForm::Json : TextForm::Body));
  };
  add(table.id, event.id.form == Form::None ? event.id2 : event.id);
  add(table.scope, event.scope);
}

void Router::counter(const Event& event, const Row& row) {
  CounterTable& table = tables_.counter;
  for (const EventArg& entry : args_of(event)) {
    double value = 0;
    if (entry.replaced || (entry.value.form != Form::Number && entry.value.form != Form::String) ||
        parse_real(entry.value.text(), value) != NumberKind::Fine) {
      continue;
    }
    const size_t at = table.rows++;
    table.lane.put(at, lane(event, kCounterSide));
    table.ts_ns.put(at, row.ts_ns);
    table.name_id.put(at, row.name);
    table.series.put(at, text(entry.key));
    table.value.put(at, value);
    if (event.id.form != Form::None) table.id.put(at, text(event.id.text()));
    table.seq.put(at, static_cast<int32_t>(seq_));
  }
}

void Router::flow(const Event& event, const Row& row, Category& category, char phase) {
  FlowTable& table = tables_.flow;
  const size_t at = table.rows++;
  table.lane.put(at, lane(event, kHostSide));
  table.ts_ns.put(at, row.ts_ns);
  put_id(table.cat, at, category.text);
  table.ph.put(at, static_cast<uint8_t>(phase));
  table.name_id.put(at, row.name);
  int64_t id = 0;
  const NumberKind kind =
      event.id.size == 0 ? NumberKind::None : parse_integer(event.id.text(), id);
  if (kind == NumberKind::Fine || kind == NumberKind::Wide) {
    table.id.put(at, id);
  } else if (event.id.form != Form::None && !event.id.is_null()) {
    table.id_text.put(at, text(event.id.text()));
  }
  table.seq.put(at, static_cast<int32_t>(seq_));
}

void Router::meta(const Event& event) {
  MetaTable& table = tables_.meta;
  const size_t at = table.rows++;
  table.name_id.put(at, event.name.id >= 0 ? event.name.id : text(event.name.text()));
  table.pid.put(at, cached(last_pid_, event.pid));
  table.tid.put(at, cached(last_tid_, event.tid));
  put_text(table.value, at, event,
           event.present.has(Arg::MetaName) ? Arg::MetaName : Arg::MetaLabels);
  put_integer(table.sort_index, at, event, Arg::SortIndex);
  put_id(table.args, at, remainder(event, kMetaArgs));
  table.seq.put(at, static_cast<int32_t>(seq_));
}

}  // namespace dctx::trace_event
