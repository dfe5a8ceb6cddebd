// Damages JSON and msgpack documents at random and reads them: rows or told damage may come of it,
// never a crash, a hang or a read outside a buffer (run it with the sanitizers on). JSON is read in
// one piece and in many, and the rows must be the same.
//
//   document_fuzz_test [ITERATIONS [SEED]]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scan/document_json.hpp"
#include "scan/document_msgpack.hpp"
#include "scan/document_rows.hpp"

using namespace dctx::scan;

namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t limit) { return random() % limit; }

// A tree of records, as of Proton; and lists of records, as of rocprofv3.
DocumentPlan plan() {
  return DocumentPlan({
      {"node", "[0]", {{"name", "frame.name", CellKind::Text}}, "children[]"},
      {"metric",
       "[0].metrics.*",
       {{"key", "@key", CellKind::Text},
        {"value", "", CellKind::Real},
        {"whole", "", CellKind::Integer},
        {"text", "", CellKind::Text}},
       ""},
      {"device", "[1].*.*", {{"sms", "num_sms", CellKind::Integer}}, ""},
      {"dispatch",
       "tool[].records.dispatch[]",
       {{"start", "start", CellKind::Integer}, {"kernel", "info.kernel", CellKind::Integer}},
       ""},
      {"name", "tool[].names[]", {{"text", "", CellKind::Text}}, ""},
  });
}

std::string tree(int depth, Random& random) {
  std::string out = R"({"frame":{"name":"f\u00e4 )" + std::to_string(depth) +
                    R"("},"metrics":{"time":)" + std::to_string(random() >> below(random, 64)) +
                    R"(,"x":-1.5e3,"id":"0x1f"},"children":[)";
  for (size_t i = 0; depth > 0 && i < 1 + below(random, 2); ++i) {
    if (i > 0) out += ",";
    out += tree(depth - 1, random);
  }
  return out + "]}";
}

std::string tree_sample(Random& random) {
  return "[" + tree(4, random) + R"(, {"CUDA": {"0": {"num_sms": 132}}}])";
}

std::string list_sample(Random& random) {
  std::string out = R"({"tool": [{"names": ["a\"b", "C:\\x", null, 7], "records": {"dispatch": [)";
  for (int i = 0; i < 12; ++i) {
    if (i > 0) out += ", ";
    out += R"({"size": 96, "start": )" + std::to_string(random() % 100'000) +
           R"(, "info": {"kernel": )" + std::to_string(i) + R"(, "grid": {"x": NaN}}})";
  }
  return out + "]}}]}";
}

std::string packed_text(const std::string& text) {
  return static_cast<char>(0xA0 + text.size()) + text;
}

std::string packed_tree(int depth, Random& random) {
  std::string out = "\x83" + packed_text("frame") + "\x81" + packed_text("name") +
                    packed_text("f" + std::to_string(depth)) + packed_text("metrics") + "\x83" +
                    packed_text("time") + "\xCF";
  for (int i = 0; i < 8; ++i) out += static_cast<char>(random());
  out += packed_text("x") + "\xCB" + "\x3F\xF8" + std::string(6, '\0') + packed_text("i") + "\xD1" +
         "\xFF\xFE" + packed_text("children");
  return out + (depth == 0 ? "\x90" : "\x91" + packed_tree(depth - 1, random));
}

std::string packed_sample(Random& random) {
  return "\x92" + packed_tree(4, random) + "\x81" + packed_text("CUDA") + "\x81" +
         packed_text("0") + "\x81" + packed_text("num_sms") + "\xCC\x84";
}

void damage(std::string& bytes, Random& random) {
  for (size_t hits = 1 + below(random, 4); hits > 0 && !bytes.empty(); --hits) {
    const size_t at = below(random, bytes.size());
    switch (below(random, 6)) {
      case 0:
        bytes.erase(at, 1 + below(random, 8));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:  // what is there once more
        bytes.insert(at, bytes, below(random, bytes.size()), below(random, 40));
        break;
      case 3:
        bytes.insert(at, 1, "\"\\{}[],:"[below(random, 9)]);
        break;
      default:
        bytes[at] = static_cast<char>(random());
        break;
    }
  }
}

void check(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

// All rows and the damage as one text. `most`: no document of so many bytes has more rows.
std::string summary(const DocumentRows& rows, const DocumentPlan& asked, const std::string& error,
                    size_t most) {
  std::string out = error + "\n";
  for (size_t t = 0; t < asked.tables().size(); ++t) {
    const RowTable& table = rows.table(t);
    check(table.rows <= most, "more rows than bytes");
    check(table.outer.size() == table.rows, "rows without an outer one");
    out += asked.tables()[t].name + " " + std::to_string(table.rows) + "\n";
    for (const int32_t outer : table.outer) out += std::to_string(outer) + " ";
    for (const CellColumn& column : table.columns) {
      const dctx::TextData texts = column.texts();
      const size_t size = column.integers.size() + column.reals.size() + texts.size();
      check(size == table.rows, "a column of another length");
      for (const int64_t value : column.integers) out += std::to_string(value) + " ";
      for (const double value : column.reals) out += std::to_string(value) + " ";
      for (size_t i = 0; i < texts.size(); ++i) out += std::string(texts[i]) + "|";
    }
  }
  return out;
}

// `pieces`: of how many bytes.
std::string read_json(std::string_view text, size_t pieces, const DocumentPlan& asked) {
  DocumentRows rows(asked);
  JsonDocument document(rows);
  for (size_t at = 0; at < text.size(); at += pieces) document.feed(text.substr(at, pieces));
  document.finish();
  return summary(rows, asked, document.error(), text.size());
}

std::string read_packed(std::string_view bytes, const DocumentPlan& asked) {
  DocumentRows rows(asked);
  const std::string error = read_msgpack(bytes, rows);
  return summary(rows, asked, error, bytes.size());
}

void check_one(const std::string& bytes, bool packed, const DocumentPlan& asked, Random& random) {
  // A copy of exactly this size: the sanitizer sees a read past its end.
  const auto exact = std::make_unique<char[]>(bytes.size());
  bytes.copy(exact.get(), bytes.size());
  const std::string_view data(exact.get(), bytes.size());
  if (packed) {
    read_packed(data, asked);
    return;
  }
  const std::string whole = read_json(data, bytes.size() + 1, asked);
  const std::string cut = read_json(data, 1 + below(random, 1 + below(random, 200)), asked);
  check(whole == cut, "pieces make a difference");
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long long iterations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000;
  const unsigned long long seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const DocumentPlan asked = plan();
  Random random(seed);
  for (unsigned long long i = 0; i < iterations; ++i) {
    const size_t kind = below(random, 3);
    std::string bytes = kind == 0   ? tree_sample(random)
                        : kind == 1 ? list_sample(random)
                                    : packed_sample(random);
    try {
      if (i < 6) {
        const std::string sound =
            kind == 2 ? read_packed(bytes, asked) : read_json(bytes, bytes.size() + 1, asked);
        check(sound.front() == '\n', "a sound document is called damaged");
      }
      damage(bytes, random);
      check_one(bytes, kind == 2, asked, random);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "iteration %llu of seed %llu: %s\n", i, seed, error.what());
      std::ofstream("document_fuzz_failure", std::ios::binary) << bytes;
      return 1;
    }
  }
  std::printf("%llu documents read\n", iterations);
  return 0;
}
