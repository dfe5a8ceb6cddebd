#include "monitor/unwind/module_map.hpp"

#include <Python.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "monitor/engine/registry.hpp"

namespace dctx::monitor {
namespace {

unsigned long long loader_additions() {
  unsigned long long additions = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;  // the same in every entry
      },
      &additions);
  return additions;
}

std::string path_of(const dl_phdr_info& info) {
  if (info.dlpi_name != nullptr && info.dlpi_name[0] != '\0') return info.dlpi_name;
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : "";
}

// The note of the linker that names a build, in hexadecimal; empty without one.
std::string build_id_of(const dl_phdr_info& info) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* const name = at + sizeof *note;
      const char* const content = name + (note->n_namesz + 3) / 4 * 4;
      at = content + (note->n_descsz + 3) / 4 * 4;
      if (at > end) break;
      if (note->n_type != NT_GNU_BUILD_ID || std::string_view(name, 3) != "GNU") continue;
      std::string id;
      for (const char* byte = content; byte < content + note->n_descsz; ++byte) {
        const auto value = static_cast<unsigned char>(*byte);
        id.push_back(kDigits[value >> 4]);
        id.push_back(kDigits[value & 15]);
      }
      return id;
    }
  }
  return "";
}

bool holds(const dl_phdr_info& info, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info.dlpi_phdr[i];
    const uintptr_t low = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && at >= low && at < low + header.p_memsz) return true;
  }
  return false;
}

ModuleRole role_of(const dl_phdr_info& info) {
  if (holds(info, reinterpret_cast<const void*>(&loader_additions))) return ModuleRole::own;
  if (holds(info, reinterpret_cast<const void*>(&PyObject_Call))) return ModuleRole::interpreter;
  return ModuleRole::other;
}

}  // namespace

ModuleMap& ModuleMap::instance() {
  static ModuleMap* const map = new ModuleMap;  // hooks run until the process ends
  return *map;
}

void ModuleMap::refresh() {
  ranges_.clear();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto& ranges = *static_cast<std::vector<Range>*>(out);
        StringTable& strings = Registry::instance().strings();
        const uint32_t path = strings.intern(path_of(*info));
        const uint32_t build = strings.intern(build_id_of(*info));
        const ModuleRole role = role_of(*info);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) & header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
          const uintptr_t low = info->dlpi_addr + header.p_vaddr;
          const uintptr_t high = low + header.p_memsz;
          const uint32_t module =
              Registry::instance().modules().intern({path, build, info->dlpi_addr, high});
          ranges.push_back({low, high, info->dlpi_addr, module, role});
        }
        return 0;
      },
      &ranges_);
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.low < b.low; });
}

AddressRange ModuleMap::interpreter() {
  static const AddressRange range = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    refresh();
    additions_ = loader_additions();
    for (const Range& each : ranges_) {
      if (each.role == ModuleRole::interpreter) return AddressRange{each.low, each.high};
    }
    return AddressRange{};
  }();
  return range;
}

bool ModuleMap::locate(uintptr_t address, Located* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const unsigned long long additions = loader_additions();
  if (additions != additions_) {
    refresh();
    additions_ = additions;
  }
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uintptr_t at, const Range& range) { return at < range.low; });
  if (after == ranges_.begin()) return false;
  const Range& range = *--after;
  if (address >= range.high) return false;
  *out = {range.module, address - range.base, range.role};
  return true;
}

}  // namespace dctx::monitor
