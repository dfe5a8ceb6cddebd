#pragma once
// The keys of an event's args that become columns.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dctx::trace_event {

enum class Arg : uint8_t {
  ExtId,
  EvIdx,
  RfId,
  SeqNr,
  FwdThread,
  Dims,
  Types,
  Strides,
  Concrete,
  Stack,
  Module,
  PyId,
  PyParent,
  PyModule,
  Corr,
  Cbid,
  Device,
  Context,
  Stream,
  Grid,
  Block,
  Registers,
  Smem,
  BlocksPerSm,
  WarpsPerSm,
  OccupancyPct,
  Occupancy,
  Queued,
  Priority,
  Channel,
  ChannelType,
  HsaQueue,
  Graph,
  GraphNode,
  Bytes,
  Size,
  Bandwidth,
  Kind,
  FromDevice,
  ToDevice,
  InDevice,
  FromContext,
  ToContext,
  InContext,
  Kernel,
  Src,
  Dst,
  Ptr,
  SyncKind,
  WaitStream,
  WaitEvent,
  WaitCorr,
  EventId,
  Addr,
  MemBytes,
  TotalAlloc,
  TotalReserved,
  DevType,
  DevId,
  CollName,
  CollDtype,
  InElements,
  OutElements,
  InSplit,
  OutSplit,
  GroupSize,
  Rank,
  PgName,
  PgDesc,
  PgId,
  PgRanks,
  RankStart,
  RankStride,
  SrcRank,
  DstRank,
  CollSeq,
  CommsId,
  IsAsync,
  TritonBackend,
  TritonFile,
  TritonHash,
  TritonKwargs,
  TritonKernel,
  NumWarps,
  NumStages,
  MetaName,
  MetaLabels,
  SortIndex,
  BeginNs,
  EndNs,
  OpDevice,
  Finished,
  TraceName,
  TraceIteration,
  ExternalTs,
  InputNames,
  OutputDims,
  OutputType,
  OutputNames,
  ExtraArguments,
  Other,  // any other key
};

constexpr size_t kArgs = static_cast<size_t>(Arg::Other);

// What is read from the value at once. A value of another form is no value of the column.
enum class ArgType : uint8_t { Integer, Real, Text, Json };

struct ArgKey {
  Arg arg;
  ArgType type;
};

// `key` must be followed by 8 readable bytes.
ArgKey find_arg(std::string_view key);

// A set of args.
class ArgSet {
 public:
  constexpr ArgSet() = default;
  template <class... Args>
  static constexpr ArgSet of(Args... args) {
    ArgSet set;
    (set.add(args), ...);
    return set;
  }
  constexpr void add(Arg arg) { word(arg) |= bit(arg); }
  constexpr void clear() { low_ = high_ = 0; }
  constexpr bool has(Arg arg) const {
    return ((static_cast<size_t>(arg) < 64 ? low_ : high_) & bit(arg)) != 0;
  }
  constexpr void remove(Arg arg) { word(arg) &= ~bit(arg); }
  constexpr bool any(const ArgSet& other) const {
    return ((low_ & other.low_) | (high_ & other.high_)) != 0;
  }
  constexpr bool within(const ArgSet& other) const {
    return ((low_ & ~other.low_) | (high_ & ~other.high_)) == 0;
  }
  constexpr ArgSet without(const ArgSet& other) const {
    ArgSet set;
    set.low_ = low_ & ~other.low_;
    set.high_ = high_ & ~other.high_;
    return set;
  }
  constexpr ArgSet operator|(const ArgSet& other) const {
    ArgSet set;
    set.low_ = low_ | other.low_;
    set.high_ = high_ | other.high_;
    return set;
  }

 private:
  static constexpr uint64_t bit(Arg arg) { return uint64_t{1} << (static_cast<size_t>(arg) & 63); }
  constexpr uint64_t& word(Arg arg) { return static_cast<size_t>(arg) < 64 ? low_ : high_; }

  uint64_t low_ = 0;
  uint64_t high_ = 0;
};
static_assert(kArgs <= 128);

}  // namespace dctx::trace_event
