#pragma once
#include <array>
#include <cstdint>

#include "monitor/engine/python_source.hpp"
#include "monitor/engine/registry.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {

struct FramePlace {
  const void* code;
  uint64_t position;  // of the instruction that runs
};

// PythonSource over any representation of frames. `Frames` has static functions:
//   const void* leaf();  const void* caller(const void* frame);  // frames of code that has begun
//   const void* previous(const void* frame);  // the same, and frames of code that has not
//   const void* innermost();  const void* begun(const void* frame);  // as of PythonSource
//   bool complete(const void* frame);         // tells the two apart; follows from the place
//   FramePlace place(const void* frame);  int32_t line(const void* frame);
//   uint64_t fingerprint(const void* code);   // tells code objects apart that had the same address
//                                             // one after another
//   uint64_t code_age();  // the same as before: no code object has ended since. 0: not known
//   bool from_c(const void* frame);
//   CodeView describe(const void* frame);   // may allocate and lock: called for new code only
template <class Frames>
class FrameWalk {
 public:
  static constexpr uint32_t kMaxFrames = 1024;
  static constexpr uint32_t kKeptFrames = 512;  // the innermost ones of a deeper stack

  static const PythonSource* source() {
    static constexpr PythonSource kSource{Frames::leaf,   Frames::innermost, Frames::begun,
                                          Frames::caller, scope_frame,       path,
                                          standing,       Frames::from_c,    child};
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
    const void* const code = Frames::place(frame).code;
    uint64_t hash =
        Frames::fingerprint(code) * kFactor + reinterpret_cast<uintptr_t>(code) * kOther;
    const void* at = Frames::previous(frame);
    for (uint32_t depth = 0; at != nullptr && depth < kMaxFrames; ++depth) {
      const FramePlace place = Frames::place(at);
      hash = (hash ^ (place.position + reinterpret_cast<uintptr_t>(at)) * kFactor) * kFactor +
             reinterpret_cast<uintptr_t>(place.code) * kOther;
      at = Frames::previous(at);
    }
    return mix_bits(hash) | 1;
  }

  // While no code object ends, two stacks with the same places are the same path: most events need
  // not look at the code at all.
  static uint32_t path(ThreadRecord& record, uint32_t base, const void* leaf, PythonStop until) {
    const uint64_t age = Frames::code_age();
    if (age == 0) return compared_path(record, base, leaf, until);
    const void* frame = leaf;
    uint64_t hash = base * kOther;
    uint32_t depth = 0;
    for (; frame != nullptr && frame != until.frame && depth < kMaxFrames; ++depth) {
      const FramePlace place = Frames::place(frame);
      hash = (hash ^ place.position * kFactor) * kFactor +
             reinterpret_cast<uintptr_t>(place.code) * kOther;
      frame = Frames::previous(frame);
    }
    const bool met = frame == until.frame && depth > 0 &&
                     (until.standing == 0 || standing(frame) == until.standing);
    if (!met) return compared_path(record, base, leaf, until);
    const uint64_t key = mix_bits(hash);
    const void* const code = Frames::place(leaf).code;
    const uint32_t known = record.recent_paths.find(key, age, depth, code);
    if (known != kNoNode) return known;
    const uint32_t node = compared_path(record, base, leaf, until);
    record.recent_paths.insert(key, age, depth, code, node);
    return node;
  }

  // The same, with a look at the code of every frame.
  [[gnu::noinline]] static uint32_t compared_path(ThreadRecord& record, uint32_t base,
                                                  const void* leaf, PythonStop until) {
    const void* const stop = until.frame;
    uint64_t hash = 0;
    uint64_t kept_hash = 0;
    uint32_t depth = 0;
    const void* frame = leaf;
    const void* leaf_code = nullptr;
    for (; frame != nullptr && frame != stop && depth < kMaxFrames; ++depth) {
      const FramePlace place = Frames::place(frame);
      if (depth == 0) leaf_code = place.code;
      if (depth == kKeptFrames) kept_hash = hash;
      // Independent products: the loop waits for memory, not for the multiplier. A fingerprint may
      // be a small number, so that adding it to the position would make other places of it.
      const uint64_t which = Frames::fingerprint(place.code) * kThird;
      hash = (hash ^ (place.position + which) * kFactor) * kFactor +
             reinterpret_cast<uintptr_t>(place.code) * kOther;
      frame = Frames::previous(frame);
    }
    if (frame == stop && until.standing != 0 && standing(frame) != until.standing) {
      Registry::instance().losses().add(Loss::detached);
      return compared_path(record, 0, leaf, {});
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
    const void* const code = Frames::place(frame).code;
    const uint64_t fingerprint = Frames::fingerprint(code);
    const uint32_t known = record.codes.find(code, fingerprint);
    if (known != CodeCache::kNone) return known;
    const uint32_t id = Registry::instance().codes().intern(Frames::describe(frame));
    record.codes.insert(code, fingerprint, id);
    return id;
  }

  static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  static constexpr uint64_t kOther = 0xd6e8feb86659fd93ULL;
  static constexpr uint64_t kThird = 0xa0761d6478bd642fULL;
};

}  // namespace dctx::monitor
