#include "scan/document_plan.hpp"

#include <charconv>
#include <stdexcept>
#include <system_error>

namespace dctx::scan {

DocumentPlan::DocumentPlan(std::vector<TableAsk> tables) : tables_(std::move(tables)) {
  add();
  for (size_t t = 0; t < tables_.size(); ++t) {
    const TableAsk& table = tables_[t];
    const int record = walk(0, table.path);
    if (nodes_[static_cast<size_t>(record)].table >= 0) {
      throw std::invalid_argument("two tables at " + table.path);
    }
    nodes_[static_cast<size_t>(record)].table = static_cast<int>(t);
    if (table.again.empty()) continue;
    const size_t open = table.again.rfind('[');
    if (open == std::string::npos || table.again.substr(open) != "[]") {
      throw std::invalid_argument("records stand again in an array, not at " + table.again);
    }
    const int list = walk(record, std::string_view(table.again).substr(0, open));
    nodes_[static_cast<size_t>(list)].any_element = record;
  }
  // Only now: the cells of a tree's records must not hide the way to the records below.
  for (size_t t = 0; t < tables_.size(); ++t) {
    const TableAsk& table = tables_[t];
    const int record = walk(0, table.path);
    for (size_t c = 0; c < table.cells.size(); ++c) {
      const CellAsk& cell = table.cells[c];
      if (cell.path == "@key") continue;  // set when the record begins
      const int place = walk(record, cell.path);
      nodes_[static_cast<size_t>(place)].cells.push_back(
          {static_cast<uint32_t>(t), static_cast<uint32_t>(c)});
    }
  }
}

int DocumentPlan::below(int node, std::string_view key) const {
  const Node& from = nodes_[static_cast<size_t>(node)];
  for (const auto& [name, next] : from.keys) {
    if (name == key) return next;
  }
  return from.any_key;
}

int DocumentPlan::below(int node, uint64_t element) const {
  const Node& from = nodes_[static_cast<size_t>(node)];
  for (const auto& [index, next] : from.elements) {
    if (index == element) return next;
  }
  return from.any_element;
}

int DocumentPlan::walk(int from, std::string_view path) {
  while (!path.empty()) {
    if (path.front() == '.') {
      path.remove_prefix(1);
    } else if (path.front() == '[') {
      const size_t close = path.find(']');
      if (close == std::string_view::npos) throw std::invalid_argument("a path lacks its ]");
      from = step_element(from, path.substr(1, close - 1));
      path.remove_prefix(close + 1);
    } else {
      const size_t end = path.find_first_of(".[");
      from = step(from, path.substr(0, end));
      path.remove_prefix(end == std::string_view::npos ? path.size() : end);
    }
  }
  return from;
}

int DocumentPlan::step(int from, std::string_view key) {
  const Node& node = nodes_[static_cast<size_t>(from)];
  if (key == "*") {
    if (node.any_key >= 0) return node.any_key;
    const int next = add();
    return nodes_[static_cast<size_t>(from)].any_key = next;
  }
  for (const auto& [name, next] : node.keys) {
    if (name == key) return next;
  }
  const int next = add();
  nodes_[static_cast<size_t>(from)].keys.emplace_back(key, next);
  return next;
}

int DocumentPlan::step_element(int from, std::string_view inside) {
  const Node& node = nodes_[static_cast<size_t>(from)];
  if (inside.empty()) {
    if (node.any_element >= 0) return node.any_element;
    const int next = add();
    return nodes_[static_cast<size_t>(from)].any_element = next;
  }
  uint64_t index = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error != std::errc() || end != inside.data() + inside.size()) {
    throw std::invalid_argument("a path has [" + std::string(inside) + "]");
  }
  for (const auto& [known, next] : node.elements) {
    if (known == index) return next;
  }
  const int next = add();
  nodes_[static_cast<size_t>(from)].elements.emplace_back(index, next);
  return next;
}

int DocumentPlan::add() {
  nodes_.emplace_back();
  return static_cast<int>(nodes_.size() - 1);
}

}  // namespace dctx::scan
