#pragma once
// An interpreter's stack of frames for the tests of the engine: each thread has its own.
#include <deque>
#include <string>
#include <vector>

#include "monitor/engine/events.hpp"
#include "monitor/engine/frame_walk.hpp"

namespace dctx_test {

struct Code {
  std::string file;
  std::string function;
  int first_line = 1;
  dctx::monitor::ScopeRole role = dctx::monitor::ScopeRole::none;
};

struct Frame {
  const Code* code;
  int line;
  const Frame* caller;
};

inline thread_local std::deque<Frame> frame_stack;
inline thread_local int described = 0;     // how often a code's content was read
inline thread_local int fingerprints = 0;  // how often a code was compared
inline thread_local uint64_t code_age_told = 0;

struct FakeFrames {
  static const void* leaf() { return frame_stack.empty() ? nullptr : &frame_stack.back(); }
  static const void* caller(const void* frame) { return static_cast<const Frame*>(frame)->caller; }
  static const void* previous(const void* frame) { return caller(frame); }
  static bool complete(const void*) { return true; }
  static const void* innermost() { return leaf(); }
  static const void* begun(const void* frame) { return frame; }
  static dctx::monitor::FramePlace place(const void* frame) {
    const auto* at = static_cast<const Frame*>(frame);
    return {at->code, static_cast<uint64_t>(at->line)};
  }
  static uint64_t fingerprint(const void* code) {
    ++fingerprints;
    return static_cast<uint64_t>(static_cast<const Code*>(code)->first_line);
  }
  static uint64_t code_age() { return code_age_told; }
  static bool from_c(const void* frame) { return caller(frame) == nullptr; }
  static int32_t line(const void* frame) { return static_cast<const Frame*>(frame)->line; }
  static dctx::monitor::CodeView describe(const void* frame) {
    ++described;
    const Code& code = *static_cast<const Frame*>(frame)->code;
    auto& strings = dctx::monitor::Registry::instance().strings();
    return {strings.intern(code.file), strings.intern(code.function), code.first_line, code.role};
  }
};

// A call that lasts as long as the object.
class Call {
 public:
  Call(const Code& code, int line) {
    const Frame* caller = frame_stack.empty() ? nullptr : &frame_stack.back();
    frame_stack.push_back({&code, line, caller});
  }
  ~Call() { frame_stack.pop_back(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  void at(int line) { frame_stack.back().line = line; }
};

// A node as text, its ancestors included: "main.py:3 main > aten::mm".
inline std::string path_text(const dctx::monitor::ThreadStore& store, uint32_t node) {
  using dctx::monitor::NodeKind;
  auto& registry = dctx::monitor::Registry::instance();
  std::string text;
  for (uint32_t at = node; at != 0; at = store.parent(at)) {
    const dctx::monitor::NodeView view = store.view(at);
    std::string name;
    switch (view.kind) {
      case NodeKind::python: {
        const auto code = registry.codes().view(static_cast<uint32_t>(view.label));
        name = std::string(registry.strings().text(code.file)) + ":" + std::to_string(view.line) +
               " " + std::string(registry.strings().text(code.function));
        break;
      }
      case NodeKind::other:
        name = "[other]";
        break;
      case NodeKind::elided:
        name = "[elided]";
        break;
      default:
        name = registry.strings().text(static_cast<uint32_t>(view.label));
        if (view.kind == NodeKind::backward_op) name += " (backward)";
    }
    text = text.empty() ? name : name + " > " + text;
  }
  return text;
}

// The nodes that counted events, as lines "count path", in the order in which they were made.
inline std::vector<std::string> counted_paths(const dctx::monitor::ThreadStore& store) {
  std::vector<std::string> lines;
  for (uint32_t node = 0; node < store.node_count(); ++node) {
    const uint64_t count = store.metrics(node).count;
    if (count > 0) lines.push_back(std::to_string(count) + " " + path_text(store, node));
  }
  return lines;
}

using dctx::monitor::ThreadRecord;

inline dctx::monitor::Registry& registry() { return dctx::monitor::Registry::instance(); }

inline ThreadRecord& begin_recording() {
  registry().clear();
  registry().start({});
  return *registry().current();
}

class Op {
 public:
  Op(ThreadRecord& record, const char* name, int64_t sequence = -1) : record_(record) {
    begin_operator(record, this, operator_name(record, name), sequence);
  }
  ~Op() { end_event(record_, this); }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

 private:
  ThreadRecord& record_;
};

}  // namespace dctx_test
