#pragma once
// The tables that events become.
#include <vector>

#include "scan/trace_event/event_tables.hpp"
#include "scan/trace_event/side_tables.hpp"

namespace dctx::trace_event {

struct Tables {
  OpTable op;
  PythonTable python;
  LaunchTable launch;
  GpuTable gpu;
  SyncTable sync;
  SpanTable span;
  MemoryTable memory;
  EventTable overhead{"overhead"};
  EventTable window{"window"};
  RangeTable range;
  OtherTable other;
  MarkTable mark;
  CounterTable counter;
  FlowTable flow;
  MetaTable meta;
  LaneTable lane;
  ShapeTable shape;
  ConfigTable config;
  CollectiveTable collective;
  TritonTable triton;

  std::vector<Table*> all() {
    return {&op,       &python, &launch, &gpu,    &sync,       &span,    &memory,
            &overhead, &window, &range,  &other,  &mark,       &counter, &flow,
            &meta,     &lane,   &shape,  &config, &collective, &triton};
  }
};

}  // namespace dctx::trace_event
