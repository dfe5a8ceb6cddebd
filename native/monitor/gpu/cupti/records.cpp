#include "monitor/gpu/cupti/records.hpp"

#include <cstring>

namespace dctx::monitor::gpu::cupti {
namespace {

// By copy kind, from 1 on; as importers name them.
constexpr const char* kCopies[] = {"memcpy (kind not recorded)",
                                   "memcpy HtoD",
                                   "memcpy DtoH",
                                   "memcpy HtoA",
                                   "memcpy AtoH",
                                   "memcpy AtoA",
                                   "memcpy AtoD",
                                   "memcpy DtoA",
                                   "memcpy DtoD",
                                   "memcpy HtoH",
                                   "memcpy PtoP"};

const char* copy_name(uint8_t kind) {
  return kCopies[kind < sizeof kCopies / sizeof *kCopies ? kind : 0];
}

// Records are aligned to 8 bytes at best: copied before they are read.
template <class Record>
Record read(const ActivityHead& head) {
  Record record;
  std::memcpy(&record, &head, sizeof record);
  return record;
}

template <class Record>
Parsed fill_common(const Record& record, int64_t offset_ns, WorkRecord& out) {
  out.device = record.device;
  out.stream = record.stream;
  out.correlation = record.correlation;
  out.begin_ns = static_cast<int64_t>(record.start) + offset_ns;
  out.end_ns = static_cast<int64_t>(record.end) + offset_ns;
  return record.start == 0 || record.end == 0 ? Parsed::no_time : Parsed::work;
}

template <class Record>
Parsed fill_moved(const Record& record, int64_t offset_ns, WorkRecord& out) {
  out.bytes = record.bytes;
  out.graph_node = record.graph_node;
  out.graph = record.graph;
  return fill_common(record, offset_ns, out);
}

Parsed fill_kernel(const KernelRecord& record, int64_t offset_ns, WorkRecord& out) {
  out.kind = WorkKind::kernel;
  out.name = record.name;
  for (size_t axis = 0; axis < 3; ++axis) {
    out.grid[axis] = static_cast<uint32_t>(record.grid[axis]);
    out.block[axis] = static_cast<uint32_t>(record.block[axis]);
  }
  out.registers = record.registers;
  out.shared_bytes = static_cast<uint32_t>(record.static_shared + record.dynamic_shared);
  out.graph_node = record.graph_node;
  out.graph = record.graph;
  return fill_common(record, offset_ns, out);
}

}  // namespace

Parsed parse(const ActivityHead& record, int64_t offset_ns, WorkRecord& out) {
  out = WorkRecord{};
  switch (record.kind) {
    case kKernel:
    case kConcurrentKernel:
      return fill_kernel(read<KernelRecord>(record), offset_ns, out);
    case kMemcpy: {
      const auto copy = read<CopyRecord>(record);
      out.kind = WorkKind::copy;
      out.name = copy_name(copy.copy_kind);
      return fill_moved(copy, offset_ns, out);
    }
    case kMemcpyPeer: {
      const auto copy = read<PeerCopyRecord>(record);
      out.kind = WorkKind::copy;
      out.name = copy_name(copy.copy_kind);
      return fill_moved(copy, offset_ns, out);
    }
    case kMemset: {
      const auto set = read<SetRecord>(record);
      out.kind = WorkKind::set;
      out.name = "memset";
      return fill_moved(set, offset_ns, out);
    }
    case kGraphTrace: {
      const auto replay = read<GraphRecord>(record);
      out.kind = WorkKind::graph;
      out.name = "graph replay";
      out.graph = replay.graph;
      return fill_common(replay, offset_ns, out);
    }
    default:
      return Parsed::other;
  }
}

}  // namespace dctx::monitor::gpu::cupti
