#include "scan/hlo.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/utf8.hpp"
#include "scan/wire.hpp"

namespace dctx::scan {
namespace {

constexpr size_t kMaxFrames = 200;           // of a stack; JAX itself records ten by default
constexpr size_t kMaxAllFrames = 4'000'000;  // of all stacks: a made-up file could ask for many

struct Frame {
  int32_t file, function, line;
  bool operator==(const Frame& other) const {
    return file == other.file && function == other.function && line == other.line;
  }
};

// Drops the block of two or more frames at the end of `frames` when it repeats the one before it.
void drop_repeated_block(std::vector<Frame>& frames) {
  const size_t size = frames.size();
  for (size_t block = 2; 2 * block <= size; ++block) {
    const auto end = frames.end();
    const auto length = static_cast<std::ptrdiff_t>(block);
    if (std::equal(end - length, end, end - 2 * length)) {
      frames.resize(size - block);
      return;
    }
  }
}

class Reader {
 public:
  Reader(std::string_view data, StringPool& pool) : data_(data), pool_(pool) {}

  HloModule read() {
    WireReader proto(data_);
    WireField field;
    while (proto.next(field)) {
      if (field.number == 1 && field.type == WireType::Bytes) module(field.bytes);
    }
    report(proto);
    link_calls();
    return std::move(out_);
  }

 private:
  void report(const WireReader& reader) {
    if (reader.damage() == nullptr || out_.damage != nullptr) return;
    out_.damage = reader.damage();
    out_.damage_offset = static_cast<size_t>(reader.position() - data_.data());
  }

  int32_t intern(std::string_view text) {
    bytes_.clear();
    append_utf8(text, bytes_);
    return pool_.intern({bytes_.data(), bytes_.size()});
  }

  void module(std::string_view message) {
    std::vector<std::string_view> computations;
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.number == 5 && field.type == WireType::Varint) {
        out_.id = static_cast<int64_t>(field.value);
      }
      if (field.type != WireType::Bytes) continue;
      if (field.number == 1) {
        bytes_.clear();
        append_utf8(field.bytes, bytes_);
        out_.name.assign(bytes_.data(), bytes_.size());
      }
      if (field.number == 3) computations.push_back(field.bytes);
      if (field.number == 17) stack_index(field.bytes);
    }
    report(fields);
    // The stack index is written behind the instructions that refer to it.
    for (const std::string_view computation : computations) this->computation(computation);
  }

  // ---- instructions

  void computation(std::string_view message) {
    const auto row = static_cast<int32_t>(out_.computation_id.size());
    out_.computation_id.push_back(0);
    out_.computation_name.push_back(-1);
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.number == 5 && field.type == WireType::Varint) {
        out_.computation_id.back() = static_cast<int64_t>(field.value);
      }
      if (field.type != WireType::Bytes || !field.whole) continue;
      if (field.number == 1) out_.computation_name.back() = intern(field.bytes);
      if (field.number == 2) instruction(field.bytes, row);
    }
    report(fields);
  }

  void instruction(std::string_view message, int32_t computation) {
    out_.computation.push_back(computation);
    for (auto* column : {&out_.instruction_name, &out_.opcode, &out_.op_name, &out_.file,
                         &out_.line, &out_.stack}) {
      column->push_back(-1);
    }
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.number == 38) called(field);
      if (field.type != WireType::Bytes) continue;
      if (field.number == 1) out_.instruction_name.back() = intern(field.bytes);
      if (field.number == 2) out_.opcode.back() = intern(field.bytes);
      if (field.number == 7) metadata(field.bytes);
    }
    report(fields);
    out_.called_offsets.push_back(static_cast<int64_t>(called_ids_.size()));
  }

  // A repeated number: one field each, or all packed in one.
  void called(const WireField& field) {
    if (field.type == WireType::Varint) called_ids_.push_back(static_cast<int64_t>(field.value));
    if (field.type != WireType::Bytes) return;
    const char* p = field.bytes.data();
    const char* const end = p + field.bytes.size();
    uint64_t value = 0;
    while (p != nullptr && p < end) {
      p = read_wire_varint(p, end, value);
      if (p != nullptr) called_ids_.push_back(static_cast<int64_t>(value));
    }
  }

  void metadata(std::string_view message) {
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.type == WireType::Bytes && !field.bytes.empty()) {
        if (field.number == 2) out_.op_name.back() = intern(field.bytes);
        if (field.number == 3) out_.file.back() = intern(field.bytes);
      } else if (field.type == WireType::Varint) {
        if (field.number == 4) out_.line.back() = line_of(field.value);
        if (field.number == 15) out_.stack.back() = stack(field.value);
      }
    }
    report(fields);
  }

  // Computations may be called before they are written: rows are known at the end.
  void link_calls() {
    std::unordered_map<int64_t, int32_t> rows;
    for (size_t i = 0; i < out_.computation_id.size(); ++i) {
      rows.emplace(out_.computation_id[i], static_cast<int32_t>(i));
    }
    size_t next = 0;
    for (size_t i = 1; i < out_.called_offsets.size(); ++i) {
      const auto end = static_cast<size_t>(out_.called_offsets[i]);
      for (; next < end; ++next) {
        const auto found = rows.find(called_ids_[next]);
        if (found != rows.end()) out_.called.push_back(found->second);
      }
      out_.called_offsets[i] = static_cast<int64_t>(out_.called.size());
    }
  }

  // ---- Python stacks

  struct Location {
    uint64_t file = 0, function = 0;
    int32_t line = -1;
  };
  struct Link {
    uint64_t location = 0, parent = 0;
  };

  static int32_t line_of(uint64_t value) {
    return value == 0 || value > 0x7FFFFFFF ? -1 : static_cast<int32_t>(value);
  }

  void stack_index(std::string_view message) {
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.type != WireType::Bytes) continue;
      switch (field.number) {
        case 1:
          files_.push_back(intern(field.bytes));
          break;
        case 2:
          functions_.push_back(intern(field.bytes));
          break;
        case 3: {
          uint64_t numbers[3] = {};
          read_numbers(field.bytes, numbers, 3);
          locations_.push_back({numbers[0], numbers[1], line_of(numbers[2])});
          break;
        }
        case 4: {
          uint64_t numbers[2] = {};
          read_numbers(field.bytes, numbers, 2);
          links_.push_back({numbers[0], numbers[1]});
          break;
        }
        default:
          break;
      }
    }
    report(fields);
    stacks_.assign(links_.size(), kUnknown);
  }

  void read_numbers(std::string_view message, uint64_t* numbers, size_t count) {
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.type == WireType::Varint && field.number <= count) {
        numbers[field.number - 1] = field.value;
      }
    }
    report(fields);
  }

  // Ids start at 1; 0 means none.
  template <class T>
  static const T* find(const std::vector<T>& items, uint64_t id) {
    return id == 0 || id > items.size() ? nullptr : &items[id - 1];
  }

  static int32_t text(const std::vector<int32_t>& texts, uint64_t id) {
    const int32_t* found = find(texts, id);
    return found == nullptr ? -1 : *found;
  }

  int32_t stack(uint64_t frame) {
    if (find(links_, frame) == nullptr) return -1;
    int32_t& known = stacks_[frame - 1];
    if (known == kUnknown) known = build_stack(frame);
    return known;
  }

  int32_t build_stack(uint64_t frame) {
    if (out_.stack_file.size() > kMaxAllFrames) return -1;
    std::vector<uint64_t> chain;
    for (uint64_t id = frame; chain.size() < kMaxFrames; id = find(links_, id)->parent) {
      if (find(links_, id) == nullptr) break;
      if (std::find(chain.begin(), chain.end(), id) != chain.end()) break;
      chain.push_back(id);
    }
    std::vector<Frame> frames;
    for (auto id = chain.rbegin(); id != chain.rend(); ++id) {
      const Location* location = find(locations_, find(links_, *id)->location);
      if (location == nullptr) continue;
      frames.push_back(
          {text(files_, location->file), text(functions_, location->function), location->line});
      drop_repeated_block(frames);
    }
    if (frames.empty()) return -1;
    for (const Frame& item : frames) {
      out_.stack_file.push_back(item.file);
      out_.stack_function.push_back(item.function);
      out_.stack_line.push_back(item.line);
    }
    out_.stack_offsets.push_back(static_cast<int64_t>(out_.stack_file.size()));
    return static_cast<int32_t>(out_.stack_offsets.size() - 2);
  }

  static constexpr int32_t kUnknown = -2;

  std::string_view data_;
  StringPool& pool_;
  HloModule out_;
  std::vector<int64_t> called_ids_;
  std::vector<int32_t> files_, functions_;
  std::vector<Location> locations_;
  std::vector<Link> links_;
  std::vector<int32_t> stacks_;  // of each frame id that was asked for
  std::vector<char> bytes_;
};

}  // namespace

HloModule read_hlo(std::string_view data, StringPool& pool) { return Reader(data, pool).read(); }

}  // namespace dctx::scan
