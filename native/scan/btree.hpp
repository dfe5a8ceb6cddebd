#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "scan/page_file.hpp"

namespace dctx::scan {

// Where and why a table's pages stopped making sense.
struct Damage {
  uint32_t page = 0;
  uint32_t offset = 0;  // inside the page
  std::string reason;   // empty: no damage

  explicit operator bool() const { return !reason.empty(); }
};

class Corrupt : public std::runtime_error {
 public:
  Corrupt(std::string table_name, Damage found, uint64_t rows);
  std::string table;
  Damage damage;
  uint64_t rows_recovered;
};

// The leaf pages of a table in key order, as far as its interior pages are sound.
struct LeafList {
  std::vector<uint32_t> pages;
  Damage damage;  // the pages listed come before it
};

LeafList list_leaves(const PageFile& file, uint32_t root_page);

// Where the b-tree header of a page starts: the file header precedes it on the first one.
inline uint32_t header_offset(uint32_t page) { return page == 1 ? 100 : 0; }

constexpr uint8_t kInteriorTable = 0x05;
constexpr uint8_t kLeafTable = 0x0D;

struct LeafHeader {
  uint32_t cells = 0;
  const char* error = nullptr;  // set when the page is no sound leaf
};

// `header` points at the 8 bytes of the b-tree header of `page`.
LeafHeader leaf_header(const PageFile& file, uint32_t page, const uint8_t* header);

// first_row[i] is the number of the first row of leaf i; one more entry holds the total. Cuts
// the list at the first leaf that is not sound and notes the damage.
std::vector<uint64_t> count_rows(const PageFile& file, LeafList& leaves, unsigned threads);

}  // namespace dctx::scan
