#pragma once
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace dctx::monitor::gpu {

// The identity of a row: one instruction, in one context, waiting for one thing.
struct SampleKey {
  uint64_t cubin_crc;
  uint64_t offset;    // in the function; kNoOffset: instructions beyond the limit on rows
  uint64_t context;   // of the launch; kNoContext: of no single one
  uint32_t function;  // string ids: as the module names it,
  uint32_t kernel;    // as work records name it,
  uint32_t reason;    // what was waited for
  uint32_t device;

  static constexpr uint64_t kNoOffset = ~uint64_t{0};

  bool operator==(const SampleKey& other) const {
    return cubin_crc == other.cubin_crc && offset == other.offset && context == other.context &&
           function == other.function && kernel == other.kernel && reason == other.reason &&
           device == other.device;
  }
};

struct SampleRow {
  uint32_t row;  // dense, in the order of first appearance
  SampleKey key;
  uint64_t samples;
  uint64_t not_issued;
};

// Sums of the samples of instructions. Samples come from a thread that reads them and from those
// that launch, and the recorder copies what changed: all under mutex().
class SampleTable {
 public:
  static constexpr size_t kMostRows = size_t{1} << 20;

  // True when the instruction was folded: the table is full.
  bool add(SampleKey key, uint64_t samples, uint64_t not_issued);
  // Rows that changed since they were last told to a reader that has seen `seen` (its own, empty at
  // first).
  std::vector<SampleRow> changed(std::vector<uint64_t>& seen) const;
  uint64_t samples() const { return samples_; }
  void clear();
  std::mutex& mutex() { return mutex_; }

 private:
  struct Hash {
    size_t operator()(const SampleKey& key) const;
  };

  std::mutex mutex_;
  std::unordered_map<SampleKey, uint32_t, Hash> ids_;
  std::vector<SampleRow> rows_;
  uint64_t samples_ = 0;
};

}  // namespace dctx::monitor::gpu
