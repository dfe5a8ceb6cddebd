// Damages XSpace messages at random and reads them, and the HLO modules inside them: events or
// listed damage may come of it, never a crash, a hang or a read outside a buffer (run it with the
// sanitizers on).
//
//   xplane_fuzz_test [ITERATIONS [SEED [FILE...]]]
//
// Without files it damages one it writes itself.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "scan/hlo.hpp"
#include "scan/xplane.hpp"

using namespace dctx;
using namespace dctx::scan;

namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t limit) { return random() % limit; }

std::string varint(uint64_t value) {
  std::string out;
  for (; value > 0x7F; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  return out + static_cast<char>(value);
}

std::string number(uint64_t field, uint64_t value) { return varint(field << 3) + varint(value); }

std::string text(uint64_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

std::string hlo_sample() {
  std::string stacks = text(1, "train.py") + text(2, "step");
  std::string fused;
  std::string main;
  for (uint64_t i = 1; i <= 8; ++i) {
    stacks += text(3, number(1, 1) + number(2, 1) + number(3, i)) +
              text(4, number(1, i) + number(2, i / 2));
    const std::string metadata =
        text(2, "jit(f)/add") + text(3, "f.py") + number(4, i) + number(15, i);
    fused += text(2, text(1, "add." + std::to_string(i)) + text(2, "add") + text(7, metadata));
    main += text(2, text(1, "fusion." + std::to_string(i)) + text(2, "fusion") + text(7, metadata) +
                        text(38, varint(2) + varint(1)));
  }
  return text(1, text(1, "jit_f") + text(3, text(1, "main") + main + number(5, 1)) +
                     text(3, text(1, "fused") + fused + number(5, 2)) + number(5, 30) +
                     text(17, stacks));
}

std::string space_sample() {
  std::string host = number(1, 1) + text(2, "/host:CPU");
  for (uint64_t line = 0; line < 3; ++line) {
    std::string events;
    for (uint64_t i = 0; i < 10; ++i) {
      const std::string stats = text(4, number(1, 1) + number(4, i)) +
                                text(4, number(1, 2) + number(7, 3)) +
                                text(4, number(1, 3) + text(5, "a \"text\"")) +
                                text(4, number(1, 4) + varint(2 << 3 | 1) + "\1\2\3\4\5\6\7\x40");
      events += text(4, number(1, i % 3) + number(2, 1'000 * i) + number(3, 500) + stats);
    }
    host += text(3, number(1, line) + text(2, "thread") + number(3, 17 * line) + events);
  }
  std::string modules = text(2, "/host:metadata");
  for (uint64_t i = 0; i < 3; ++i) {
    const std::string name = number(1, i) + text(2, "event " + std::to_string(i));
    host += text(4, number(1, i) + text(2, name + text(5, number(1, 2) + number(7, 1))));
    modules +=
        text(4, number(1, i) + text(2, name + text(5, number(1, 1) + text(6, hlo_sample()))));
  }
  const char* const names[] = {"correlation_id", "hlo_op", "note", "ratio"};
  for (uint64_t i = 1; i <= 4; ++i) {
    const std::string entry = number(1, i) + text(2, number(1, i) + text(2, names[i - 1]));
    host += text(5, entry);
    modules += text(5, entry);
  }
  return text(1, host + text(6, number(1, 1) + number(3, 9))) + text(1, modules) + text(4, "host0");
}

void damage(std::string& bytes, Random& random) {
  const size_t kind = below(random, 8);
  if (kind == 0) {
    bytes.resize(below(random, bytes.size()));
    return;
  }
  if (kind == 1) {
    const size_t from = below(random, bytes.size());
    bytes.erase(from, 1 + below(random, 16));
    return;
  }
  if (kind == 2) {
    bytes.insert(below(random, bytes.size()), varint(random() >> below(random, 64)));
    return;
  }
  for (size_t n = 1 + below(random, 8); n > 0; --n) {
    char& byte = bytes[below(random, bytes.size())];
    byte = static_cast<char>(kind < 5 ? random() : byte + static_cast<int>(below(random, 9)) - 4);
  }
}

template <class T>
bool fits(const SparseColumn<T>& column, size_t rows) {
  return column.values.size() <= rows;
}

void check(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

void check_rows(const std::vector<int32_t>& rows, size_t limit, const char* what) {
  for (const int32_t row : rows) check(row >= -1 && row < static_cast<int64_t>(limit), what);
}

void check_module(const HloModule& module) {
  const size_t rows = module.computation.size();
  for (const auto* column : {&module.instruction_name, &module.opcode, &module.op_name,
                             &module.file, &module.line, &module.stack}) {
    check(column->size() == rows, "instruction columns of different lengths");
  }
  check(module.called_offsets.size() == rows + 1, "not one call list an instruction");
  check(module.called_offsets.back() == static_cast<int64_t>(module.called.size()), "calls lost");
  check_rows(module.called, module.computation_id.size(), "a call to nowhere");
  check_rows(module.stack, module.stack_offsets.size() - 1, "a stack that is not there");
}

// True when it was read without damage.
bool read_all(const std::string& bytes) {
  // A copy of exactly this size: the sanitizer sees a read past its end.
  const auto exact = std::make_unique<char[]>(bytes.size());
  bytes.copy(exact.get(), bytes.size());
  const std::string_view data(exact.get(), bytes.size());
  StringPool pool;
  const XSpace space = read_xspace(data, {"correlation_id"}, {"hlo_op"}, pool);
  const size_t events = space.event_line.size();
  check(space.event_metadata.size() == events && space.event_start_ns.size() == events &&
            space.event_dur_ns.size() == events && space.event_instant.size() == events,
        "event columns of different lengths");
  check_rows(space.event_line, space.line_id.size(), "an event on no line");
  check_rows(space.event_metadata, space.metadata_id.size(), "an event of no kind");
  check_rows(space.line_plane, space.planes.size(), "a line of no plane");
  for (const int64_t dur : space.event_dur_ns) check(dur >= 0, "a duration below zero");
  check(fits(space.event_stats.numbers[0], events) && fits(space.event_stats.texts[0], events) &&
            fits(space.event_stats.rest, events),
        "statistics of no event");
  bool sound = space.damage.empty();
  for (const XPlaneDamage& place : space.damage) {
    check(place.offset <= data.size(), "damage outside the data");
  }
  for (const XPlaneBlob& blob : space.blobs) {
    const HloModule module = read_hlo(blob.bytes, pool);
    check_module(module);
    if (module.damage != nullptr) sound = false;
  }
  check_module(read_hlo(data, pool));
  return sound;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long long iterations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
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
  if (samples.empty()) samples = {space_sample(), hlo_sample()};
  if (argc <= 3 && !read_all(samples.front())) {
    std::fprintf(stderr, "an undamaged sample is not readable\n");
    return 1;
  }
  Random random(seed);
  unsigned long long damaged = 0;
  for (unsigned long long i = 0; i < iterations; ++i) {
    std::string bytes = samples[below(random, samples.size())];
    damage(bytes, random);
    try {
      if (!read_all(bytes)) ++damaged;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "iteration %llu of seed %llu: %s\n", i, seed, error.what());
      std::ofstream("xplane_fuzz_failure.pb", std::ios::binary) << bytes;
      return 1;
    }
  }
  std::printf("%llu files read, %llu of them with damage noticed\n", iterations, damaged);
  return 0;
}
