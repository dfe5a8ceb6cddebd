#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

namespace dctx::monitor {

enum class ModuleRole : uint8_t { other, interpreter, own };

struct Located {
  uint32_t module;  // id in the registry's table
  uint64_t offset;  // from the address that the file's own addresses count from
  ModuleRole role;
};

struct AddressRange {
  uintptr_t low = 0;
  uintptr_t high = 0;
  bool holds(uintptr_t address) const { return address >= low && address < high; }
};

// The libraries that are loaded, by address. Read again when the loader has added some.
class ModuleMap {
 public:
  static ModuleMap& instance();

  // False for an address in no library.
  bool locate(uintptr_t address, Located* out);
  // The interpreter's code; it is never unloaded.
  AddressRange interpreter();

 private:
  struct Range {
    uintptr_t low;
    uintptr_t high;
    uintptr_t base;
    uint32_t module;
    ModuleRole role;
  };

  void refresh();

  std::mutex mutex_;
  unsigned long long additions_ = 0;
  std::vector<Range> ranges_;  // by address
};

}  // namespace dctx::monitor
