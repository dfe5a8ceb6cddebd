#pragma once
#include <cstddef>
#include <cstdint>

// What the two small libraries that stand in the way of a device's functions (route/) and the core
// say to each other. Plain structures: the audit library lives in a link namespace of its own, with
// no runtime library.
namespace dctx::device {

constexpr uint32_t kLinkAbi = 1;
constexpr size_t kMaxHooks = 256;        // the assembler makes so many trampolines
constexpr uint64_t kMaxStackWords = 12;  // a function has at most so many arguments

// A call as its trampoline keeps it, on the stack of the call; the assembler knows these offsets.
struct CallFrame {
  uint64_t integers[6];       // 0: rdi, rsi, rdx, rcx, r8, r9
  double floats[8][2];        // 48: xmm0 to xmm7
  uint64_t vector_count;      // 176: rax
  uint64_t static_chain;      // 184: r10
  const void* original;       // 192: what to call
  uint64_t stack_words;       // 200: arguments on the caller's stack
  uint64_t token;             // 208: of the begin; 0: nobody is told of the end
  const uint64_t* stack;      // 216: those arguments
  uint64_t result[2];         // 224: rax, rdx
  double float_result[2][2];  // 240: xmm0, xmm1
  uint64_t reserved[2];       // 272
};
static_assert(sizeof(CallFrame) == 288 && offsetof(CallFrame, floats) == 48 &&
              offsetof(CallFrame, vector_count) == 176 && offsetof(CallFrame, original) == 192 &&
              offsetof(CallFrame, token) == 208 && offsetof(CallFrame, result) == 224 &&
              offsetof(CallFrame, float_result) == 240);

// The core's side, on the thread of the call. `begin` returns the token that `end` gets.
using BeginCall = uint64_t (*)(uint32_t hook, const CallFrame* frame);
using EndCall = void (*)(uint64_t token, const CallFrame* frame);

// How the core hands over its side. Returns kLinkAbi; 0 when nothing stands in the way.
using Link = uint32_t (*)(uint32_t abi, BeginCall begin, EndCall end);

// The core exports a Link of its own under this name, which returns 0. It looks the name up: where
// the audit library is loaded, that answers with its own.
constexpr const char* kAuditLink = "dctx_device_audit_link";
// The preload library exports its Link under this name.
constexpr const char* kPreloadLink = "dctx_device_preload_link";

// The table of hooks, a text file named by this variable of the environment. Line n is hook n:
// the library's name, a tab, the function's name, a tab, words of arguments on the stack, a tab,
// and what a call returns where no library has the function (0 or -1).
constexpr const char* kHooksVariable = "DCTX_DEVICE_HOOKS";

}  // namespace dctx::device
