#include "monitor/engine/intern.hpp"

#include "tree/hash.hpp"

namespace dctx::monitor {

// Id 0 is the empty text, also what is told when memory is out.
StringTable::StringTable() { intern(""); }

uint32_t StringTable::intern(std::string_view text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = ids_.find(text);
  if (known != ids_.end()) return known->second;
  std::unique_ptr<const std::string>* row = rows_.prepare();
  if (row == nullptr) return 0;
  *row = std::make_unique<const std::string>(text);
  const auto id = static_cast<uint32_t>(rows_.size());
  ids_.emplace(**row, id);
  rows_.publish();
  return id;
}

size_t CodeTable::Hash::operator()(const CodeView& code) const {
  return mix_bits((uint64_t{code.file} << 32 | code.function) ^
                  mix_bits(static_cast<uint32_t>(code.first_line)));
}

uint32_t CodeTable::intern(const CodeView& code) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = ids_.find(code);
  if (known != ids_.end()) return known->second;
  CodeView* row = rows_.prepare();
  if (row == nullptr) return 0;
  *row = code;
  const auto id = static_cast<uint32_t>(rows_.size());
  ids_.emplace(code, id);
  rows_.publish();
  return id;
}

// Libraries are few and seldom loaded: a plain search.
uint32_t ModuleTable::intern(const ModuleView& module) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (uint32_t id = 0; id < size(); ++id) {
    const ModuleView known = rows_[id];
    if (known.path == module.path && known.build_id == module.build_id && known.low == module.low &&
        known.high == module.high) {
      return id;
    }
  }
  ModuleView* row = rows_.prepare();
  if (row == nullptr) return 0;
  *row = module;
  rows_.publish();
  return size() - 1;
}

}  // namespace dctx::monitor
