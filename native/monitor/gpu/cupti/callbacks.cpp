// What CUPTI calls: on the program's threads at each function that is watched, on a thread of its
// own with records.
#include "monitor/engine/clock.hpp"
#include "monitor/gpu/cupti/pc_sampling.hpp"
#include "monitor/gpu/cupti/records.hpp"
#include "monitor/gpu/cupti/state.hpp"

namespace dctx::monitor::gpu::cupti {
namespace {

void on_function(State& cupti, const Host& host, uint32_t domain, uint32_t id,
                 const CallbackData& data) {
  const uint8_t kind = id < kHighestId ? cupti.kinds[domain][id] : uint8_t{0};
  if (kind == 0) return;
  ApiCall call;
  call.site = data.site == kEnter ? ApiSite::enter : ApiSite::leave;
  call.kind = static_cast<ApiKind>(kind - 1);
  call.name = data.function_name;
  call.symbol = data.symbol_name;
  call.correlation = data.correlation_id;
  const bool enters = call.site == ApiSite::enter;
  PcSampling& sampling = PcSampling::instance();
  // The driver's functions: a runtime's call them, and some programs call nothing else.
  const bool launch = sampling.on() && domain == kDriverApi && call.kind == ApiKind::launch;
  if (launch && !enters) sampling.launch_ends(data.context);
  const uint64_t where = host.on_api(call);
  if (launch && enters) sampling.launch_begins(data.context, data.symbol_name, where);
}

uint64_t node_id(const State& cupti, void* node) {
  uint64_t id = 0;
  const auto ask = cupti.library.functions().graph_node_id;
  return node != nullptr && ask != nullptr && ask(node, &id) == kSuccess ? id : 0;
}

// True when the event is one of contexts or modules, which only samples of instructions need.
bool on_code(uint32_t id, const ResourceData& data) {
  PcSampling& sampling = PcSampling::instance();
  switch (id) {
    case kContextCreated:
      sampling.context_seen(data.context);
      return true;
    case kContextDestroyStarting:
      sampling.context_ending(data.context);
      return true;
    case kModuleLoaded:
      if (const auto* module = static_cast<const ModuleData*>(data.descriptor)) {
        sampling.module_loaded(module->cubin, module->cubin_size);
      }
      return true;
    case kModuleUnloadStarting:
      sampling.module_ending();
      return true;
    default:
      return false;
  }
}

void on_resource(State& cupti, const Host& host, uint32_t id, const ResourceData& data) {
  if (on_code(id, data) || data.descriptor == nullptr) return;
  const auto& graph = *static_cast<const GraphData*>(data.descriptor);
  const auto owner = reinterpret_cast<uintptr_t>(graph.graph);
  switch (id) {
    case kGraphNodeCreated:
      if (const uint64_t node = node_id(cupti, graph.node)) host.on_graph_node(node, 0, owner);
      break;
    case kGraphNodeCloned: {
      const uint64_t node = node_id(cupti, graph.node);
      const uint64_t original = node_id(cupti, graph.original_node);
      if (node != 0 && original != 0) host.on_graph_node(node, original, owner);
      break;
    }
    case kGraphNodeDestroyStarting:
      if (const uint64_t node = node_id(cupti, graph.node)) host.on_graph_node_gone(node);
      break;
    case kGraphExecDestroyStarting:
      if (owner != 0) host.on_graph_gone(owner);
      break;
    default:
      break;
  }
}

Result next_record(const State& cupti, uint8_t* buffer, size_t valid, ActivityHead** record) {
  const Functions& f = cupti.library.functions();
  return cupti.several ? f.next_record2(cupti.subscriber, buffer, valid, record)
                       : f.next_record(buffer, valid, record);
}

void read_buffer(const State& cupti, const Host& host, uint8_t* buffer, size_t valid) {
  std::array<WorkRecord, 64> batch;
  size_t count = 0;
  uint64_t lost = 0;
  const int64_t offset_ns = cupti.offset_ns.load(std::memory_order_relaxed);
  ActivityHead* record = nullptr;
  while (next_record(cupti, buffer, valid, &record) == kSuccess && record != nullptr) {
    const Parsed parsed = parse(*record, offset_ns, batch[count]);
    if (parsed == Parsed::no_time) ++lost;
    if (parsed != Parsed::work) continue;
    if (++count < batch.size()) continue;
    host.on_records(batch.data(), count);
    count = 0;
  }
  if (count > 0) host.on_records(batch.data(), count);
  if (lost > 0) {
    host.on_dropped(lost);
    host.log_once("some GPU work has no times: it is counted as dropped");
  }
}

void complete(uint8_t* buffer, size_t valid) {
  State& cupti = state();
  const Host* const host = cupti.host.load(std::memory_order_acquire);
  if (host != nullptr && buffer != nullptr) {
    read_buffer(cupti, *host, buffer, valid);
    size_t dropped = 0;
    const Functions& f = cupti.library.functions();
    const Result asked = cupti.several ? f.dropped2(cupti.subscriber, nullptr, 0, &dropped)
                                       : f.dropped(nullptr, 0, &dropped);
    if (asked == kSuccess && dropped > 0) host->on_dropped(dropped);
  }
  cupti.buffers.give(buffer);
}

}  // namespace

State& state() {
  static State* const only = new State;
  return *only;
}

uint64_t our_clock() { return static_cast<uint64_t>(Clock::now_ns()); }

void on_callback(void*, uint32_t domain, uint32_t id, const void* data) {
  State& cupti = state();
  const Host* const host = cupti.host.load(std::memory_order_acquire);
  if (host == nullptr || data == nullptr) return;
  if (domain == kDriverApi || domain == kRuntimeApi) {
    on_function(cupti, *host, domain, id, *static_cast<const CallbackData*>(data));
  } else if (domain == kResource) {
    on_resource(cupti, *host, id, *static_cast<const ResourceData*>(data));
  }
}

void on_request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = state().buffers.take();
  *size = *buffer != nullptr ? BufferPool::kBytes : 0;
  *max_records = 0;  // as many as fit
}

void on_complete(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  complete(buffer, valid);
}
void on_request2(uint8_t** buffer, size_t* size, size_t* max_records, void*) {
  on_request(buffer, size, max_records);
}
void on_complete2(uint8_t* buffer, size_t, size_t valid, void*) { complete(buffer, valid); }

}  // namespace dctx::monitor::gpu::cupti
