// The LD_AUDIT route: the dynamic linker asks this library about every symbol that it binds, and
// for a function of the table the answer is a trampoline. Uses no library at all, not even that of
// C: it lives in a link namespace of its own, where another copy would be loaded.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "monitor/gpu/custom/route/hook_table.hpp"

#define ROUTE_EXPORT extern "C" __attribute__((visibility("default")))
#define ROUTE_LOCAL extern "C" __attribute__((visibility("hidden")))

// The compiler may ask for these; the loops are theirs, not calls of them.
ROUTE_LOCAL __attribute__((optimize("no-tree-loop-distribute-patterns"))) void* memset(
    void* to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(value);
  return to;
}
ROUTE_LOCAL __attribute__((optimize("no-tree-loop-distribute-patterns"))) void* memcpy(
    void* to, const void* from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    static_cast<unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
  }
  return to;
}

extern "C" __attribute__((visibility("hidden"))) const char dctx_device_slots[];

namespace {

using namespace dctx::device;

constexpr size_t kSlotBytes = 16;
// Cookies of loaded objects: what la_symbind needs to know of them.
constexpr uintptr_t kOther = 0;
constexpr uintptr_t kCore = 1;
constexpr uintptr_t kDevice = 2;

struct Slot {
  const void* original;
  uint32_t hook;
  uint32_t ready;
};

HookTable hooks;
Slot slots[kMaxHooks];
uint32_t slot_count;
BeginCall begin_call;
EndCall end_call;

long system_call(long number, long a, long b, long c, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

struct Bytes {
  const char* data = nullptr;
  size_t size = 0;
};

// A file, mapped; never unmapped.
Bytes mapped(const char* path) {
  const long file =
      system_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const long size = system_call(SYS_lseek, file, 0, 2 /* SEEK_END */);
  Bytes out;
  if (size > 0) {
    const long place = system_call(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (place > 0) out = {reinterpret_cast<const char*>(place), static_cast<size_t>(size)};
  }
  system_call(SYS_close, file, 0, 0);
  return out;
}

const char* environment_value(char** environment, const char* name) {
  const size_t bytes = length(name);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const char* entry = *environment;
    size_t i = 0;
    while (i < bytes && entry[i] == name[i]) ++i;
    if (i == bytes && entry[i] == '=') return entry + bytes + 1;
  }
  return nullptr;
}

// glibc hands the arguments of main to constructors.
__attribute__((constructor)) void read_hooks(int, char**, char** environment) {
  const char* path = environment_value(environment, kHooksVariable);
  if (path == nullptr) return;
  const Bytes text = mapped(path);
  if (text.data != nullptr) parse_hooks(text.data, text.size, &hooks);
}

bool ends_with(const char* text, const char* end) {
  const size_t a = length(text), b = length(end);
  if (a < b) return false;
  for (size_t i = 0; i < b; ++i) {
    if (text[a - b + i] != end[i]) return false;
  }
  return true;
}

// The extension module dctx.native._core.
bool is_core(const char* path) {
  const char* name = base_name(path);
  const char* start = "_core.";
  for (size_t i = 0; start[i] != 0; ++i) {
    if (name[i] != start[i]) return false;
  }
  return ends_with(path, ".so");
}

const char* own_name(const link_map* map) {
  const char* strings = nullptr;
  uint64_t at = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SONAME) at = entry->d_un.d_val;
    if (entry->d_tag == DT_STRTAB) {
      const uint64_t address = entry->d_un.d_ptr;
      // The linker has made it absolute, but for objects whose dynamic section cannot be written.
      strings =
          reinterpret_cast<const char*>(address < map->l_addr ? address + map->l_addr : address);
    }
  }
  return at != 0 && strings != nullptr ? strings + at : "";
}

bool is_library_of(const HookLine& line, const char* name, const char* soname) {
  return same(name, line.library, line.library_bytes) ||
         same(soname, line.library, line.library_bytes);
}

// The slot of a function at an address, made when it is new; null when none is left.
Slot* slot_of(uint32_t hook, const void* original) {
  const uint32_t known = __atomic_load_n(&slot_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < known && i < kMaxHooks; ++i) {
    if (__atomic_load_n(&slots[i].ready, __ATOMIC_ACQUIRE) != 0 && slots[i].original == original &&
        slots[i].hook == hook) {
      return &slots[i];
    }
  }
  // Two threads that bind the same function at once take a slot each: both are right.
  const uint32_t own = __atomic_fetch_add(&slot_count, 1, __ATOMIC_ACQ_REL);
  if (own >= kMaxHooks) {
    __atomic_store_n(&slot_count, static_cast<uint32_t>(kMaxHooks), __ATOMIC_RELEASE);
    return nullptr;
  }
  slots[own].original = original;
  slots[own].hook = hook;
  __atomic_store_n(&slots[own].ready, 1U, __ATOMIC_RELEASE);
  return &slots[own];
}

uint32_t link_core(uint32_t abi, BeginCall begin, EndCall end) {
  if (abi != kLinkAbi) return 0;
  __atomic_store_n(&end_call, end, __ATOMIC_RELEASE);
  __atomic_store_n(&begin_call, begin, __ATOMIC_RELEASE);
  return kLinkAbi;
}

}  // namespace

ROUTE_LOCAL void dctx_device_before(uint32_t slot, CallFrame* frame) {
  const Slot& own = slots[slot];
  frame->original = own.original;
  frame->stack_words = hooks.lines[own.hook].stack_words;
  const BeginCall begin = __atomic_load_n(&begin_call, __ATOMIC_ACQUIRE);
  frame->token = begin != nullptr ? begin(own.hook, frame) : 0;
}

ROUTE_LOCAL void dctx_device_after(const CallFrame* frame) {
  const EndCall end = __atomic_load_n(&end_call, __ATOMIC_ACQUIRE);
  if (frame->token != 0 && end != nullptr) end(frame->token, frame);
}

ROUTE_EXPORT unsigned int la_version(unsigned int offered) {
  return offered < LAV_CURRENT ? offered : LAV_CURRENT;
}

ROUTE_EXPORT unsigned int la_objopen(link_map* map, Lmid_t, uintptr_t* cookie) {
  const char* path = map->l_name != nullptr ? map->l_name : "";
  *cookie = kOther;
  if (is_core(path)) {
    *cookie = kCore;
  } else {
    const char* name = base_name(path);
    const char* soname = own_name(map);
    for (size_t i = 0; i < hooks.count && *cookie == kOther; ++i) {
      if (is_library_of(hooks.lines[i], name, soname)) *cookie = kDevice + i;
    }
  }
  return *cookie == kOther ? LA_FLG_BINDFROM : LA_FLG_BINDFROM | LA_FLG_BINDTO;
}

ROUTE_EXPORT uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned int, uintptr_t*, uintptr_t* to,
                                    unsigned int*, const char* name) {
  if (*to == kCore) {
    if (!same(name, kAuditLink, length(kAuditLink))) return symbol->st_value;
    return reinterpret_cast<uintptr_t>(link_core);
  }
  // The cookie is the first line with this library: others of it may come anywhere behind it.
  const size_t first = *to - kDevice;
  for (size_t i = first; i < hooks.count; ++i) {
    const HookLine& line = hooks.lines[i];
    if (!same(name, line.function, line.function_bytes)) continue;
    const HookLine& library = hooks.lines[first];
    bool same_library = line.library_bytes == library.library_bytes;
    for (size_t c = 0; same_library && c < line.library_bytes; ++c) {
      same_library = line.library[c] == library.library[c];
    }
    if (!same_library) continue;
    const void* original = reinterpret_cast<const void*>(symbol->st_value);
    const Slot* slot = slot_of(static_cast<uint32_t>(i), original);
    if (slot == nullptr) break;
    const size_t number = static_cast<size_t>(slot - slots);
    return reinterpret_cast<uintptr_t>(dctx_device_slots + number * kSlotBytes);
  }
  return symbol->st_value;
}
