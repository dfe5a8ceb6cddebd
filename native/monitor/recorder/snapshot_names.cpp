#include <string_view>
#include <vector>

#include "monitor/recorder/call_rows.hpp"
#include "monitor/recorder/chunks.hpp"
#include "monitor/recorder/snapshot.hpp"
#include "monitor/recorder/table.hpp"

// The tables of names that rows of other tables refer to.
namespace dctx::monitor {

using Integers = std::vector<int64_t>;

// What only the past needed (a parent's trees, our own measurements) need not be in the file.
UsedNames SnapshotWriter::used_names(const std::vector<const ThreadRecord*>& threads,
                                     const std::vector<ThreadCounts>& counts,
                                     const std::vector<gpu::WorkRow>& work,
                                     const std::vector<gpu::SampleRow>& samples) {
  UsedNames used;
  used.codes.resize(registry_.codes().size());
  std::vector<uint64_t> strings;
  for (const gpu::WorkRow& row : work) strings.push_back(row.key.name);
  for (const gpu::SampleRow& row : samples) {
    strings.insert(strings.end(), {row.key.kernel, row.key.function, row.key.reason});
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    const ThreadRecord& record = *threads[i];
    strings.push_back(record.name);
    for (uint32_t node = 0; node < counts[i].nodes; ++node) {
      const NodeView view = record.store.view(node);
      if (view.kind == NodeKind::python) {
        used.codes[view.label] = true;
      } else if (view.kind != NodeKind::native) {
        strings.push_back(view.label);
      }
    }
  }
  for (uint32_t id = 0; id < used.codes.size(); ++id) {
    if (!used.codes[id]) continue;
    strings.push_back(registry_.codes().view(id).file);
    strings.push_back(registry_.codes().view(id).function);
  }
  for (uint32_t id = 0; id < registry_.modules().size(); ++id) {
    strings.push_back(registry_.modules().view(id).path);
    strings.push_back(registry_.modules().view(id).build_id);
  }
  for (uint32_t id = 0; id < registry_.arguments().size(); ++id) {
    strings.push_back(registry_.arguments().view(id).shapes);
    const uint32_t types = registry_.arguments().view(id).types;
    if (types != kNoNode) strings.push_back(types);
  }
  used.strings.resize(registry_.strings().size());
  for (const uint64_t id : strings) used.strings[id] = true;
  return used;
}

void SnapshotWriter::append_names(std::string& out, const UsedNames* used) {
  const uint32_t codes = registry_.codes().size();
  const uint32_t arguments = registry_.arguments().size();
  const uint32_t modules = registry_.modules().size();
  const uint32_t strings = registry_.strings().size();
  if (strings > strings_) {
    std::vector<std::string_view> texts;
    for (uint32_t id = strings_; id < strings; ++id) {
      const bool kept = used == nullptr || (id < used->strings.size() && used->strings[id]);
      texts.push_back(kept ? registry_.strings().text(id) : std::string_view());
    }
    Table table(texts.size(), strings_, 0);
    table.texts(0, texts);
    chunk(out, kStrings, table.content());
  }
  if (codes > codes_) {
    Integers file, function, line;
    for (uint32_t id = codes_; id < codes; ++id) {
      CodeView code = registry_.codes().view(id);
      if (used != nullptr && (id >= used->codes.size() || !used->codes[id])) code = {};
      file.push_back(code.file);
      function.push_back(code.function);
      line.push_back(code.first_line);
    }
    Table table(file.size(), codes_, 0);
    table.integers(0, file);
    table.integers(1, function);
    table.integers(2, line);
    chunk(out, kCodes, table.content());
  }
  if (modules > modules_) {
    Integers path, build_id;
    for (uint32_t id = modules_; id < modules; ++id) {
      const ModuleView module = registry_.modules().view(id);
      path.push_back(module.path);
      build_id.push_back(module.build_id);
    }
    Table table(path.size(), modules_, 0);
    table.integers(0, path);
    table.integers(1, build_id);
    chunk(out, kModules, table.content());
  }
  if (arguments > arguments_) {
    chunk(out, kArguments, argument_table(registry_.arguments(), arguments_, arguments));
  }
  strings_ = strings;
  codes_ = codes;
  arguments_ = arguments;
  modules_ = modules;
}

}  // namespace dctx::monitor
