#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/text.hpp"

namespace dctx {

// Interned texts with dense ids in order of first use. Safe to use from several threads.
class StringPool {
 public:
  StringPool();

  size_t size() const;
  std::string text(size_t id) const;  // throws std::out_of_range
  int32_t intern(std::string_view text);
  // Ids of all rows, -1 where NULL.
  std::vector<int32_t> intern_column(const TextData& column);
  // Ids of column[rows[i]], -1 where rows[i] < 0 or the text is NULL.
  std::vector<int32_t> intern_rows(const TextData& column, const int64_t* rows, size_t count);
  // Id of the name key of each text; -1 stays -1.
  std::vector<int32_t> name_keys(const int32_t* ids, size_t count);

  // The texts as they are now. They stay as they are: a pool that grows while they are held
  // copies itself first.
  std::shared_ptr<const TextData> texts() const;

 private:
  struct Slot {
    uint32_t hash;
    int32_t id;
  };

  int32_t insert(std::string_view text);
  TextData& writable();
  void grow();

  mutable std::mutex mutex_;
  std::shared_ptr<TextData> texts_;
  std::vector<Slot> slots_;
};

}  // namespace dctx
