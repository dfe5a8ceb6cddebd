#include "monitor/gpu/gpu_host.hpp"

#include <algorithm>
#include <utility>

#include "monitor/engine/context.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/engine/listeners.hpp"
#include "monitor/gpu/readable_name.hpp"
#include "monitor/gpu/told.hpp"

namespace dctx::monitor::gpu {
namespace {

static_assert(kNoContext == PackedContext::kUnknown);

thread_local OpenCall open_call{0, 0, kNoContext, 0};

bool gives_work(ApiKind kind) {
  return kind == ApiKind::launch || kind == ApiKind::graph_launch || kind == ApiKind::copy ||
         kind == ApiKind::set;
}

}  // namespace

GpuHost& GpuHost::instance() {
  static GpuHost* const host = new GpuHost;
  return *host;
}

const Host* GpuHost::host() {
  static const Host upcalls = [] {
    Host table;
    table.context_now = context_now_;
    table.on_api = on_api;
    table.on_records = on_records;
    table.on_dropped = on_dropped;
    table.on_module = on_module;
    table.on_pc = on_pc;
    table.log_once = log_once;
    table.on_graph_node = on_graph_node;
    table.on_graph_node_gone = on_graph_node_gone;
    table.on_graph_gone = on_graph_gone;
    return table;
  }();
  return ring_.reserve() ? &upcalls : nullptr;
}

WorkCounts GpuHost::counts() const {
  return {records_.load(), placed_.load(),  orphans_.load(),
          outside_.load(), dropped_.load(), launches_.load()};
}

std::vector<std::string> GpuHost::take_notes() {
  const std::lock_guard<std::mutex> lock(notes_mutex_);
  std::vector<std::string> news(notes_.begin() + static_cast<std::ptrdiff_t>(taken_), notes_.end());
  taken_ = notes_.size();
  return news;
}

void GpuHost::clear() {
  {
    const std::lock_guard<std::mutex> lock(table_.mutex());
    table_.clear();
    busy_.clear();
  }
  {
    const std::lock_guard<std::mutex> lock(samples_.mutex());
    samples_.clear();
  }
  graphs_.clear();
  for (auto* count : {&records_, &placed_, &orphans_, &outside_, &dropped_, &launches_})
    count->store(0);
  const std::lock_guard<std::mutex> lock(notes_mutex_);
  notes_.clear();
  taken_ = 0;
}

void GpuHost::before_fork() {
  table_.mutex().lock();
  samples_.mutex().lock();
  cubins_.mutex().lock();
  graphs_.mutex().lock();
  notes_mutex_.lock();
}

void GpuHost::after_fork_in_parent() {
  notes_mutex_.unlock();
  graphs_.mutex().unlock();
  cubins_.mutex().unlock();
  samples_.mutex().unlock();
  table_.mutex().unlock();
}

void GpuHost::after_fork_in_child() {
  after_fork_in_parent();  // the child's copies of the locks are held by its one thread
  clear();
}

uint64_t GpuHost::context_now_() {
  if (open_call.depth > 0 && open_call.generation == Registry::instance().generation()) {
    return open_call.context;
  }
  return context_now(kPython).bits;
}

uint64_t GpuHost::on_api(const ApiCall& call) {
  Registry& registry = Registry::instance();
  OpenCall& open = open_call;
  const uint32_t generation = registry.generation();
  if (open.generation != generation) open = {0, generation, kNoContext, 0};
  if (call.site == ApiSite::leave) {
    if (open.depth == 0 || --open.depth > 0) return open.context;
    ThreadRecord* const record = registry.current_if_any();
    if (record != nullptr && open.context != kNoContext) {
      end_event(*record, &open);
      if (Listeners::instance().any()) tell_call(call, open, false);
    }
    return open.context;
  }
  if (open.depth++ == 0) {
    open.context = kNoContext;
    ThreadRecord* const record = registry.active() ? registry.current() : nullptr;
    if (record != nullptr) {
      try {
        const uint32_t node = begin_api(*record, &open, operator_name(*record, call.name), &call);
        open.context =
            PackedContext::of(record->index, record->epoch.load(std::memory_order_relaxed), node)
                .bits;
        if (gives_work(call.kind)) instance().launches_.fetch_add(1, std::memory_order_relaxed);
        if (Listeners::any()) tell_call(call, open, true);
      } catch (...) {  // memory is out: the work becomes an orphan, the program goes on
        registry.losses().add(Loss::drops);
        return kNoContext;
      }
    }
  }
  // Also outside a recording: its records are then known not to be lost.
  if (call.correlation != 0) instance().ring_.store(call.correlation, open.context);
  return open.context;
}

void GpuHost::on_records(const WorkRecord* records, size_t count) {
  GpuHost& self = instance();
  const bool listened = Listeners::instance().any();
  std::vector<std::pair<const WorkRecord*, WorkKey>> told;
  size_t done = 0;
  try {
    if (listened) told.reserve(count);
    const std::lock_guard<std::mutex> lock(self.table_.mutex());
    for (; done < count; ++done) {
      WorkKey key{};
      if (self.add(records[done], key) && listened) told.emplace_back(&records[done], key);
    }
  } catch (...) {
    on_dropped(count - done);
  }
  // Without the lock: a listener may wait for the interpreter.
  for (const auto& [record, key] : told) tell_work(*record, key);
}

bool GpuHost::known(uint64_t context) const {
  Registry& registry = Registry::instance();
  const PackedContext packed{context};
  if (!packed.known()) return false;
  if (!registry.holds(packed.thread(), packed.epoch())) return false;
  return packed.node() < registry.thread(packed.thread()).store.node_count();
}

uint32_t GpuHost::name_of(const WorkRecord& record) {
  const char* const name = record.name != nullptr ? record.name : "";
  return names_
      .find(name,
            [](std::string_view text, std::string_view* kept) {
              StringTable& strings = Registry::instance().strings();
              // The key of the cache is the text itself, which must stay.
              *kept = strings.text(strings.intern(text));
              return EventName{strings.intern(readable_name(text)), false, false};
            })
      .label;
}

bool GpuHost::add(const WorkRecord& record, WorkKey& key) {
  key = {kNoContext, kNoContext, 0, name_of(record), record.device, record.kind};
  uint64_t launch = record.context;
  const bool seen =
      launch != kNoContext || (record.correlation != 0 && ring_.find(record.correlation, &launch));
  if (seen && launch == kNoContext) {
    records_.fetch_add(1, std::memory_order_relaxed);
    outside_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (!known(launch)) launch = kNoContext;
  uint64_t made = kNoContext;
  if (record.graph_node != 0 && graphs_.find(record.graph_node, &made) && known(made)) {
    key.context = made;
    key.alternate = launch;
  } else {
    key.context = launch;
    if (record.graph_node != 0) key.graph = record.graph != 0 ? record.graph : record.graph_node;
  }
  Registry& registry = Registry::instance();
  const uint64_t limit = registry.budget().limit.load(std::memory_order_relaxed);
  if (table_.add(key, record, limit)) registry.losses().add(Loss::folded);
  add_to_steps(record);
  records_.fetch_add(1, std::memory_order_relaxed);
  if (key.context == kNoContext) {
    orphans_.fetch_add(1, std::memory_order_relaxed);
    registry.losses().add(Loss::orphans);
  } else {
    placed_.fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

void GpuHost::add_to_steps(const WorkRecord& record) {
  StepLog& steps = Registry::instance().steps();
  if (record.kind == WorkKind::kernel || record.kind == WorkKind::graph) {
    busy_[record.device].add(record.begin_ns, record.end_ns, [&](int64_t begin_ns, int64_t end_ns) {
      steps.add_busy(begin_ns, end_ns);
    });
  } else if (record.kind == WorkKind::copy) {
    steps.add_copied(record.begin_ns, record.bytes);
  }
}

void GpuHost::on_dropped(uint64_t count) {
  instance().dropped_.fetch_add(count, std::memory_order_relaxed);
  Registry::instance().losses().add(Loss::drops, count);
}

void GpuHost::log_once(const char* text) {
  try {
    GpuHost& self = instance();
    const std::lock_guard<std::mutex> lock(self.notes_mutex_);
    if (std::find(self.notes_.begin(), self.notes_.end(), text) == self.notes_.end()) {
      self.notes_.emplace_back(text);
    }
  } catch (...) {
    return;  // memory is out: the line is lost
  }
}

void GpuHost::on_graph_node(uint64_t node, uint64_t original, uint64_t graph) {
  try {
    GraphNodes& graphs = instance().graphs_;
    if (original != 0 && graphs.copy(node, graph, original)) return;
    const uint64_t context = context_now_();
    // A copy of a node that was not seen is made where the graph is, not where its work is told.
    if (original == 0 && context != kNoContext) graphs.add(node, graph, context);
  } catch (...) {
    return;  // its work is charged to the launch of the graph
  }
}

void GpuHost::on_graph_node_gone(uint64_t node) {
  try {
    instance().graphs_.remove(node);
  } catch (...) {
    return;
  }
}

void GpuHost::on_graph_gone(uint64_t graph) {
  try {
    instance().graphs_.remove_copies(graph);
  } catch (...) {
    return;
  }
}

}  // namespace dctx::monitor::gpu
