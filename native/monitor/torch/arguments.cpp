#include "monitor/torch/arguments.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "monitor/engine/registry.hpp"

namespace dctx::monitor {
namespace {

using Sizes = std::vector<std::vector<int64_t>>;
using Types = std::vector<std::string>;

// Told apart by their bytes; unlike JSON they cost no formatting.
void append_key(std::string& key, const Sizes& sizes, const Types& types) {
  for (const std::vector<int64_t>& dims : sizes) {
    const size_t count = dims.size();
    key.append(reinterpret_cast<const char*>(&count), sizeof count);
    key.append(reinterpret_cast<const char*>(dims.data()), count * sizeof(int64_t));
  }
  for (const std::string& type : types) {
    key += type;
    key += '\0';
  }
}

std::string json(const Sizes& sizes) {
  std::string out = "[";
  for (const std::vector<int64_t>& dims : sizes) {
    out += out.size() > 1 ? ", [" : "[";
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i > 0) out += ", ";
      out += std::to_string(dims[i]);
    }
    out += ']';
  }
  return out + "]";
}

// Names of types are plain words: nothing in them needs escaping. Others are left out.
std::string json(const Types& types) {
  std::string out = "[";
  for (const std::string& type : types) {
    out += out.size() > 1 ? ", \"" : "\"";
    for (const char c : type) {
      if (c >= ' ' && c != '"' && c != '\\') out += c;
    }
    out += '"';
  }
  return out + "]";
}

Types types_of(const TorchSymbols& torch, const TorchEvent& event) {
  return torch.input_types != nullptr ? torch.input_types(event) : Types();
}

}  // namespace

void note_arguments(ThreadRecord& record, const TorchSymbols& torch, const TorchEvent& event) {
  if (record.open.empty()) return;
  const OpenEvent& begun = record.open.back();
  const bool placed = begun.identity == &event && begun.node != kNoNode;
  if (!placed || begun.kind == NodeKind::scope) return;
  const Sizes sizes = torch.input_sizes(event, false);
  const Types types = types_of(torch, event);
  if (sizes.empty()) return;
  thread_local std::string key;
  key.clear();
  append_key(key, sizes, types);
  const uint32_t row = record.arguments.row(begun.node, key, [&] {
    Registry& registry = Registry::instance();
    const uint32_t shapes = registry.strings().intern(json(sizes));
    const bool typed = torch.input_types != nullptr;
    return registry.arguments().intern(
        {shapes, typed ? registry.strings().intern(json(types)) : kNoNode});
  });
  record.open.back().arguments = row;
}

std::string arguments_text(const TorchSymbols& torch, const TorchEvent& event) {
  const std::string types = torch.input_types != nullptr ? json(types_of(torch, event)) : "";
  return json(torch.input_sizes(event, false)) + "\n" + types;
}

}  // namespace dctx::monitor
