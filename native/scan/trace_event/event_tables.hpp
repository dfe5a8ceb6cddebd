#pragma once
// Tables with a row an event that lasts or happens. What each column means is told in _core.pyi.
#include <cstdint>

#include "scan/trace_event/column_table.hpp"

namespace dctx::trace_event {

enum EventFlag : uint8_t {
  kNoDur = 1,
  kNegDur = 2,
  kNoName = 4,
  kRecovered = 8,
  kFlowLinked = 16,
};

struct EventTable : Table {
  explicit EventTable(const char* table_name) : Table(table_name) {
    add("lane", lane);
    add("ts_ns", ts_ns);
    add("dur_ns", dur_ns);
    add("name", name_id);
    add("args", args);
    add("flags", flags);
    add("seq", seq);
  }
  RowColumn lane;
  I64Column ts_ns, dur_ns;
  TextColumn name_id, args;
  U8Column flags;
  I32Column seq;
};

struct OpTable : EventTable {
  OpTable() : EventTable("op") {
    add("kind", kind);
    add("ext_id", ext_id);
    add("ev_idx", ev_idx);
    add("rf_id", rf_id);
    add("seq_nr", seq_nr);
    add("fwd_thread", fwd_thread);
    add("shape", shape);
    add("stack", stack);
    add("module", module);
    add("coll", coll);
    add("triton", triton);
    add("stream", stream);
  }
  U8Column kind;
  I64Column ext_id, ev_idx, rf_id, seq_nr, fwd_thread;
  RowColumn shape;
  TextColumn stack, module;
  RowColumn coll, triton;
  I64Column stream;
};

struct PythonTable : EventTable {
  PythonTable() : EventTable("python") {
    add("py_id", py_id);
    add("py_parent", py_parent);
    add("py_module", py_module);
  }
  I64Column py_id, py_parent, py_module;
};

struct LaunchTable : EventTable {
  LaunchTable() : EventTable("launch") {
    add("kind", kind);
    add("corr", corr);
    add("ext_id", ext_id);
    add("cbid", cbid);
    add("kernel", kernel);
    add("config", config);
    add("addr0", addr0);
    add("addr1", addr1);
    add("bytes", bytes);
    add("stream", stream);
    add("copy_kind", copy_kind);
  }
  U8Column kind;
  I64Column corr, ext_id;
  I32Column cbid;
  TextColumn kernel;
  RowColumn config;
  I64Column addr0, addr1, bytes, stream;
  TextColumn copy_kind;
};

struct GpuTable : EventTable {
  GpuTable() : EventTable("gpu") {
    add("kind", kind);
    add("corr", corr);
    add("ext_id", ext_id);
    add("device", device);
    add("context", context);
    add("stream", stream);
    add("config", config);
    add("coll", coll);
    add("bytes", bytes);
    add("copy_kind", copy_kind);
    add("graph", graph);
    add("graph_node", graph_node);
    add("priority", priority);
    add("queued", queued);
    add("channel", channel);
    add("channel_type", channel_type);
    add("hsa_queue", hsa_queue);
    add("from_device", from_device);
    add("to_device", to_device);
    add("in_device", in_device);
    add("from_context", from_context);
    add("to_context", to_context);
    add("in_context", in_context);
  }
  U8Column kind;
  I64Column corr, ext_id;
  I32Column device, context;
  I64Column stream;
  RowColumn config, coll;
  I64Column bytes;
  TextColumn copy_kind;
  I64Column graph, graph_node;
  I32Column priority;
  I64Column queued;
  I32Column channel;
  TextColumn channel_type, hsa_queue;
  I32Column from_device, to_device, in_device, from_context, to_context, in_context;
};

struct SyncTable : EventTable {
  SyncTable() : EventTable("sync") {
    add("cat", cat);
    add("corr", corr);
    add("ext_id", ext_id);
    add("device", device);
    add("context", context);
    add("stream", stream);
    add("sync_kind", sync_kind);
    add("wait_stream", wait_stream);
    add("wait_event", wait_event);
    add("wait_corr", wait_corr);
    add("event_id", event_id);
  }
  TextColumn cat;
  I64Column corr, ext_id;
  I32Column device, context;
  I64Column stream;
  TextColumn sync_kind;
  I64Column wait_stream, wait_event, wait_corr, event_id;
};

struct SpanTable : EventTable {
  SpanTable() : EventTable("span") {
    add("ext_id", ext_id);
    add("device", device);
    add("stream", stream);
  }
  I64Column ext_id;
  I32Column device;
  I64Column stream;
};

struct MemoryTable : EventTable {
  MemoryTable() : EventTable("memory") {
    add("addr", addr);
    add("bytes", bytes);
    add("total_alloc", total_alloc);
    add("total_reserved", total_reserved);
    add("dev_type", dev_type);
    add("dev_id", dev_id);
  }
  I64Column addr, bytes, total_alloc, total_reserved;
  I32Column dev_type, dev_id;
};

struct RangeTable : EventTable {
  RangeTable() : EventTable("range") { add("cat", cat); }
  TextColumn cat;
};

struct OtherTable : EventTable {
  OtherTable() : EventTable("other") {
    add("cat", cat);
    add("ph", ph);
    add("corr", corr);
    add("begin_ns", begin_ns);
    add("end_ns", end_ns);
  }
  TextColumn cat;
  U8Column ph;
  I64Column corr, begin_ns, end_ns;
};

struct MarkTable : EventTable {
  MarkTable() : EventTable("mark") {
    add("cat", cat);
    add("ph", ph);
    add("id", id);
    add("scope", scope);
  }
  TextColumn cat;
  U8Column ph;
  TextColumn id, scope;
};

}  // namespace dctx::trace_event
