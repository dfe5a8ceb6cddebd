// One function a kind of complete event: its columns, and which args they take.
#include "scan/trace_event/router.hpp"

namespace dctx::trace_event {
namespace {

constexpr ArgSet kCollectiveArgs = ArgSet::of(
    Arg::CollName, Arg::CollDtype, Arg::InElements, Arg::OutElements, Arg::InSplit, Arg::OutSplit,
    Arg::GroupSize, Arg::Rank, Arg::PgName, Arg::PgDesc, Arg::PgId, Arg::PgRanks, Arg::RankStart,
    Arg::RankStride, Arg::SrcRank, Arg::DstRank, Arg::CollSeq, Arg::CommsId, Arg::IsAsync);
constexpr ArgSet kTritonArgs =
    ArgSet::of(Arg::TritonBackend, Arg::TritonFile, Arg::TritonHash, Arg::TritonKwargs,
               Arg::TritonKernel, Arg::NumWarps, Arg::NumStages);
constexpr ArgSet kShapeArgs = ArgSet::of(Arg::Dims, Arg::Types, Arg::Strides, Arg::Concrete);
constexpr ArgSet kConfigArgs =
    ArgSet::of(Arg::Grid, Arg::Block, Arg::Registers, Arg::Smem, Arg::BlocksPerSm, Arg::WarpsPerSm,
               Arg::OccupancyPct, Arg::Occupancy);
constexpr ArgSet kOpArgs = kCollectiveArgs | kTritonArgs | kShapeArgs |
                           ArgSet::of(Arg::ExtId, Arg::EvIdx, Arg::RfId, Arg::SeqNr, Arg::FwdThread,
                                      Arg::Stack, Arg::Module, Arg::Stream, Arg::OpDevice);
constexpr ArgSet kPythonArgs = ArgSet::of(Arg::PyId, Arg::PyParent, Arg::PyModule, Arg::EvIdx);
constexpr ArgSet kLaunchArgs =
    ArgSet::of(Arg::Corr, Arg::ExtId, Arg::Cbid, Arg::Kernel, Arg::Grid, Arg::Block, Arg::Smem,
               Arg::Src, Arg::Dst, Arg::Ptr, Arg::Bytes, Arg::Size, Arg::Stream, Arg::Kind);
constexpr ArgSet kPlaceArgs =
    ArgSet::of(Arg::Corr, Arg::ExtId, Arg::Device, Arg::Context, Arg::Stream);
constexpr ArgSet kGpuArgs =
    kPlaceArgs | kConfigArgs | kCollectiveArgs |
    ArgSet::of(Arg::Bytes, Arg::Kind, Arg::Graph, Arg::GraphNode, Arg::Priority, Arg::Queued,
               Arg::Channel, Arg::ChannelType, Arg::HsaQueue, Arg::FromDevice, Arg::ToDevice,
               Arg::InDevice, Arg::FromContext, Arg::ToContext, Arg::InContext);
constexpr ArgSet kSyncArgs = kPlaceArgs | ArgSet::of(Arg::SyncKind, Arg::WaitStream, Arg::WaitEvent,
                                                     Arg::WaitCorr, Arg::EventId);
constexpr ArgSet kSpanArgs = ArgSet::of(Arg::ExtId, Arg::Device, Arg::Stream);

constexpr uint8_t kKernelKind = 0;
constexpr uint8_t kMemcpyKind = 1;
constexpr uint8_t kMemsetKind = 2;
constexpr uint8_t kAcceleratorKind = 3;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// AMD records copies as kernels.
uint8_t kernel_kind(std::string_view name) {
  if (starts_with(name, "__amd_rocclr_copyBuffer") || starts_with(name, "MEMORY_COPY_")) {
    return kMemcpyKind;
  }
  return starts_with(name, "__amd_rocclr_fillBuffer") ? kMemsetKind : kKernelKind;
}

}  // namespace

size_t Router::put(EventTable& table, const Event& event, const Row& row, Side side,
                   const ArgSet& consumed) {
  const size_t at = table.rows++;
  table.lane.put(at, lane(event, side));
  table.ts_ns.put(at, row.ts_ns);
  table.dur_ns.put(at, row.dur_ns);
  table.name_id.put(at, row.name);
  put_id(table.args, at, remainder(event, consumed));
  table.flags.put(at, row.flags);
  table.seq.put(at, static_cast<int32_t>(seq_));
  return at;
}

void Router::put_integer(I32Column& column, size_t row, const Event& event, Arg arg) {
  if (!event.present.has(arg)) return;
  const int64_t value = event.integer_of(arg);
  if (value == static_cast<int32_t>(value)) {
    column.put(row, static_cast<int32_t>(value));
  } else {
    report_.add(Reason::WideInt, offset_);
  }
}

void Router::put_stream(I64Column& column, size_t row, const Event& event) {
  constexpr int64_t kNoStream = 4294967295;
  if (!event.present.has(Arg::Stream)) return;
  const int64_t stream = event.integer_of(Arg::Stream);
  column.put(row, stream == kNoStream ? -1 : stream);
}

void Router::complete(const Event& event, const Row& row, const Category& category) {
  switch (category.event_class) {
    case EventClass::Op:
      return op(event, row, 0);
    case EventClass::Annotation:
      return op(event, row, 1);
    case EventClass::Python:
      return python(event, row);
    case EventClass::Runtime:
      return launch(event, row, 0);
    case EventClass::Driver:
      return launch(event, row, 1);
    case EventClass::Kernel:
      return gpu(event, row, kernel_kind(event.name.text()));
    case EventClass::Memcpy:
      return gpu(event, row, kMemcpyKind);
    case EventClass::Memset:
      return gpu(event, row, kMemsetKind);
    case EventClass::Accelerator:
      return gpu(event, row, kAcceleratorKind);
    case EventClass::Sync:
      return sync(event, row, category.text);
    case EventClass::Span:
      return span(event, row);
    case EventClass::Overhead:
      put(tables_.overhead, event, row, kHostSide, ArgSet());
      return;
    case EventClass::Window:
      put(tables_.window, event, row, kWindowSide, ArgSet());
      return;
    case EventClass::Range:
      tables_.range.cat.put(put(tables_.range, event, row, kHostSide, ArgSet()), category.text);
      return;
    case EventClass::MemoryInstant:
    case EventClass::Other:
      return other(event, row, category.text, 'X');
  }
}

void Router::op(const Event& event, const Row& row, uint8_t kind) {
  OpTable& table = tables_.op;
  const size_t at = put(table, event, row, kHostSide, kOpArgs);
  table.kind.put(at, kind);
  put_integer(table.ext_id, at, event, Arg::ExtId);
  put_integer(table.ev_idx, at, event, Arg::EvIdx);
  put_integer(table.rf_id, at, event, Arg::RfId);
  put_integer(table.seq_nr, at, event, Arg::SeqNr);
  put_integer(table.fwd_thread, at, event, Arg::FwdThread);
  put_integer(table.stream, at, event, Arg::Stream);
  put_text(table.stack, at, event, Arg::Stack);
  put_text(table.module, at, event, Arg::Module);
  if (event.present.any(kShapeArgs)) put_id(table.shape, at, shape(event, row.name));
  if (event.present.any(kCollectiveArgs)) put_id(table.coll, at, collective(event, row.name));
  if (event.present.any(kTritonArgs)) put_id(table.triton, at, triton(event, row.name));
}

void Router::python(const Event& event, const Row& row) {
  PythonTable& table = tables_.python;
  const size_t at = put(table, event, row, kHostSide, kPythonArgs);
  put_integer(table.py_id, at, event, Arg::PyId);
  put_integer(table.py_parent, at, event, Arg::PyParent);
  put_integer(table.py_module, at, event, Arg::PyModule);
}

void Router::launch(const Event& event, const Row& row, uint8_t kind) {
  LaunchTable& table = tables_.launch;
  const size_t at = put(table, event, row, kHostSide, kLaunchArgs);
  table.kind.put(at, kind);
  put_integer(table.corr, at, event, Arg::Corr);
  put_integer(table.ext_id, at, event, Arg::ExtId);
  put_integer(table.cbid, at, event, Arg::Cbid);
  put_text(table.kernel, at, event, Arg::Kernel);
  put_integer(table.addr0, at, event, event.present.has(Arg::Src) ? Arg::Src : Arg::Ptr);
  put_integer(table.addr1, at, event, Arg::Dst);
  put_integer(table.bytes, at, event, event.present.has(Arg::Bytes) ? Arg::Bytes : Arg::Size);
  put_integer(table.stream, at, event, Arg::Stream);
  put_text(table.copy_kind, at, event, Arg::Kind);
  if (event.present.any(kConfigArgs)) put_id(table.config, at, config(event, row.name));
}

void Router::gpu(const Event& event, const Row& row, uint8_t kind) {
  GpuTable& table = tables_.gpu;
  const size_t at = put(table, event, row, kGpuSide, kGpuArgs);
  table.kind.put(at, kind);
  put_integer(table.corr, at, event, Arg::Corr);
  put_integer(table.ext_id, at, event, Arg::ExtId);
  put_integer(table.device, at, event, Arg::Device);
  put_integer(table.context, at, event, Arg::Context);
  put_stream(table.stream, at, event);
  put_integer(table.bytes, at, event, Arg::Bytes);
  put_text(table.copy_kind, at, event, Arg::Kind);
  put_integer(table.graph, at, event, Arg::Graph);
  put_integer(table.graph_node, at, event, Arg::GraphNode);
  put_integer(table.priority, at, event, Arg::Priority);
  put_integer(table.queued, at, event, Arg::Queued);
  put_integer(table.channel, at, event, Arg::Channel);
  put_text(table.channel_type, at, event, Arg::ChannelType);
  put_text(table.hsa_queue, at, event, Arg::HsaQueue);
  put_integer(table.from_device, at, event, Arg::FromDevice);
  put_integer(table.to_device, at, event, Arg::ToDevice);
  put_integer(table.in_device, at, event, Arg::InDevice);
  put_integer(table.from_context, at, event, Arg::FromContext);
  put_integer(table.to_context, at, event, Arg::ToContext);
  put_integer(table.in_context, at, event, Arg::InContext);
  if (event.present.any(kConfigArgs)) put_id(table.config, at, config(event, row.name));
  if (event.present.any(kCollectiveArgs)) put_id(table.coll, at, collective(event, row.name));
}

void Router::sync(const Event& event, const Row& row, int32_t category) {
  SyncTable& table = tables_.sync;
  const size_t at = put(table, event, row, kGpuSide, kSyncArgs);
  table.cat.put(at, category);
  put_integer(table.corr, at, event, Arg::Corr);
  put_integer(table.ext_id, at, event, Arg::ExtId);
  put_integer(table.device, at, event, Arg::Device);
  put_integer(table.context, at, event, Arg::Context);
  put_stream(table.stream, at, event);
  put_text(table.sync_kind, at, event, Arg::SyncKind);
  put_integer(table.wait_stream, at, event, Arg::WaitStream);
  put_integer(table.wait_event, at, event, Arg::WaitEvent);
  put_integer(table.wait_corr, at, event, Arg::WaitCorr);
  put_integer(table.event_id, at, event, Arg::EventId);
}

void Router::span(const Event& event, const Row& row) {
  SpanTable& table = tables_.span;
  const size_t at = put(table, event, row, kGpuSide, kSpanArgs);
  put_integer(table.ext_id, at, event, Arg::ExtId);
  put_integer(table.device, at, event, Arg::Device);
  put_stream(table.stream, at, event);
}

}  // namespace dctx::trace_event
