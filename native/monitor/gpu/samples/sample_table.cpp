#include "monitor/gpu/samples/sample_table.hpp"

#include "tree/hash.hpp"

namespace dctx::monitor::gpu {

size_t SampleTable::Hash::operator()(const SampleKey& key) const {
  uint64_t hash = mix_bits(key.cubin_crc ^ mix_bits(key.offset));
  hash = mix_bits(hash ^ key.context);
  hash = mix_bits(hash ^ (uint64_t{key.function} << 32 | key.reason));
  return mix_bits(hash ^ key.device);
}

bool SampleTable::add(SampleKey key, uint64_t samples, uint64_t not_issued) {
  auto found = ids_.find(key);
  bool folded = false;
  if (found == ids_.end()) {
    if (rows_.size() >= kMostRows && key.offset != SampleKey::kNoOffset) {
      folded = true;
      key.offset = SampleKey::kNoOffset;
      found = ids_.find(key);
    }
    if (found == ids_.end()) {
      const auto row = static_cast<uint32_t>(rows_.size());
      rows_.push_back({row, key, 0, 0});
      found = ids_.emplace(key, row).first;
    }
  }
  SampleRow& row = rows_[found->second];
  row.samples += samples;
  row.not_issued += not_issued;
  samples_ += samples;
  return folded;
}

std::vector<SampleRow> SampleTable::changed(std::vector<uint64_t>& seen) const {
  std::vector<SampleRow> out;
  seen.resize(rows_.size(), 0);
  for (const SampleRow& row : rows_) {
    // Samples only grow, and every row has some.
    if (seen[row.row] == row.samples) continue;
    seen[row.row] = row.samples;
    out.push_back(row);
  }
  return out;
}

void SampleTable::clear() {
  ids_.clear();
  rows_.clear();
  samples_ = 0;
}

}  // namespace dctx::monitor::gpu
