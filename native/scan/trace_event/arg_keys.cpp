#include "scan/trace_event/arg_keys.hpp"

#include <array>
#include <cstring>

namespace dctx::trace_event {
namespace {

struct Known {
  std::string_view text;
  Arg arg;
  ArgType type;
};

constexpr ArgType kInt = ArgType::Integer;
constexpr ArgType kReal = ArgType::Real;
constexpr ArgType kText = ArgType::Text;
constexpr ArgType kJson = ArgType::Json;

constexpr Known kKnown[] = {
    {"External id", Arg::ExtId, kInt},
    {"external id", Arg::ExtId, kInt},
    {"Ev Idx", Arg::EvIdx, kInt},
    {"Profiler Event Index", Arg::EvIdx, kInt},
    {"Record function id", Arg::RfId, kInt},
    {"Sequence number", Arg::SeqNr, kInt},
    {"Fwd thread id", Arg::FwdThread, kInt},
    {"Input Dims", Arg::Dims, kJson},
    {"Input dims", Arg::Dims, kJson},
    {"Input type", Arg::Types, kJson},
    {"Input Strides", Arg::Strides, kJson},
    {"Concrete Inputs", Arg::Concrete, kJson},
    {"Call stack", Arg::Stack, kText},
    {"Module Hierarchy", Arg::Module, kText},
    {"Python id", Arg::PyId, kInt},
    {"Python parent id", Arg::PyParent, kInt},
    {"Python module id", Arg::PyModule, kInt},
    {"correlation", Arg::Corr, kInt},
    {"cbid", Arg::Cbid, kInt},
    {"cid", Arg::Cbid, kInt},
    {"device", Arg::Device, kInt},
    {"context", Arg::Context, kInt},
    {"stream", Arg::Stream, kInt},
    {"grid", Arg::Grid, kJson},
    {"grid dim", Arg::Grid, kJson},
    {"block", Arg::Block, kJson},
    {"block dim", Arg::Block, kJson},
    {"registers per thread", Arg::Registers, kInt},
    {"shared memory", Arg::Smem, kInt},
    {"shared size", Arg::Smem, kInt},
    {"blocks per SM", Arg::BlocksPerSm, kReal},
    {"warps per SM", Arg::WarpsPerSm, kReal},
    {"est. achieved occupancy %", Arg::OccupancyPct, kReal},
    {"theoretical occupancy %", Arg::OccupancyPct, kReal},
    {"occupancy", Arg::Occupancy, kJson},
    {"queued", Arg::Queued, kInt},
    {"priority", Arg::Priority, kInt},
    {"channel", Arg::Channel, kInt},
    {"channel_type", Arg::ChannelType, kText},
    {"hsa_queue", Arg::HsaQueue, kText},
    {"graph id", Arg::Graph, kInt},
    {"graph node id", Arg::GraphNode, kInt},
    {"bytes", Arg::Bytes, kInt},
    {"size", Arg::Size, kInt},
    {"memory bandwidth (GB/s)", Arg::Bandwidth, kReal},
    {"kind", Arg::Kind, kText},
    {"fromDevice", Arg::FromDevice, kInt},
    {"toDevice", Arg::ToDevice, kInt},
    {"inDevice", Arg::InDevice, kInt},
    {"fromContext", Arg::FromContext, kInt},
    {"toContext", Arg::ToContext, kInt},
    {"inContext", Arg::InContext, kInt},
    {"kernel", Arg::Kernel, kText},
    {"Kernel", Arg::Kernel, kText},
    {"src", Arg::Src, kInt},
    {"dst", Arg::Dst, kInt},
    {"ptr", Arg::Ptr, kInt},
    {"cuda_sync_kind", Arg::SyncKind, kText},
    {"wait_on_stream", Arg::WaitStream, kInt},
    {"wait_on_cuda_event_id", Arg::WaitEvent, kInt},
    {"wait_on_cuda_event_record_corr_id", Arg::WaitCorr, kInt},
    {"event_id", Arg::EventId, kInt},
    {"Addr", Arg::Addr, kInt},
    {"Bytes", Arg::MemBytes, kInt},
    {"Total Allocated", Arg::TotalAlloc, kInt},
    {"Total Reserved", Arg::TotalReserved, kInt},
    {"Device Type", Arg::DevType, kInt},
    {"Device Id", Arg::DevId, kInt},
    {"Collective name", Arg::CollName, kText},
    {"dtype", Arg::CollDtype, kText},
    {"In msg nelems", Arg::InElements, kInt},
    {"Out msg nelems", Arg::OutElements, kInt},
    {"In split size", Arg::InSplit, kText},
    {"Out split size", Arg::OutSplit, kText},
    {"Group size", Arg::GroupSize, kInt},
    {"Rank", Arg::Rank, kInt},
    {"Process Group Name", Arg::PgName, kText},
    {"Process Group Description", Arg::PgDesc, kText},
    {"Process Group ID", Arg::PgId, kText},
    {"Process Group Ranks", Arg::PgRanks, kText},
    {"Global rank start", Arg::RankStart, kInt},
    {"Global rank stride", Arg::RankStride, kInt},
    {"Src Rank", Arg::SrcRank, kInt},
    {"Dst Rank", Arg::DstRank, kInt},
    {"Seq", Arg::CollSeq, kInt},
    {"Comms Id", Arg::CommsId, kInt},
    {"Is asynchronized op", Arg::IsAsync, kText},
    {"kernel_backend", Arg::TritonBackend, kText},
    {"kernel_file", Arg::TritonFile, kText},
    {"kernel_hash", Arg::TritonHash, kText},
    {"kernel_kwargs", Arg::TritonKwargs, kText},
    {"kernel_name", Arg::TritonKernel, kText},
    {"num_warps", Arg::NumWarps, kInt},
    {"num_stages", Arg::NumStages, kInt},
    {"name", Arg::MetaName, kText},
    {"labels", Arg::MetaLabels, kText},
    {"sort_index", Arg::SortIndex, kInt},
    {"BeginNs", Arg::BeginNs, kInt},
    {"EndNs", Arg::EndNs, kInt},
    {"Device", Arg::OpDevice, kText},
    {"finished", Arg::Finished, kText},
    {"Trace name", Arg::TraceName, kText},
    {"Trace iteration", Arg::TraceIteration, kText},
    {"external ts", Arg::ExternalTs, kText},
    {"Input names", Arg::InputNames, kJson},
    {"Output dims", Arg::OutputDims, kJson},
    {"Output type", Arg::OutputType, kJson},
    {"Output names", Arg::OutputNames, kJson},
    {"Extra arguments", Arg::ExtraArguments, kJson},
};

uint64_t load64(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

// The first and the last eight bytes: with the length, nearly the key itself.
struct Ends {
  uint64_t first;
  uint64_t last;
  size_t size;

  explicit Ends(std::string_view key) : first(load64(key.data())), last(0), size(key.size()) {
    if (size < 8) {
      first &= (uint64_t{1} << 8 * size) - 1;
    } else {
      last = load64(key.data() + size - 8);
    }
  }
  size_t slot() const {
    const uint64_t mixed = (first * 0x9e3779b97f4a7c15ULL ^ last * 0xd6e8feb86659fd93ULL) + size;
    return static_cast<size_t>(mixed * 0x9e3779b97f4a7c15ULL >> 54);
  }
};

class KeyTable {
 public:
  KeyTable() {
    for (size_t i = 0; i < std::size(kKnown); ++i) {
      char padded[64] = {};
      std::memcpy(padded, kKnown[i].text.data(), kKnown[i].text.size());
      const Ends ends({padded, kKnown[i].text.size()});
      size_t slot = ends.slot();
      while (entries_[slot].known != nullptr) slot = (slot + 1) % entries_.size();
      entries_[slot] = {ends.first, ends.last, ends.size, &kKnown[i]};
    }
  }

  const Known* find(std::string_view key) const {
    const Ends ends(key);
    for (size_t slot = ends.slot();; slot = (slot + 1) % entries_.size()) {
      const Entry& entry = entries_[slot];
      if (entry.known == nullptr) return nullptr;
      if (entry.first != ends.first || entry.last != ends.last || entry.size != ends.size) continue;
      if (ends.size <= 16 || key == entry.known->text) return entry.known;
    }
  }

 private:
  struct Entry {
    uint64_t first = 0;
    uint64_t last = 0;
    size_t size = 0;
    const Known* known = nullptr;
  };
  std::array<Entry, 1024> entries_{};
};

const KeyTable kTable;

}  // namespace

ArgKey find_arg(std::string_view key) {
  const Known* const known = kTable.find(key);
  return known == nullptr ? ArgKey{Arg::Other, ArgType::Json} : ArgKey{known->arg, known->type};
}

}  // namespace dctx::trace_event
