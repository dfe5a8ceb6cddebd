#include "scan/btree.hpp"

#include <algorithm>
#include <utility>

#include "scan/bytes.hpp"
#include "scan/parallel.hpp"

namespace dctx::scan {
namespace {

constexpr size_t kMaxDepth = 20;  // SQLite's own limit

// Depth-first over the interior pages, left to right, so that the leaves come in key order.
class Walk {
 public:
  Walk(const PageFile& file, LeafList& out)
      : file_(file),
        out_(out),
        visited_(size_t{file.pages_present()} + 1),
        page_(file.page_size()) {}

  void run(uint32_t root) {
    uint8_t type = 0;
    if (!claim(root, root, 0) || !type_of(root, root, 0, type)) return;
    if (type == kLeafTable) {
      out_.pages.push_back(root);
      return;
    }
    if (!push(root)) return;
    while (!stack_.empty()) {
      Level& level = stack_.back();
      if (level.next == level.children.size()) {
        stack_.pop_back();
        continue;
      }
      const auto [child, offset] = level.children[level.next++];
      const uint32_t parent = level.page;
      if (!claim(child, parent, offset)) return;
      if (level.leaves) {
        out_.pages.push_back(child);
      } else if (!push(child)) {
        return;
      }
    }
  }

 private:
  struct Child {
    uint32_t page;
    uint32_t offset;  // of the pointer, in the parent
  };
  struct Level {
    uint32_t page;
    std::vector<Child> children;
    size_t next = 0;
    bool leaves = false;
  };

  bool fail(uint32_t page, uint32_t offset, std::string reason) {
    out_.damage = {page, offset, std::move(reason)};
    return false;
  }

  // Checks a pointer to `page` found at `offset` of `parent`.
  bool claim(uint32_t page, uint32_t parent, uint32_t offset) {
    if (page < 1 || page > file_.page_count()) {
      return fail(
          parent, offset,
          "pointer to page " + std::to_string(page) + " of " + std::to_string(file_.page_count()));
    }
    if (page > file_.pages_present()) {
      return fail(page, 0, "the file ends before this page");
    }
    if (visited_[page]) return fail(parent, offset, "page " + std::to_string(page) + " twice");
    visited_[page] = true;
    return true;
  }

  bool type_of(uint32_t page, uint32_t parent, uint32_t offset, uint8_t& type) {
    if (page < 1 || page > file_.pages_present()) {
      type = kLeafTable;  // claim() reports it when its turn comes
      return true;
    }
    if (!file_.read(file_.offset_of(page) + header_offset(page), &type, 1)) {
      return fail(page, 0, "the page cannot be read");
    }
    if (type == kInteriorTable || type == kLeafTable) return true;
    if (page == parent) return fail(page, offset, "not a table page");
    type = kLeafTable;  // the leaf check reports it, after the leaves before it
    return true;
  }

  bool push(uint32_t page) {
    if (stack_.size() == kMaxDepth) return fail(page, 0, "the tree is deeper than 20 levels");
    if (!file_.read_page(page, page_.data())) return fail(page, 0, "the page cannot be read");
    const uint32_t start = header_offset(page);
    const uint8_t* header = page_.data() + start;
    if (header[0] != kInteriorTable) {
      return fail(page, start, "an interior page of the table was expected here");
    }
    const uint32_t cells = load16(header + 3);
    const uint32_t pointers = start + 12;
    if (pointers + 2 * cells > file_.usable_size()) {
      return fail(page, start + 3, "more cells than fit the page");
    }
    Level level;
    level.page = page;
    level.children.reserve(cells + 1);
    for (uint32_t i = 0; i < cells; ++i) {
      const uint32_t cell = load16(page_.data() + pointers + 2 * i);
      if (cell < pointers + 2 * cells || cell + 5 > file_.usable_size()) {
        return fail(page, pointers + 2 * i, "cell pointer outside the page");
      }
      level.children.push_back({load32(page_.data() + cell), cell});
    }
    level.children.push_back({load32(header + 8), start + 8});
    uint8_t type = 0;
    const Child& first = level.children.front();
    if (!type_of(first.page, page, first.offset, type)) return false;
    level.leaves = type == kLeafTable;  // all leaves of a b-tree are on one level
    stack_.push_back(std::move(level));
    return true;
  }

  const PageFile& file_;
  LeafList& out_;
  std::vector<bool> visited_;
  std::vector<uint8_t> page_;
  std::vector<Level> stack_;
};

}  // namespace

Corrupt::Corrupt(std::string table_name, Damage found, uint64_t rows)
    : std::runtime_error("table " + table_name + ", page " + std::to_string(found.page) +
                         ", offset " + std::to_string(found.offset) + ": " + found.reason),
      table(std::move(table_name)),
      damage(std::move(found)),
      rows_recovered(rows) {}

LeafList list_leaves(const PageFile& file, uint32_t root_page) {
  LeafList leaves;
  Walk(file, leaves).run(root_page);
  return leaves;
}

LeafHeader leaf_header(const PageFile& file, uint32_t page, const uint8_t* header) {
  LeafHeader out;
  if (header[0] != kLeafTable) {
    out.error = "a leaf page of the table was expected here";
    return out;
  }
  out.cells = load16(header + 3);
  // A cell takes at least four bytes, and two for the pointer to it.
  if (header_offset(page) + 8 + 6 * out.cells > file.usable_size()) {
    out.error = "more cells than fit the page";
  }
  return out;
}

std::vector<uint64_t> count_rows(const PageFile& file, LeafList& leaves, unsigned threads) {
  std::vector<uint64_t> first_row(leaves.pages.size() + 1);
  const auto parts = split(leaves.pages.size(), threads);
  std::vector<std::pair<size_t, Damage>> found(parts.size());
  run_parallel(parts, [&](size_t part, Range range) {
    uint8_t header[8];
    for (size_t i = range.begin; i < range.end; ++i) {
      const uint32_t page = leaves.pages[i];
      const uint32_t start = header_offset(page);
      const char* error = "the page cannot be read";
      if (file.read(file.offset_of(page) + start, header, sizeof header)) {
        const LeafHeader leaf = leaf_header(file, page, header);
        first_row[i + 1] = leaf.cells;
        error = leaf.error;
      }
      if (error != nullptr) {
        found[part] = {i, {page, start, error}};
        return;
      }
    }
  });
  for (const auto& [leaf, damage] : found) {
    if (!damage) continue;
    leaves.pages.resize(leaf);
    leaves.damage = damage;
    first_row.resize(leaf + 1);
    break;
  }
  for (size_t i = 1; i < first_row.size(); ++i) first_row[i] += first_row[i - 1];
  return first_row;
}

}  // namespace dctx::scan
