#pragma once
// The tables that events become. What each column means is told in _core.pyi.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scan/trace_event/column.hpp"

namespace dctx::trace_event {

class Table {
 public:
  explicit Table(const char* table_name) : name(table_name) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const char* const name;
  size_t rows = 0;
  const std::vector<std::pair<const char*, AnyColumn*>>& columns() const { return columns_; }

 protected:
  void add(const char* column_name, AnyColumn& column) {
    columns_.emplace_back(column_name, &column);
  }

 private:
  std::vector<std::pair<const char*, AnyColumn*>> columns_;
};

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

struct CounterTable : Table {
  CounterTable() : Table("counter") {
    add("lane", lane);
    add("ts_ns", ts_ns);
    add("name", name_id);
    add("series", series);
    add("value", value);
    add("id", id);
    add("seq", seq);
  }
  RowColumn lane;
  I64Column ts_ns;
  TextColumn name_id, series;
  F64Column value;
  TextColumn id;
  I32Column seq;
};

struct FlowTable : Table {
  FlowTable() : Table("flow") {
    add("lane", lane);
    add("ts_ns", ts_ns);
    add("cat", cat);
    add("ph", ph);
    add("name", name_id);
    add("id", id);
    add("id_text", id_text);
    add("seq", seq);
  }
  RowColumn lane;
  I64Column ts_ns;
  TextColumn cat;
  U8Column ph;
  TextColumn name_id;
  I64Column id;
  TextColumn id_text;
  I32Column seq;
};

struct MetaTable : Table {
  MetaTable() : Table("meta") {
    add("name", name_id);
    add("pid", pid);
    add("tid", tid);
    add("value", value);
    add("sort_index", sort_index);
    add("args", args);
    add("seq", seq);
  }
  TextColumn name_id, pid, tid, value;
  I64Column sort_index;
  TextColumn args;
  I32Column seq;
};

struct LaneTable : Table {
  LaneTable() : Table("lane") {
    add("side", side);
    add("pid", pid);
    add("tid", tid);
    add("pid_num", pid_num);
    add("tid_num", tid_num);
  }
  U8Column side;
  TextColumn pid, tid;
  I64Column pid_num, tid_num;
};

struct ShapeTable : Table {
  ShapeTable() : Table("shape") {
    add("dims", dims);
    add("types", types);
    add("strides", strides);
    add("concrete", concrete);
  }
  TextColumn dims, types, strides, concrete;
};

struct ConfigTable : Table {
  ConfigTable() : Table("config") {
    static constexpr const char* kNames[] = {"grid_x",  "grid_y",  "grid_z",    "block_x",
                                             "block_y", "block_z", "registers", "smem_bytes"};
    for (size_t i = 0; i < kIntegers; ++i) add(kNames[i], integer[i]);
    add("blocks_per_sm", blocks_per_sm);
    add("warps_per_sm", warps_per_sm);
    add("occupancy_pct", occupancy_pct);
    add("occupancy", occupancy);
  }
  static constexpr size_t kIntegers = 8;  // grid, block, registers, shared memory
  I64Column integer[kIntegers];
  F64Column blocks_per_sm, warps_per_sm, occupancy_pct;
  TextColumn occupancy;
};

struct CollectiveTable : Table {
  CollectiveTable() : Table("collective") {
    add("name", name_id);
    add("dtype", dtype);
    add("in_nelems", in_elements);
    add("out_nelems", out_elements);
    add("in_split", in_split);
    add("out_split", out_split);
    add("group_size", group_size);
    add("rank", rank);
    add("pg_name", pg_name);
    add("pg_desc", pg_desc);
    add("pg_id", pg_id);
    add("pg_ranks", pg_ranks);
    add("rank_start", rank_start);
    add("rank_stride", rank_stride);
    add("src_rank", src_rank);
    add("dst_rank", dst_rank);
    add("seq", call_seq);
    add("comms_id", comms_id);
    add("is_async", is_async);
  }
  TextColumn name_id, dtype;
  I64Column in_elements, out_elements;
  TextColumn in_split, out_split;
  I64Column group_size, rank;
  TextColumn pg_name, pg_desc, pg_id, pg_ranks;
  I64Column rank_start, rank_stride, src_rank, dst_rank, call_seq, comms_id;
  TextColumn is_async;
};

struct TritonTable : Table {
  TritonTable() : Table("triton") {
    add("backend", backend);
    add("file", file);
    add("hash", hash);
    add("kwargs", kwargs);
    add("kernel", kernel);
    add("num_warps", num_warps);
    add("num_stages", num_stages);
  }
  TextColumn backend, file, hash, kwargs, kernel;
  I64Column num_warps, num_stages;
};

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
