// Documents whole and cut. Damaged ones: document_fuzz_test.
#include <string>
#include <vector>

#include "check.hpp"
#include "scan/document_json.hpp"
#include "scan/document_msgpack.hpp"
#include "scan/document_rows.hpp"
#include "scan/json_text.hpp"

namespace {

using namespace dctx::scan;

DocumentPlan plan() {
  return DocumentPlan({
      {"node", "[0]", {{"name", "frame.name", CellKind::Text}}, "children[]"},
      {"metric",
       "[0].metrics.*",
       {{"key", "@key", CellKind::Text}, {"value", "", CellKind::Real}},
       ""},
      {"device", "[1].*.*", {{"sms", "num_sms", CellKind::Integer}}, ""},
  });
}

const std::string kJson =
    R"([{"frame":{"name":"RO\"OT\u00e4"},"metrics":{"count":0,"x":1.5e3},"children":[)"
    R"({"frame":{"name":"k"},"metrics":{"time":18446744073709551615,"id":"0x1f"},"children":[]}]},)"
    R"({"CUDA":{"0":{"num_sms":132}}}])";

std::string packed() {
  static constexpr char kBytes[] =
      "\x92\x83\xa5"
      "frame"
      "\x81\xa4"
      "name"
      "\xa4"
      "ROOT"
      "\xa7"
      "metrics"
      "\x81\xa5"
      "count"
      "\x00"
      "\xa8"
      "children"
      "\x90"
      "\x81\xa4"
      "CUDA"
      "\x81\xa1"
      "0"
      "\x81\xa7"
      "num_sms"
      "\xcc\x84";
  return std::string(kBytes, sizeof kBytes - 1);
}

void read_json(const std::string& text, size_t step, DocumentRows& rows, std::string& error) {
  JsonDocument document(rows);
  for (size_t at = 0; at < text.size(); at += step) {
    document.feed(std::string_view(text).substr(at, step));
  }
  document.finish();
  error = document.error();
}

void test_whole_documents() {
  const DocumentPlan asked = plan();
  for (size_t step = 1; step <= kJson.size(); ++step) {
    DocumentRows rows(asked);
    std::string error;
    read_json(kJson, step, rows, error);
    CHECK(error.empty());
    CHECK(rows.table(0).rows == 2);
    CHECK(rows.table(0).outer[1] == 0);
    CHECK(rows.table(0).columns[0].texts()[0] == "RO\"OT\xc3\xa4");
    CHECK(rows.table(1).rows == 4);
    CHECK(rows.table(1).columns[1].reals[1] == 1500.0);
    CHECK(rows.table(2).columns[0].integers[0] == 132);
  }
}

void test_msgpack_documents() {
  const DocumentPlan asked = plan();
  const std::string bytes = packed();
  DocumentRows rows(asked);
  CHECK(read_msgpack(bytes, rows).empty());
  CHECK(rows.table(0).columns[0].texts()[0] == "ROOT");
  CHECK(rows.table(2).columns[0].integers[0] == 132);
  for (size_t length = 0; length < bytes.size(); ++length) {
    DocumentRows cut(asked);
    CHECK(!read_msgpack(std::string_view(bytes).substr(0, length), cut).empty());
  }
}

void test_escapes() {
  CHECK(unescape("a\\n\\t\\\\\\/") == "a\n\t\\/");
  CHECK(unescape("C:\\x\\") == "C:\\x\\");
  CHECK(unescape("\\ud83d\\ude00") == "\xf0\x9f\x98\x80");
  CHECK(unescape("\\ud83d!\\u12") == "\xef\xbf\xbd!\xef\xbf\xbd");
}

}  // namespace

int main() {
  test_whole_documents();
  test_msgpack_documents();
  test_escapes();
  return dctx_test::report();
}
