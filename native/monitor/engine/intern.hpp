#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "monitor/engine/published.hpp"

namespace dctx::monitor {

// Dense ids of distinct texts, over all threads. The lock is taken to add or to find, never to
// read a text by its id.
class StringTable {
 public:
  StringTable();

  uint32_t intern(std::string_view text);
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  // Ends with a NUL, lives as long as the process. For ids below a size that was read.
  std::string_view text(uint32_t id) const { return *rows_[id]; }
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  Published<std::unique_ptr<const std::string>> rows_;
};

// What a function has to do with user scopes: the frames that only open one are left out of paths.
enum class ScopeRole : uint8_t {
  none,
  opens,   // of a framework, around the call that opens the scope
  wraps,   // runs a decorated function inside a scope: says nothing anywhere in a path
  enters,  // runs a generator up to its yield: what is opened there lasts longer than the call
};

// A function of the program, told by its content: code objects come and go, and their addresses
// are used again.
struct CodeView {
  uint32_t file;      // string ids
  uint32_t function;  // qualified name
  int32_t first_line;
  ScopeRole role;
};

class CodeTable {
 public:
  uint32_t intern(const CodeView& code);
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  CodeView view(uint32_t id) const { return rows_[id]; }
  std::mutex& mutex() { return mutex_; }

 private:
  struct Hash {
    size_t operator()(const CodeView& code) const;
  };
  struct Equal {
    bool operator()(const CodeView& a, const CodeView& b) const {
      return a.file == b.file && a.function == b.function && a.first_line == b.first_line;
    }
  };
  std::mutex mutex_;
  std::unordered_map<CodeView, uint32_t, Hash, Equal> ids_;
  Published<CodeView> rows_;
};

// A loaded library: native nodes name it and an offset.
struct ModuleView {
  uint32_t path;      // string ids
  uint32_t build_id;  // hexadecimal; empty when the file has none
  uint64_t low;       // addresses [low, high) when it was seen
  uint64_t high;
};

class ModuleTable {
 public:
  uint32_t intern(const ModuleView& module);
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  ModuleView view(uint32_t id) const { return rows_[id]; }
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  Published<ModuleView> rows_;
};

}  // namespace dctx::monitor
