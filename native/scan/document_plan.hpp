#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dctx::scan {

enum class CellKind : uint8_t { Integer, Real, Text };

// A column of a table: where its value is below the record. An empty path: the record itself, when
// it is no object; "@key": the key that the record stands under.
struct CellAsk {
  std::string name;
  std::string path;
  CellKind kind;
};

// A table: where its records are. Keys are joined by dots; "[]" is every element of an array, "[2]"
// one of them, "*" every key of an object. `again`: records of the same table stand below a record,
// at that path (a tree).
struct TableAsk {
  std::string name;
  std::string path;
  std::vector<CellAsk> cells;
  std::string again;
};

// The asked places as a tree of steps from the document's root (node 0).
class DocumentPlan {
 public:
  struct Cell {
    uint32_t table;
    uint32_t column;
  };
  struct Node {
    std::vector<std::pair<std::string, int>> keys;
    std::vector<std::pair<uint64_t, int>> elements;
    int any_key = -1;
    int any_element = -1;
    int table = -1;  // a record of this table stands here
    std::vector<Cell> cells;
  };

  // Throws std::invalid_argument for a path that cannot be.
  explicit DocumentPlan(std::vector<TableAsk> tables);

  const std::vector<TableAsk>& tables() const { return tables_; }
  const Node& node(int index) const { return nodes_[static_cast<size_t>(index)]; }
  // The node one step further, -1 when nothing is asked for there.
  int below(int node, std::string_view key) const;
  int below(int node, uint64_t element) const;

 private:
  int walk(int from, std::string_view path);
  int step(int from, std::string_view key);
  int step_element(int from, std::string_view inside);
  int add();

  std::vector<TableAsk> tables_;
  std::vector<Node> nodes_;
};

}  // namespace dctx::scan
