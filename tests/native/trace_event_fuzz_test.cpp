// Damages small traces at random and scans them, in one piece and in many, with and without memory
// of the events' layouts: the tables must be the same each time, and there may be no crash, hang or
// read outside a buffer (run it with the sanitizers on). Where the damage is within one event, all
// others must be found, once each, and the metadata behind them.
//
//   trace_event_fuzz_test [ITERATIONS [SEED [FILE...]]]
//
// Without files it damages traces of its own.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scan/trace_event/event_stream.hpp"

using namespace dctx::trace_event;

namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t limit) { return random() % limit; }

std::string quoted_trace(const char* between, const char* indent) {
  const std::string sep = std::string(",") + between;
  std::string out = "{\"schemaVersion\": 1,";
  out += between;
  out += "\"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}],";
  out += between;
  out += "\"traceEvents\": [";
  out += between;
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    out +=
        "{" + std::string(indent) +
        "\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op\\u00e9 " + n + "\"" + sep +
        "\"pid\": 7, \"tid\": " + n + ", \"ts\": 100" + n + ".5, \"dur\": 2" + sep +
        "\"args\": {\"External id\": " + n + ", \"Input Dims\": [[1, " + n +
        "], []], \"Input type\": [\"float\", \"\"], \"note\": {\"a\": [1e3, null, \"x\\\"y\"]}}}" +
        sep;
    out += "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k" + n +
           "\", \"pid\": 0, \"tid\": 7, \"ts\": 1009, \"dur\": 1" + sep +
           "\"args\": {\"correlation\": " + n +
           ", \"grid\": [1, 2, 3], \"stream\": 7, \"bytes\": " + n +
           ", \"memory bandwidth (GB/s)\": inf}}" + sep;
    out += "{\"ph\": \"f\", \"id\": " + n +
           ", \"cat\": \"ac2g\", \"pid\": 0, \"tid\": 7, \"ts\": 1009}" + sep;
    out += "{\"ph\": \"C\", \"name\": \"c\", \"ts\": 5, \"args\": {\"v\": 1.5}}" + sep;
    out += "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 7, \"tid\": " + n +
           ", \"args\": {\"name\": \"t\"}}" + sep;
  }
  out += "{}],\"traceName\": \"x\"}";
  return out;
}

std::vector<std::string> own_samples() {
  const std::string list =
      "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":\"1\",\"pid\":\"p\",\"tid\":1},"
      "{\"ph\":\"E\",\"ts\":2,\"pid\":\"p\",\"tid\":1},"
      "{\"ph\":\"b\",\"cat\":\"c\",\"id\":\"0x1\",\"ts\":1e-06,\"name\":\"n\"}]";
  const std::string lines =
      "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\"}\n"
      "{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"b\"}\n";
  return {quoted_trace("", ""), quoted_trace("\n  ", "\n    "), list, lines};
}

const std::vector<std::string>& fragments() {
  static const std::vector<std::string> kFragments = {"\"",
                                                      "\\",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      ",",
                                                      ":",
                                                      "\n",
                                                      "\\u",
                                                      "\\ud800",
                                                      "{\"ph\":",
                                                      "],\"traceName\":",
                                                      "\"traceEvents\":[",
                                                      "1e999",
                                                      "inf",
                                                      "N/A",
                                                      "-",
                                                      std::string(1, '\0'),
                                                      "\xff",
                                                      "{\"ph\":\"X\"}",
                                                      std::string(70, '['),
                                                      std::string(300, '9'),
                                                      std::string(5'000, 'a'),
                                                      "}{",
                                                      "][",
                                                      "\xEF\xBB\xBF"};
  return kFragments;
}

void damage(std::string& text, Random& random) {
  for (size_t n = 1 + below(random, 5); n > 0 && !text.empty(); --n) {
    const size_t at = below(random, text.size());
    const std::string& fragment = fragments()[below(random, fragments().size())];
    switch (below(random, 6)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(random, 30));
        break;
      case 2:
        text.resize(at);
        break;
      case 3: {
        const std::string part = text.substr(at, below(random, 200));
        text.insert(below(random, text.size()), part);
        break;
      }
      default:
        text.insert(at, fragment);
        break;
    }
  }
}

// Everything that a scan found, as text.
struct Scanned {
  std::string summary;
  size_t events = 0;
  std::map<int64_t, size_t> times;  // ns: rows of that time
  bool has_name = false;            // traceName is in the metadata
};

template <class T>
void show_column(AnyColumn& column, size_t rows, std::string& out) {
  const Memory values = column.take();
  for (size_t i = 0; values != nullptr && i < rows; ++i) {
    out += std::to_string(static_cast<const T*>(values.get())[i]) + ' ';
  }
}

Scanned scan(const std::string& text, const std::vector<size_t>& pieces, const Limits& limits) {
  EventStream stream(limits);
  size_t at = 0;
  for (const size_t piece : pieces) {
    const size_t size = std::min(piece, text.size() - at);
    // A copy of its own, so that a read beyond the piece is seen.
    const std::vector<char> bytes(text.begin() + static_cast<std::ptrdiff_t>(at),
                                  text.begin() + static_cast<std::ptrdiff_t>(at + size));
    stream.feed(bytes.data(), bytes.size());
    at += size;
  }
  const std::vector<char> rest(text.begin() + static_cast<std::ptrdiff_t>(at), text.end());
  stream.feed(rest.data(), rest.size());
  stream.finish();
  if (stream.bytes_read() != text.size()) throw std::logic_error("bytes were not read");
  std::map<std::string, int32_t> texts;
  stream.router().finish([&texts](std::string_view sound) {
    return texts.emplace(std::string(sound), static_cast<int32_t>(texts.size())).first->second;
  });
  Scanned found;
  found.events = stream.router().events();
  for (const auto& [sound, id] : texts) found.summary += sound + '=' + std::to_string(id) + '\n';
  for (Table* const table : stream.router().tables().all()) {
    for (const auto& [name, column] : table->columns()) {
      if (std::string_view(name) == "ts_ns") {
        auto& times = static_cast<I64Column&>(*column);
        for (size_t i = 0; times.data() != nullptr && i < table->rows; ++i) {
          ++found.times[times.data()[i]];
        }
      }
      found.summary += std::string(table->name) + '.' + name + ": ";
      switch (column->type()) {
        case ColumnType::U8:
          show_column<uint8_t>(*column, table->rows, found.summary);
          break;
        case ColumnType::I32:
          show_column<int32_t>(*column, table->rows, found.summary);
          break;
        case ColumnType::I64:
          show_column<int64_t>(*column, table->rows, found.summary);
          break;
        case ColumnType::F64:
          show_column<double>(*column, table->rows, found.summary);
          break;
      }
    }
  }
  for (size_t i = 0; i < kReasons; ++i) {
    const ScanReport::Entry& entry = stream.router().report()[static_cast<Reason>(i)];
    found.summary += std::string(kReasonNames[i]) + std::to_string(entry.count);
    for (const uint64_t offset : entry.offsets) found.summary += ' ' + std::to_string(offset);
  }
  for (const auto& [key, json] : stream.metadata()) {
    found.summary += key + json.value_or("none");
    if (key == "traceName" && json == "\"x\"") found.has_name = true;
  }
  return found;
}

std::vector<size_t> random_pieces(size_t size, Random& random) {
  std::vector<size_t> pieces;
  const size_t most = random() % 3 == 0 ? 3 : 2'000;
  for (size_t at = 0; at < size;) {
    pieces.push_back(1 + below(random, most));
    at += pieces.back();
  }
  return pieces;
}

constexpr size_t kGoodEvents = 9;

// Far enough apart that damage does not make one of another.
int64_t time_ns(size_t i) { return 1'317'539'000 + static_cast<int64_t>(i) * 2'478'163'000; }

// An event of the time time_ns(i), in one of several shapes.
std::string numbered_event(size_t i, const char* between, Random& random) {
  const std::string sep = std::string(",") + between;
  const std::string place = sep + "\"ts\": " + std::to_string(time_ns(i) / 1'000) + sep +
                            "\"pid\": 7" + sep + "\"tid\": \"stream 7\"";
  switch (below(random, 6)) {
    case 0:
      return "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a, b\"" + place + sep +
             "\"dur\": 2" + sep +
             "\"args\": {\"External id\": 1, \"Input Dims\": [[1, 2], []], \"Input type\": "
             "[\"float\", \"\"], \"note\": {\"a\": [{\"b\": null}, \"x\\\"y\"]}}}";
    case 1:
      return "{\"name\": \"k<int>(\\\\)\"" + place + sep +
             "\"args\": {\"grid\": [1, 2, 3], \"bandwidth\": inf}" + sep +
             "\"cat\": \"kernel\", \"dur\": 1.5, \"ph\": \"X\"}";
    case 2:
      return "{\"ph\": \"f\", \"id\": 3, \"cat\": \"fwdbwd\"" + place + "}";
    case 3:
      return "{\"ph\": \"C\", \"name\": \"c\"" + place + sep + "\"args\": {\"v\": 1.5}}";
    case 4:
      return "{\"ph\": \"i\", \"s\": \"t\", \"name\": \"\"" + place + "}";
    default:
      return "{\"args\": {}" + sep + "\"ph\": \"B\", \"name\": \"{[\"" + place + "}";
  }
}

// Damage within one event of many. Nothing that begins an event or the envelope is put in.
std::string damaged_event(const std::string& event, Random& random) {
  static const std::vector<std::string> kParts = {"\"",
                                                  "\\",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  ":",
                                                  "\n",
                                                  "\\u",
                                                  "1e999",
                                                  "-",
                                                  std::string(1, '\0'),
                                                  "\xff",
                                                  "}{",
                                                  "][",
                                                  "\"}",
                                                  "\\\"",
                                                  "}}",
                                                  "{{",
                                                  "[[",
                                                  "]]",
                                                  "\": \"",
                                                  std::string(70, '['),
                                                  "}],"};
  std::string out = event;
  for (size_t n = 1 + below(random, 3); n > 0; --n) {
    const size_t at = below(random, out.size() + 1);
    switch (below(random, 3)) {
      case 0:
        out.erase(at, 1 + below(random, 40));
        break;
      case 1:
        if (at < out.size()) out[at] = static_cast<char>(random());
        break;
      default:
        out.insert(at, kParts[below(random, kParts.size())]);
        break;
    }
  }
  return out;
}

void check_that_nothing_good_is_lost(std::string& text, Random& random) {
  const bool indented = below(random, 2) == 0;
  const char* const between = indented ? "\n    " : " ";
  const size_t layout = below(random, 3);  // object, list, lines
  static constexpr const char* kOpen[] = {
      "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}], \"traceEvents\": [", "[", ""};
  static constexpr const char* kClose[] = {"], \"traceName\": \"x\"}", "]", "\n"};
  // The first line of JSON lines says what the file is.
  const size_t bad = layout == 2 ? 1 + below(random, kGoodEvents - 1) : below(random, kGoodEvents);
  text = kOpen[layout];
  for (size_t i = 0; i < kGoodEvents; ++i) {
    const std::string event = numbered_event(i, layout == 2 ? " " : between, random);
    if (i > 0) text += layout == 2 ? "\n" : indented ? ",\n  " : ",";
    text += i == bad ? damaged_event(event, random) : event;
  }
  text += kClose[layout];
  const Scanned found = scan(text, random_pieces(text.size(), random), Limits());
  for (size_t i = 0; i < kGoodEvents; ++i) {
    const auto rows = found.times.find(time_ns(i));
    if (i != bad && (rows == found.times.end() || rows->second != 1)) {
      throw std::logic_error("good event " + std::to_string(i) + " is not there once; damaged is " +
                             std::to_string(bad));
    }
  }
  if (layout == 0 && !found.has_name) throw std::logic_error("the metadata was lost");
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
  if (samples.empty()) samples = own_samples();
  Random random(seed);
  unsigned long long events = 0;
  for (unsigned long long i = 0; i < iterations; ++i) {
    std::string text = samples[below(random, samples.size())];
    damage(text, random);
    Limits limits;
    if (random() % 8 == 0) limits.max_texts = 1 + below(random, 20);
    try {
      const Scanned whole = scan(text, {}, limits);
      const Scanned cut = scan(text, random_pieces(text.size(), random), limits);
      if (whole.summary != cut.summary) throw std::logic_error("pieces make a difference");
      limits.max_layout_links = random() % 4 == 0 ? below(random, 30) : 0;
      const Scanned anew = scan(text, {}, limits);
      if (whole.summary != anew.summary) throw std::logic_error("learnt layouts make a difference");
      events += whole.events;
      check_that_nothing_good_is_lost(text, random);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "iteration %llu of seed %llu: %s\n", i, seed, error.what());
      std::ofstream("trace_event_fuzz_failure.json", std::ios::binary) << text;
      return 1;
    }
  }
  std::printf("%llu traces scanned, %llu events in them\n", iterations, events);
  return 0;
}
