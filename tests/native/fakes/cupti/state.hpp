#pragma once
// What the stand-in for CUPTI knows; shared by its parts.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_cupti.h"
#include "monitor/gpu/cupti/abi.hpp"

namespace fake {

using namespace dctx::monitor::gpu::cupti;

struct Pending {
  std::vector<uint8_t> bytes;
  bool running;
};

struct Node {
  uint64_t id;
  std::string name;
  uint64_t original = 0;
};

struct Graph {
  std::vector<Node*> nodes;
  uint32_t id = 0;
};

struct PlannedSample {
  uint64_t crc;
  uint64_t offset;
  uint32_t reason;  // its place in the table
  uint32_t samples;
};

struct TakenSample {
  uint64_t crc;
  uint64_t offset;
  uint32_t correlation;
  const char* function;
  std::map<uint32_t, uint32_t> counts;  // by reason
};

// The sampling of instructions, of the one context that there is.
struct Sampling {
  std::map<std::string, std::vector<PlannedSample>> plan;
  std::vector<TakenSample> taken;
  bool enabled = false, started = false;
  std::map<uint32_t, uint32_t> settings;
  std::set<uint32_t> reasons;  // numbers that were asked for
  size_t room = 0;
  uint64_t dropped = 0;
};

struct State {
  std::recursive_mutex mutex;
  uint32_t version = 130'001;
  std::map<std::string, Result> failures;
  std::map<std::string, size_t> calls;
  std::string holder;
  size_t kernel_size = 216;
  size_t buffer_records = 0;
  int delivery = 0;

  CallbackFunction callback = nullptr;
  void* user = nullptr;
  bool several = false;
  std::set<std::pair<uint32_t, uint32_t>> callbacks;
  std::set<uint32_t> kinds;
  RequestBuffer request = nullptr;
  CompleteBuffer complete = nullptr;
  RequestBuffer2 request2 = nullptr;
  CompleteBuffer2 complete2 = nullptr;
  Timestamp timestamp = nullptr;

  Sampling sampling;
  std::vector<Pending> pending;
  size_t dropped = 0;
  uint32_t next_correlation = 1;
  uint64_t next_node = 1000;
  uint32_t next_graph = 1;
  std::set<std::string> names;  // of kernels: they live as long as the library
  std::vector<std::unique_ptr<Node>> all_nodes;
  std::map<uint64_t, std::unique_ptr<Graph>> graphs;  // templates and executable ones
  Graph* capturing = nullptr;
  std::mt19937 random{1};
};

State& state();
// Counts a call of a CUPTI function; what it is to return: kSuccess unless it is to fail.
Result called(const char* function);
uint64_t device_now();
// Tells the subscriber, without the lock.
void tell(uint32_t domain, uint32_t id, const void* data);
template <class Record>
void queue(const Record& record, size_t size, bool running) {
  Pending pending{std::vector<uint8_t>(size), running};
  const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
  std::copy(bytes, bytes + std::min(size, sizeof record), pending.bytes.begin());
  state().pending.push_back(std::move(pending));
}
size_t size_of(uint32_t kind);
// The context of all calls.
void* context();
// A kernel runs: takes its samples.
void sample_kernel(const char* name, uint32_t correlation);
// Hands records over in buffers of the tool; running ones only when `force`.
void deliver(bool force);

}  // namespace fake
