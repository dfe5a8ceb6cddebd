#pragma once
// Counters, flows and metadata; and what rows of events share, each combination once. What each
// column means is told in _core.pyi.
#include <cstddef>
#include <cstdint>

#include "scan/trace_event/column_table.hpp"

namespace dctx::trace_event {

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

}  // namespace dctx::trace_event
