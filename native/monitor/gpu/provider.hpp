#pragma once
#include <cstddef>
#include <cstdint>

// The interface between the monitor and what knows one vendor's devices. Structures begin with
// their size and only grow at their end; who reads one uses what its size covers.
namespace dctx::monitor::gpu {

constexpr uint32_t kProviderAbi = 1;

// A context as PackedContext holds it (engine/context.hpp).
constexpr uint64_t kNoContext = ~uint64_t{0};

enum class ApiSite : uint8_t { enter, leave };
enum class ApiKind : uint8_t {
  launch,
  graph_launch,
  copy,
  set,
  synchronize,
  allocate,
  free,
  other
};

// One side of a call of a device's programming interface, told on the thread that calls. Calls may
// nest (a runtime's function calls the driver's): the outermost counts, all carry its context.
struct ApiCall {
  uint32_t size = sizeof(ApiCall);
  ApiSite site = ApiSite::enter;
  ApiKind kind = ApiKind::other;
  const char* name = nullptr;    // the function; must live until the call returns
  uint64_t correlation = 0;      // the provider's number that records of its work carry; 0: none
  const char* symbol = nullptr;  // what is launched, when it is known here
  uint64_t stream = 0;
};

// The values are written to recordings: only append.
enum class WorkKind : uint8_t { kernel, copy, set, graph };

// A piece of work that a device has done.
struct WorkRecord {
  uint32_t size = sizeof(WorkRecord);
  WorkKind kind = WorkKind::kernel;
  uint32_t device = 0;  // the number that the program's runtime gives it
  uint64_t stream = 0;
  const char* name = nullptr;  // of kernels, mangled or not; of copies and sets what they do
  int64_t begin_ns = 0;        // on the host's clock (Clock::now_ns) as well as it is known
  int64_t end_ns = 0;
  uint64_t correlation = 0;       // of the call that launched it; 0: none
  uint64_t context = kNoContext;  // where it was launched, when the provider knows that itself
  uint64_t graph_node = 0;        // of the executable graph that it is part of; 0: of none
  uint64_t graph = 0;             // that graph
  uint64_t bytes = 0;             // moved or set
  uint32_t grid[3] = {0, 0, 0};
  uint32_t block[3] = {0, 0, 0};
  uint32_t registers = 0;     // per thread
  uint32_t shared_bytes = 0;  // static and dynamic, per block
};

// Samples of the instruction that warps were at.
struct PcRecord {
  uint32_t size = sizeof(PcRecord);
  uint32_t function_index = 0;
  uint64_t cubin_crc = 0;
  uint64_t offset = 0;  // in the function
  const char* function = nullptr;
  const char* reason = nullptr;
  uint64_t samples = 0;
  uint64_t not_issued = 0;   // of them, samples of warps that issued nothing
  uint64_t correlation = 0;  // 0: of no single launch
  uint32_t device = 0;
  uint64_t context = kNoContext;  // of the launch, when the provider knows that itself
};

// What a provider calls. No function throws or waits for the interpreter.
struct Host {
  uint32_t size = sizeof(Host);
  uint32_t abi = kProviderAbi;
  // The calling thread's context; kNoContext while nothing is recorded.
  uint64_t (*context_now)() = nullptr;
  // Returns the context that work of this call belongs to, kNoContext while nothing is recorded.
  uint64_t (*on_api)(const ApiCall& call) = nullptr;
  // From any thread; the texts need to live only until it returns.
  void (*on_records)(const WorkRecord* records, size_t count) = nullptr;
  // Records that the provider could not deliver.
  void (*on_dropped)(uint64_t count) = nullptr;
  // Executable code that was loaded; copied.
  void (*on_module)(const void* bytes, size_t count, uint64_t id) = nullptr;
  void (*on_pc)(const PcRecord* records, size_t count) = nullptr;
  // A line for the user, once for each text.
  void (*log_once)(const char* text) = nullptr;
  // Work inside graphs. Where a node was made (node_context of the calling thread when
  // `original` is 0, else that of the original), and that a node is gone.
  void (*on_graph_node)(uint64_t node, uint64_t original, uint64_t graph) = nullptr;
  void (*on_graph_node_gone)(uint64_t node) = nullptr;
  void (*on_graph_gone)(uint64_t graph) = nullptr;
};

enum class GraphMode : uint8_t { node, launch };
enum class PcMode : uint8_t { off, continuous, serialized, per_launch };

struct Config {
  uint32_t size = sizeof(Config);
  GraphMode graphs = GraphMode::node;
  const char* libraries = nullptr;  // paths to try, a line each, before the plain names
  const char* device_file = nullptr;
};

struct PcConfig {
  uint32_t size = sizeof(PcConfig);
  PcMode mode = PcMode::off;
  uint32_t period_exponent = 18;  // a sample every 2^n cycles
  uint32_t launch_every = 10;     // per_launch: one launch in so many of each kernel
};

// Two readings of one instant.
struct ClockPair {
  int64_t host_ns;    // Clock::now_ns()
  int64_t device_ns;  // on the clock of the records as the vendor writes them
};

// What went wrong; 0 is success.
enum class Status : int32_t {
  ok = 0,
  no_library = -1,  // nothing to load
  no_symbols = -2,  // a library without what is needed
  no_driver = -3,
  taken = -4,  // another tool has it
  no_privilege = -5,
  unsupported = -6,
  failed = -7,
};

enum Capability : uint32_t {
  kKernels = 1,
  kCopies = 2,
  kMemory = 4,
  kGraphNodes = 8,
  kPcContinuous = 16,
  kPcSerialized = 32,
  kSourceCorrelation = 64,
  kSeveralSubscribers = 128,
};

// Why something failed, for people: a sentence without its full stop. Empty on success.
struct Reason {
  char text[512] = "";
};

// What a provider is. Functions return a Status and never end the program. probe() has no side
// effect: it never initialises a driver. open() … close() are called from one thread at a time;
// flush() also from others while it is open.
struct Provider {
  uint32_t size = sizeof(Provider);
  uint32_t abi = kProviderAbi;
  const char* name = nullptr;
  Status (*probe)(const Config& config, Reason& reason) = nullptr;
  Status (*open)(const Host& host, const Config& config, Reason& reason) = nullptr;
  Status (*start)(Reason& reason) = nullptr;
  Status (*stop)() = nullptr;
  Status (*close)() = nullptr;
  // Delivers what is complete; `force` also what the vendor still holds back: only at the end.
  Status (*flush)(bool force) = nullptr;
  // Fills at most `capacity` pairs; how many is told in `count`.
  Status (*clock_sync)(ClockPair* pairs, size_t capacity, size_t& count) = nullptr;
  uint32_t (*caps)() = nullptr;
  // What is attached, as `CUPTI 13.0`; lives until close().
  const char* (*version)() = nullptr;
  // Sampling of instructions; null where there is none.
  Status (*pc_config)(const PcConfig& config, Reason& reason) = nullptr;
  Status (*pc_start)(Reason& reason) = nullptr;
  Status (*pc_stop)() = nullptr;
  Status (*pc_read)() = nullptr;
  // The process has forked and this is the child: give up, without a call to the vendor.
  void (*forked)() = nullptr;
};

}  // namespace dctx::monitor::gpu
