// The LD_PRELOAD route: a library that `dctx record` writes for the run exports the functions of
// the table and leads each of them, with its number, to dctx_device_enter here. This library comes
// behind that one in LD_PRELOAD, so that the next symbol is the device's own. Uses the C library
// only: it is loaded into every program of the command.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "monitor/gpu/custom/route/hook_table.hpp"

#define ROUTE_EXPORT extern "C" __attribute__((visibility("default")))
#define ROUTE_LOCAL extern "C" __attribute__((visibility("hidden")))

namespace {

using namespace dctx::device;

constexpr size_t kNameBytes = 1024;

HookTable hooks;
std::atomic<const void*> originals[kMaxHooks];
std::atomic<BeginCall> begin_call{nullptr};
std::atomic<EndCall> end_call{nullptr};
std::atomic<bool> told{false};

// The bytes stay mapped: the table points there.
void read_hooks() {
  const char* const path = getenv(kHooksVariable);
  const int file = path != nullptr ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  struct stat facts{};
  if (fstat(file, &facts) == 0 && facts.st_size > 0) {
    const auto size = static_cast<size_t>(facts.st_size);
    void* const text = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (text != MAP_FAILED) parse_hooks(static_cast<const char*>(text), size, &hooks);
  }
  close(file);
}

// The first call may come before constructors ran.
const HookLine* line_of(uint32_t hook) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_hooks);
  return hook < hooks.count ? &hooks.lines[hook] : nullptr;
}

// `out` has kNameBytes; false when the text is longer.
bool copy_name(const char* text, size_t bytes, char* out) {
  if (bytes >= kNameBytes) return false;
  memcpy(out, text, bytes);
  out[bytes] = '\0';
  return true;
}

// The device's own function, or null where no library has it (yet).
const void* original_of(uint32_t hook, const HookLine& line) {
  const void* known = originals[hook].load(std::memory_order_acquire);
  if (known != nullptr) return known;
  char library[kNameBytes], function[kNameBytes];
  if (!copy_name(line.library, line.library_bytes, library) ||
      !copy_name(line.function, line.function_bytes, function)) {
    return nullptr;
  }
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  const void* found = dlsym(handle != nullptr ? handle : RTLD_NEXT, function);
  if (found != nullptr) originals[hook].store(found, std::memory_order_release);
  return found;
}

// What stands for a function that no library has. The program would not have started, or would have
// found no such function: it is told that the call failed.
uint64_t absent_zero() { return 0; }
uint64_t absent_failed() { return ~uint64_t{0}; }

void say(const char* text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(STDERR_FILENO, text, bytes);
    if (written <= 0) return;
    text += written;
    bytes -= static_cast<size_t>(written);
  }
}

const void* absent(const HookLine* line) {
  if (!told.exchange(true)) {
    constexpr char kWhat[] = ": no loaded library has this function of the device file\n";
    say("dctx: ", 6);
    if (line != nullptr) say(line->function, line->function_bytes);
    say(kWhat, sizeof kWhat - 1);
  }
  return reinterpret_cast<const void*>(line != nullptr && line->absent == 0 ? absent_zero
                                                                            : absent_failed);
}

}  // namespace

ROUTE_LOCAL void dctx_device_before(uint32_t hook, CallFrame* frame) {
  const HookLine* const line = line_of(hook);
  const void* const original = line != nullptr ? original_of(hook, *line) : nullptr;
  frame->stack_words = 0;
  frame->token = 0;
  frame->original = original != nullptr ? original : absent(line);
  if (original == nullptr) return;
  frame->stack_words = line->stack_words;
  const BeginCall begin = begin_call.load(std::memory_order_acquire);
  if (begin != nullptr) frame->token = begin(hook, frame);
}

ROUTE_LOCAL void dctx_device_after(const CallFrame* frame) {
  const EndCall end = end_call.load(std::memory_order_acquire);
  if (frame->token != 0 && end != nullptr) end(frame->token, frame);
}

ROUTE_EXPORT uint32_t dctx_device_preload_link(uint32_t abi, BeginCall begin, EndCall end) {
  if (abi != kLinkAbi) return 0;
  end_call.store(end, std::memory_order_release);
  begin_call.store(begin, std::memory_order_release);
  return kLinkAbi;
}
