// Damages small SQLite files at random and reads them: rows or an error may come of it, never a
// crash, a hang or a read outside a buffer (run it with the sanitizers on).
//
//   scan_fuzz_test [ITERATIONS [SEED [FILE...]]]
//
// Without files it damages those it writes itself.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "scan/table.hpp"
#include "sqlite_sample.hpp"

using namespace dctx::scan;
using namespace dctx_test;

namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t limit) { return random() % limit; }

std::string sample(size_t page_size, size_t reserved) {
  SampleDb db(page_size, reserved);
  std::vector<Row> rows;
  for (int64_t i = 0; i < 120; ++i) {
    rows.push_back({i * i * i * i, static_cast<double>(i) / 3,
                    std::string(static_cast<size_t>(i % 10 == 9 ? i * 9 : i % 30), 'k'),
                    i % 3 == 0 ? Value() : Value(i), Blob{"\x01\xFE"}});
  }
  db.add_table("t", "CREATE TABLE t(a INT, b REAL, c TEXT, d, e BLOB, f DEFAULT 'none', \"g\")",
               rows);
  db.add_table("u", "CREATE TABLE u(id INTEGER PRIMARY KEY, v TEXT -- (,)\n)",
               {{Value(), std::string("one")}, {Value(), std::string(2'000, 'u')}});
  return db.bytes();
}

void flip_bytes(std::string& bytes, Random& random) {
  for (size_t n = 1 + below(random, 12); n > 0; --n) {
    bytes[below(random, bytes.size())] = static_cast<char>(random());
  }
}

// Most bytes are values, where a change does nothing: aim at the numbers that hold it together.
void break_structure(std::string& bytes, size_t page_size, Random& random) {
  const size_t pages = bytes.size() / page_size;
  for (size_t n = 1 + below(random, 4); n > 0; --n) {
    const size_t page = below(random, pages);
    const size_t start = page * page_size + (page == 0 ? 100 : 0);
    const size_t offset = start + below(random, 40);
    const uint64_t value = random() % 4 == 0 ? random() : below(random, pages + 2);
    const std::string number = big_endian(value, size_t{1} << below(random, 3));
    if (offset + number.size() <= bytes.size()) bytes.replace(offset, number.size(), number);
  }
}

void swap_pages(std::string& bytes, size_t page_size, Random& random) {
  const size_t pages = bytes.size() / page_size;
  const size_t a = below(random, pages) * page_size;
  const size_t b = below(random, pages) * page_size;
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a),
                   bytes.begin() + static_cast<std::ptrdiff_t>(a + page_size),
                   bytes.begin() + static_cast<std::ptrdiff_t>(b));
}

void damage(std::string& bytes, size_t page_size, Random& random) {
  switch (below(random, 6)) {
    case 0:
    case 1:
      flip_bytes(bytes, random);
      break;
    case 2:
    case 3:
      break_structure(bytes, page_size, random);
      break;
    case 4:
      if (bytes.size() >= page_size) swap_pages(bytes, page_size, random);
      flip_bytes(bytes, random);
      break;
    default:
      bytes.resize(below(random, bytes.size()));
      break;
  }
}

// True when the table was read without damage.
bool read_table_twice(const PageFile& file, const TableDef& table, Random& random) {
  std::vector<AskedColumn> asked;
  for (const ColumnDef& column : table.columns) {
    const auto kind = static_cast<ColumnKind>(below(random, 4));
    const bool known = std::any_of(asked.begin(), asked.end(), [&](const AskedColumn& other) {
      return same_name(other.name, column.name);
    });
    if (!known && random() % 4 != 0) asked.push_back({column.name, kind, std::nullopt});
  }
  const auto threads = static_cast<unsigned>(1 + below(random, 2));
  const TableRows rows = locate_rows(file, table, threads);
  const TableData salvaged = read_table(file, table, rows, asked, Share(), threads, true);
  for (const ReadColumn& column : salvaged.columns) {
    const bool whole = column.kind == ColumnKind::Text ? column.texts->size() == salvaged.rows
                                                       : column.values->size() >= salvaged.rows * 4;
    if (!whole || column.null_count > salvaged.rows) {
      throw std::logic_error("columns of different lengths");
    }
  }
  try {
    read_table(file, table, rows, asked, Share(), threads, false);
    if (salvaged.damage) throw std::logic_error("damage is only noticed when salvaging");
  } catch (const Corrupt& error) {
    if (error.rows_recovered != salvaged.rows) throw std::logic_error("rows recovered differ");
  }
  return !salvaged.damage;
}

// True when every table was read without damage.
bool read_all(const std::string& path, Random& random) {
  bool sound = true;
  try {
    const PageFile file(path);
    for (const TableDef& table : read_schema(file, true)) {
      try {
        if (!read_table_twice(file, table, random)) sound = false;
      } catch (const std::invalid_argument&) {
        sound = false;  // a table for the library
      }
    }
    read_schema(file, false);
  } catch (const NotSqlite&) {
    return false;
  } catch (const Corrupt&) {
    return false;
  }
  return sound;
}

size_t page_size_of(const std::string& bytes) {
  const size_t stored = bytes.size() < 18 ? 0 : (bytes[16] & 0xFF) * 256 + (bytes[17] & 0xFF);
  return stored == 1 ? 65536 : std::max<size_t>(stored, 512);
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long long iterations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000;
  const unsigned long long seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::vector<std::string> samples;
  for (int i = 3; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    samples.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (samples.back().empty()) {
      std::fprintf(stderr, "%s cannot be read\n", argv[i]);
      return 1;
    }
  }
  if (samples.empty()) samples = {sample(512, 0), sample(512, 32), sample(1024, 0)};

  Random random(seed);
  const MemoryFile memory(samples.front());
  for (const std::string& good : samples) {
    memory.write(good);
    if (argc <= 3 && !read_all(memory.path(), random)) {
      std::fprintf(stderr, "an undamaged sample is not readable\n");
      return 1;
    }
  }
  unsigned long long damaged = 0;
  for (unsigned long long i = 0; i < iterations; ++i) {
    std::string bytes = samples[below(random, samples.size())];
    damage(bytes, page_size_of(bytes), random);
    memory.write(bytes);
    try {
      if (!read_all(memory.path(), random)) ++damaged;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "iteration %llu of seed %llu: %s\n", i, seed, error.what());
      std::ofstream("scan_fuzz_failure.sqlite", std::ios::binary) << bytes;
      return 1;
    }
  }
  std::printf("%llu files read, %llu of them with damage noticed\n", iterations, damaged);
  return 0;
}
