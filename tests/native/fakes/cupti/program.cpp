// The program's side: what gives the GPU work, and what goes wrong.
#include <algorithm>
#include <memory>

#include "state.hpp"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

struct Function {
  uint32_t domain;
  uint32_t id;
  const char* name;
};
constexpr Function kLaunch{kRuntimeApi, 211, "cudaLaunchKernel"};
constexpr Function kDriverLaunch{kDriverApi, 307, "cuLaunchKernel"};
constexpr Function kGraphLaunch{kRuntimeApi, 311, "cudaGraphLaunch"};
constexpr Function kCopy{kRuntimeApi, 41, "cudaMemcpyAsync"};
constexpr Function kSet{kRuntimeApi, 51, "cudaMemsetAsync"};
constexpr Function kWait{kRuntimeApi, 165, "cudaDeviceSynchronize"};
constexpr Function kAllocate{kRuntimeApi, 20, "cudaMalloc"};

uint32_t new_correlation() {
  const Lock lock(state().mutex);
  return state().next_correlation++;
}

void side(const Function& function, Site site, uint32_t correlation, const char* symbol) {
  CallbackData data{};
  data.site = site;
  data.function_name = function.name;
  data.symbol_name = symbol;
  data.correlation_id = correlation;
  data.context = context();
  tell(function.domain, function.id, &data);
}

// Runs `work(correlation of the driver's call)` inside the calls; returns what the record carries.
template <class Work>
uint32_t in_calls(const Function& outer, const char* symbol, int flags, Work&& work) {
  const uint32_t correlation = new_correlation();
  const bool nested = (flags & FAKE_NESTED) != 0;
  const uint32_t inner = (flags & FAKE_OTHER_ID) != 0 ? new_correlation() : correlation;
  const uint32_t told = (flags & FAKE_DRIVER_ID) != 0 ? inner : correlation;
  side(outer, kEnter, correlation, symbol);
  if (nested) side(kDriverLaunch, kEnter, inner, symbol);
  work(told);
  if (nested) side(kDriverLaunch, kExit, inner, symbol);
  side(outer, kExit, correlation, symbol);
  if ((state().delivery & FAKE_WORKER) != 0) std::thread([] { deliver(false); }).join();
  return told;
}

const char* kept_name(const char* name) {
  const Lock lock(state().mutex);
  return state().names.insert(name).first->c_str();
}

template <class Record>
void queue_work(Record& record, uint64_t ns, bool running, size_t size) {
  const Lock lock(state().mutex);
  const uint32_t kind = record.kind;
  const bool wanted =
      state().kinds.count(kind) != 0 || (kind == kKernel && state().kinds.count(kConcurrentKernel));
  if (!wanted) return;
  record.end = device_now();
  record.start = record.end - ns;
  queue(record, size, running);
}

void queue_kernel(const char* name, uint64_t ns, uint32_t device, uint32_t correlation, int flags,
                  uint64_t node, uint32_t graph) {
  const Lock lock(state().mutex);
  KernelRecord record{};
  // One or the other, as the tool asked.
  record.kind = state().kinds.count(kConcurrentKernel) != 0 ? kConcurrentKernel : kKernel;
  record.registers = 40;
  record.device = device;
  record.stream = 7;
  record.grid[0] = 132;
  record.grid[1] = record.grid[2] = 1;
  record.block[0] = 256;
  record.block[1] = record.block[2] = 1;
  record.static_shared = 1024;
  record.dynamic_shared = 512;
  record.correlation = correlation;
  record.name = kept_name(name);
  record.graph_node = node;
  record.graph = graph;
  sample_kernel(record.name, correlation);
  queue_work(record, ns, (flags & FAKE_RUNNING) != 0, state().kernel_size);
  if ((flags & FAKE_NO_TIME) == 0 || state().pending.empty()) return;
  auto* last = reinterpret_cast<KernelRecord*>(state().pending.back().bytes.data());
  last->start = last->end = 0;
}

Node* new_node(std::string name, uint64_t original) {
  auto node = std::make_unique<Node>();
  node->id = state().next_node++;
  node->name = std::move(name);
  node->original = original;
  state().all_nodes.push_back(std::move(node));
  return state().all_nodes.back().get();
}

Graph* new_graph() {
  auto graph = std::make_unique<Graph>();
  graph->id = state().next_graph++;
  Graph* const made = graph.get();
  state().graphs[made->id] = std::move(graph);
  return made;
}

void tell_graph(uint32_t id, Graph* graph, Node* node, Node* original, void* exec) {
  GraphData graph_data{};
  graph_data.graph = graph;
  graph_data.node = node;
  graph_data.original_node = original;
  graph_data.exec = exec;
  ResourceData data{};
  data.descriptor = &graph_data;
  tell(kResource, id, &data);
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_EXPORT void fake_reset() {
  State& fake = state();
  const Lock lock(fake.mutex);
  fake.failures.clear();
  fake.calls.clear();
  fake.holder.clear();
  fake.kernel_size = 216;
  fake.buffer_records = 0;
  fake.delivery = 0;
  fake.version = 130'001;
  fake.pending.clear();
  fake.dropped = 0;
  fake.timestamp = nullptr;
  fake.capturing = nullptr;
  fake.sampling = {};
}
FAKE_EXPORT void fake_set_version(uint32_t version) { state().version = version; }
FAKE_EXPORT void fake_fail(const char* function, int32_t result) {
  const Lock lock(state().mutex);
  if (result == 0) {
    state().failures.erase(function);
  } else {
    state().failures[function] = result;
  }
}
FAKE_EXPORT void fake_set_holder(const char* name) {
  const Lock lock(state().mutex);
  state().holder = name != nullptr ? name : "";
}
FAKE_EXPORT void fake_set_kernel_size(size_t bytes) { state().kernel_size = bytes; }
FAKE_EXPORT void fake_set_buffer_records(size_t records) { state().buffer_records = records; }
FAKE_EXPORT void fake_set_delivery(int flags) { state().delivery = flags; }
FAKE_EXPORT void fake_deliver() { deliver(true); }

FAKE_EXPORT uint32_t fake_launch(const char* name, uint64_t ns, uint32_t device, int flags) {
  const bool driver = (flags & FAKE_DRIVER_ONLY) != 0;
  const int calls = driver ? 0 : flags;
  return in_calls(driver ? kDriverLaunch : kLaunch, name, calls, [&](uint32_t correlation) {
    Graph* const capturing = state().capturing;
    if (capturing == nullptr) {
      queue_kernel(name, ns, device, correlation, flags, 0, 0);
      return;
    }
    Node* node = nullptr;
    {
      const Lock lock(state().mutex);
      node = new_node(name, 0);
      capturing->nodes.push_back(node);
    }
    tell_graph(kGraphNodeCreated, capturing, node, nullptr, nullptr);
  });
}

FAKE_EXPORT uint32_t fake_copy(int kind, uint64_t bytes, uint64_t ns) {
  return in_calls(kCopy, nullptr, 0, [&](uint32_t correlation) {
    constexpr int kPeers = 10;
    if (kind == kPeers) {
      PeerCopyRecord record{};
      record.kind = kMemcpyPeer;
      record.copy_kind = kPeers;
      record.bytes = bytes;
      record.correlation = correlation;
      record.dst_device = 1;
      queue_work(record, ns, false, size_of(kMemcpyPeer));
      return;
    }
    CopyRecord record{};
    record.kind = kMemcpy;
    record.copy_kind = static_cast<uint8_t>(kind);
    record.bytes = bytes;
    record.correlation = correlation;
    queue_work(record, ns, false, size_of(kMemcpy));
  });
}

FAKE_EXPORT uint32_t fake_set(uint64_t bytes, uint64_t ns) {
  return in_calls(kSet, nullptr, 0, [&](uint32_t correlation) {
    SetRecord record{};
    record.kind = kMemset;
    record.bytes = bytes;
    record.correlation = correlation;
    queue_work(record, ns, false, size_of(kMemset));
  });
}

FAKE_EXPORT void fake_wait() {
  in_calls(kWait, nullptr, 0, [](uint32_t) {});
}
FAKE_EXPORT void fake_allocate(uint64_t) {
  in_calls(kAllocate, nullptr, 0, [](uint32_t) {});
}

FAKE_EXPORT void fake_complete() {
  const Lock lock(state().mutex);
  for (Pending& record : state().pending) record.running = false;
}

FAKE_EXPORT void fake_drop(size_t records) {
  const Lock lock(state().mutex);
  state().dropped += records;
}

FAKE_EXPORT void fake_load_module(const void* bytes, size_t size) {
  ModuleData module{};
  module.module_id = 1;
  module.cubin = static_cast<const char*>(bytes);
  module.cubin_size = size;
  ResourceData data{};
  data.descriptor = &module;
  tell(kResource, kModuleLoaded, &data);
}

FAKE_EXPORT void fake_unload_module() {
  ModuleData module{};
  ResourceData data{};
  data.context = context();
  data.descriptor = &module;
  tell(kResource, kModuleUnloadStarting, &data);
}

FAKE_EXPORT void fake_make_context() {
  ResourceData data{};
  data.context = context();
  tell(kResource, kContextCreated, &data);
}

FAKE_EXPORT void fake_destroy_context() {
  ResourceData data{};
  data.context = context();
  tell(kResource, kContextDestroyStarting, &data);
}

FAKE_EXPORT void fake_capture_begin() {
  const Lock lock(state().mutex);
  state().capturing = new_graph();
}

FAKE_EXPORT uint64_t fake_capture_end() {
  const Lock lock(state().mutex);
  const uint64_t graph = state().capturing->id;
  state().capturing = nullptr;
  return graph;
}

FAKE_EXPORT uint64_t fake_instantiate(uint64_t graph) {
  Graph* exec = nullptr;
  std::vector<std::pair<Node*, Node*>> copies;
  {
    const Lock lock(state().mutex);
    const Graph& original = *state().graphs.at(graph);
    exec = new_graph();
    for (Node* node : original.nodes) {
      exec->nodes.push_back(new_node(node->name, node->id));
      copies.emplace_back(exec->nodes.back(), node);
    }
  }
  for (const auto& [copy, original] : copies) {
    tell_graph(kGraphNodeCloned, exec, copy, original, nullptr);
  }
  tell_graph(kGraphExecCreated, exec, nullptr, nullptr, exec);
  return exec->id;
}

FAKE_EXPORT uint32_t fake_graph_launch(uint64_t exec, uint64_t ns) {
  return in_calls(kGraphLaunch, nullptr, 0, [&](uint32_t correlation) {
    const Lock lock(state().mutex);
    const Graph& graph = *state().graphs.at(exec);
    if (state().kinds.count(kGraphTrace) != 0) {
      GraphRecord record{};
      record.kind = kGraphTrace;
      record.correlation = correlation;
      record.graph = graph.id;
      queue_work(record, ns * graph.nodes.size(), false, size_of(kGraphTrace));
      return;
    }
    for (const Node* node : graph.nodes) {
      queue_kernel(node->name.c_str(), ns, 0, correlation, 0, node->id, graph.id);
    }
  });
}

FAKE_EXPORT void fake_destroy_exec(uint64_t exec) {
  tell_graph(kGraphExecDestroyStarting, state().graphs.at(exec).get(), nullptr, nullptr,
             state().graphs.at(exec).get());
}

FAKE_EXPORT void fake_destroy_graph(uint64_t graph) {
  for (Node* node : state().graphs.at(graph)->nodes) {
    tell_graph(kGraphNodeDestroyStarting, state().graphs.at(graph).get(), node, nullptr, nullptr);
  }
}

FAKE_EXPORT int fake_subscribed() { return state().callback != nullptr ? 1 : 0; }
FAKE_EXPORT int fake_kind_enabled(uint32_t kind) { return state().kinds.count(kind) != 0 ? 1 : 0; }
FAKE_EXPORT size_t fake_calls(const char* function) {
  const Lock lock(state().mutex);
  const auto found = state().calls.find(function);
  return found == state().calls.end() ? 0 : found->second;
}
FAKE_EXPORT size_t fake_pending() {
  const Lock lock(state().mutex);
  return state().pending.size();
}
