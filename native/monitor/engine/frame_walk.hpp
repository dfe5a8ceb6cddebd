#pragma once
#include <array>
#include <cstdint>

#include "monitor/engine/python_source.hpp"
#include "monitor/engine/registry.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {

struct FrameKey {
  const void* code;
  uint64_t fingerprint;  // tells code objects apart that had the same address one after another
  uint64_t position;     // of the instruction that runs
};

// PythonSource over any representation of frames. `Frames` has static functions:
//   const void* leaf();  const void* caller(const void* frame);  // frames of code that has begun
//   const void* previous(const void* frame);  // the same, and frames of code that has not
//   bool complete(const void* frame);         // tells the two apart; lies in the key
//   FrameKey key(const void* frame);  int32_t line(const void* frame);
//   bool from_c(const void* frame);
//   CodeView describe(const void* frame);   // may allocate and lock: called for new code only
template <class Frames>
class FrameWalk {
 public:
  static constexpr uint32_t kMaxFrames = 1024;
  static constexpr uint32_t kKeptFrames = 512;  // the innermost ones of a deeper stack

  static const PythonSource* source() {
    static constexpr PythonSource kSource{Frames::leaf, Frames::caller, scope_frame, path,
                                          standing,     Frames::from_c, child};
    return &kSource;
  }

 private:
  static const void* scope_frame(ThreadRecord& record, const void* leaf, const void* stop) {
    const void* frame = leaf;
    while (frame != nullptr && frame != stop) {
      const void* caller = Frames::caller(frame);
      if (role(record, frame) != ScopeRole::none) {
        frame = caller;
      } else if (caller != nullptr && caller != stop && role(record, caller) == ScopeRole::enters) {
        frame = Frames::caller(caller);
      } else {
        return frame;
      }
    }
    return leaf;
  }

  static ScopeRole role(ThreadRecord& record, const void* frame) {
    return Registry::instance().codes().view(code_id(record, frame)).role;
  }

  static uint64_t standing(const void* frame) {
    const FrameKey own = Frames::key(frame);
    uint64_t hash = own.fingerprint * kFactor + reinterpret_cast<uintptr_t>(own.code) * kOther;
    const void* at = Frames::previous(frame);
    for (uint32_t depth = 0; at != nullptr && depth < kMaxFrames; ++depth) {
      const FrameKey key = Frames::key(at);
      hash = (hash ^ (key.position + reinterpret_cast<uintptr_t>(at)) * kFactor) * kFactor +
             reinterpret_cast<uintptr_t>(key.code) * kOther;
      at = Frames::previous(at);
    }
    return mix_bits(hash) | 1;
  }

  static uint32_t path(ThreadRecord& record, uint32_t base, const void* leaf, PythonStop until) {
    const void* const stop = until.frame;
    uint64_t hash = 0;
    uint64_t kept_hash = 0;
    uint32_t depth = 0;
    const void* frame = leaf;
    const void* leaf_code = nullptr;
    for (; frame != nullptr && frame != stop && depth < kMaxFrames; ++depth) {
      const FrameKey key = Frames::key(frame);
      if (depth == 0) leaf_code = key.code;
      if (depth == kKeptFrames) kept_hash = hash;
      // Two independent products: the loop waits for memory, not for the multiplier.
      hash = (hash ^ (key.position + key.fingerprint) * kFactor) * kFactor +
             reinterpret_cast<uintptr_t>(key.code) * kOther;
      frame = Frames::previous(frame);
    }
    if (frame == stop && until.standing != 0 && standing(frame) != until.standing) {
      Registry::instance().losses().add(Loss::detached);
      return path(record, 0, leaf, {});
    }
    if (frame != stop) {
      if (frame == nullptr) {
        Registry::instance().losses().add(Loss::detached);
        base = 0;
      } else {
        Registry::instance().losses().add(Loss::elided);
        base = record.store.child(base, NodeKind::elided, 0, 0);
        hash = kept_hash;
        depth = kKeptFrames;
      }
    }
    if (depth == 0) return base;
    const uint64_t key = mix_bits(hash ^ mix_bits(base));
    const uint32_t known = record.paths.find(key, depth, leaf_code);
    if (known != kNoNode) return known;
    const uint32_t node = resolve(record, base, leaf, depth);
    record.paths.insert(key, depth, leaf_code, node);
    return node;
  }

  [[gnu::noinline]] static uint32_t resolve(ThreadRecord& record, uint32_t base, const void* leaf,
                                            uint32_t depth) {
    std::array<const void*, kMaxFrames> frames;
    const void* frame = leaf;
    for (uint32_t i = 0; i < depth; ++i, frame = Frames::previous(frame)) frames[i] = frame;
    uint32_t node = base;
    for (uint32_t i = depth; i-- > 0;) {
      if (Frames::complete(frames[i])) node = child(record, node, frames[i]);
    }
    return node;
  }

  static uint32_t child(ThreadRecord& record, uint32_t parent, const void* frame) {
    if (role(record, frame) == ScopeRole::wraps) return parent;
    return record.store.child(parent, NodeKind::python, code_id(record, frame),
                              Frames::line(frame));
  }

  static uint32_t code_id(ThreadRecord& record, const void* frame) {
    const FrameKey key = Frames::key(frame);
    const uint32_t known = record.codes.find(key.code, key.fingerprint);
    if (known != CodeCache::kNone) return known;
    const uint32_t id = Registry::instance().codes().intern(Frames::describe(frame));
    record.codes.insert(key.code, key.fingerprint, id);
    return id;
  }

  static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  static constexpr uint64_t kOther = 0xd6e8feb86659fd93ULL;
};

}  // namespace dctx::monitor
