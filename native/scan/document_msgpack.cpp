#include "scan/document_msgpack.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include "scan/document_json.hpp"

namespace dctx::scan {
namespace {

// What is still to come of an open map or array.
struct Open {
  bool array;
  uint64_t left;  // elements, or pairs
  bool at_key;
};

class Reader {
 public:
  Reader(std::string_view bytes, DocumentRows& rows) : bytes_(bytes), rows_(rows) {}

  std::string run() {
    do {
      if (!item()) {
        const char* const why = short_ ? "the file ends here" : wrong_;
        return "byte " + std::to_string(begin_) + ": " + why;
      }
      while (!open_.empty() && open_.back().left == 0) close();
    } while (!open_.empty());
    return {};
  }

 private:
  bool take(uint64_t size, uint64_t& value) {
    if (bytes_.size() - at_ < size) {
      short_ = true;
      return false;
    }
    value = 0;
    for (uint64_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<uint8_t>(bytes_[at_++]);
    }
    return true;
  }

  bool item() {
    begin_ = at_;
    uint64_t first = 0;
    if (!take(1, first)) return false;
    if (first < 0x80) return integer(static_cast<int64_t>(first));
    if (first >= 0xE0) return integer(static_cast<int8_t>(first));
    if (first < 0x90) return container(false, first & 0x0F);
    if (first < 0xA0) return container(true, first & 0x0F);
    if (first < 0xC0) return text(first & 0x1F, true);
    uint64_t size = 0;
    switch (first) {
      case 0xC0:
        return scalar({});
      case 0xC2:
      case 0xC3:
        return integer(first == 0xC3 ? 1 : 0);
      case 0xC4:
      case 0xC5:
      case 0xC6:
        return take(uint64_t{1} << (first - 0xC4), size) && text(size, true);
      case 0xC7:
      case 0xC8:
      case 0xC9:  // an extension: a type byte, then that many bytes
        return take(uint64_t{1} << (first - 0xC7), size) && text(size + 1, false);
      case 0xCA: {
        uint64_t bits = 0;
        if (!take(4, bits)) return false;
        const auto narrow = static_cast<uint32_t>(bits);
        float value = 0;
        std::memcpy(&value, &narrow, sizeof value);
        return real(static_cast<double>(value));
      }
      case 0xCB: {
        uint64_t bits = 0;
        if (!take(8, bits)) return false;
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return real(value);
      }
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF: {
        uint64_t value = 0;
        if (!take(uint64_t{1} << (first - 0xCC), value)) return false;
        return integer(static_cast<int64_t>(value), static_cast<double>(value));
      }
      case 0xD0:
      case 0xD1:
      case 0xD2:
      case 0xD3: {
        const uint64_t width = uint64_t{1} << (first - 0xD0);
        uint64_t value = 0;
        if (!take(width, value)) return false;
        const auto spare = static_cast<int>(64 - 8 * width);
        return integer(static_cast<int64_t>(value << spare) >> spare);
      }
      case 0xD4:
      case 0xD5:
      case 0xD6:
      case 0xD7:
      case 0xD8:
        return text((uint64_t{1} << (first - 0xD4)) + 1, false);
      case 0xD9:
      case 0xDA:
      case 0xDB:
        return take(uint64_t{1} << (first - 0xD9), size) && text(size, true);
      case 0xDC:
      case 0xDD:
        return take(first == 0xDC ? 2 : 4, size) && container(true, size);
      case 0xDE:
      case 0xDF:
        return take(first == 0xDE ? 2 : 4, size) && container(false, size);
      default:
        wrong_ = "a byte that begins no msgpack value";
        return false;
    }
  }

  bool integer(int64_t value) { return integer(value, static_cast<double>(value)); }

  bool integer(int64_t value, double real) {
    const std::string shown = std::to_string(value);
    Scalar out;
    out.kind = Scalar::Kind::Integer;
    out.integer = value;
    out.real = real;
    out.text = shown;
    return scalar(out);
  }

  bool real(double value) {
    const std::string shown = std::to_string(value);
    Scalar out;
    out.kind = Scalar::Kind::Real;
    out.real = value;
    out.text = shown;
    return scalar(out);
  }

  // `known`: text or bytes; else an extension, which is NULL.
  bool text(uint64_t size, bool known) {
    if (bytes_.size() - at_ < size) {
      short_ = true;
      return false;
    }
    Scalar out;
    if (known) {
      out.kind = Scalar::Kind::Text;
      out.text = bytes_.substr(at_, static_cast<size_t>(size));
    }
    at_ += static_cast<size_t>(size);
    return scalar(out);
  }

  bool scalar(const Scalar& value) {
    if (!open_.empty() && !open_.back().array && open_.back().at_key) {
      rows_.key(value.text);
      open_.back().at_key = false;
      return true;
    }
    rows_.value(value);
    taken();
    return true;
  }

  bool container(bool array, uint64_t size) {
    if (!open_.empty() && !open_.back().array && open_.back().at_key) {
      wrong_ = "a map or an array as a key";
      return false;
    }
    if (open_.size() >= JsonDocument::kDeepest) {
      wrong_ = "more than 100,000 values inside each other";
      return false;
    }
    rows_.open(array);
    open_.push_back({array, size, true});
    return true;
  }

  void close() {
    rows_.close();
    open_.pop_back();
    taken();
  }

  // One value of the open container is complete.
  void taken() {
    if (open_.empty()) return;
    open_.back().left -= 1;
    open_.back().at_key = true;
  }

  std::string_view bytes_;
  DocumentRows& rows_;
  std::vector<Open> open_;
  size_t at_ = 0;
  size_t begin_ = 0;
  bool short_ = false;
  const char* wrong_ = "";
};

}  // namespace

std::string read_msgpack(std::string_view bytes, DocumentRows& rows) {
  return Reader(bytes, rows).run();
}

}  // namespace dctx::scan
