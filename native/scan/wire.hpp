#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dctx::scan {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;      // of all types but Bytes
  std::string_view bytes;  // of Bytes: inside the message that was given
  bool whole = true;       // false: the length ran past the end, `bytes` is what is there
};

// Protocol buffer varint: 7 bits a byte, lowest first, at most ten bytes (bits past the 64th are
// dropped). Returns the byte after it, nullptr when it does not end before `end`.
inline const char* read_wire_varint(const char* p, const char* end, uint64_t& value) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
    const auto byte = static_cast<uint8_t>(*p++);
    v |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      value = v;
      return p;
    }
  }
  return nullptr;
}

// Walks the fields of one message in the protocol buffer wire format, in the order they were
// written. It knows no schema: the caller picks the fields it knows and leaves the others.
class WireReader {
 public:
  explicit WireReader(std::string_view message)
      : p_(message.data()), end_(message.data() + message.size()) {}

  // The next field; false at the end of the message and at damage.
  bool next(WireField& field) {
    if (damage_ != nullptr || p_ == end_) return false;
    const char* const start = p_;
    uint64_t key = 0;
    p_ = read_wire_varint(p_, end_, key);
    if (p_ == nullptr) return stop(start, "a field number that does not end");
    field.whole = true;
    field.number = static_cast<uint32_t>(key >> 3);
    if (key >> 32 != 0 || field.number == 0) return stop(start, "an impossible field number");
    switch (key & 7) {
      case 0:
        field.type = WireType::Varint;
        p_ = read_wire_varint(p_, end_, field.value);
        return p_ != nullptr || stop(start, "a number that does not end");
      case 1:
        field.type = WireType::Fixed64;
        return fixed<uint64_t>(field, start);
      case 2:
        field.type = WireType::Bytes;
        return length_delimited(field, start);
      case 5:
        field.type = WireType::Fixed32;
        return fixed<uint32_t>(field, start);
      default:
        return stop(start, "an invalid wire type");
    }
  }

  // Why reading stopped before the end of the message; nullptr when it did not.
  const char* damage() const { return damage_; }
  const char* position() const { return p_; }  // of the damage, or of the next field

 private:
  bool stop(const char* at, const char* reason) {
    p_ = at;
    damage_ = reason;
    return false;
  }

  template <class T>
  bool fixed(WireField& field, const char* start) {
    if (static_cast<size_t>(end_ - p_) < sizeof(T)) return stop(start, "a number that is cut");
    T value;  // the format is little-endian, as every machine we build for
    std::memcpy(&value, p_, sizeof(T));
    field.value = value;
    p_ += sizeof(T);
    return true;
  }

  bool length_delimited(WireField& field, const char* start) {
    uint64_t length = 0;
    p_ = read_wire_varint(p_, end_, length);
    if (p_ == nullptr) return stop(start, "a length that does not end");
    const auto left = static_cast<uint64_t>(end_ - p_);
    field.whole = length <= left;
    const auto size = static_cast<size_t>(field.whole ? length : left);
    field.bytes = {p_, size};
    p_ += size;
    if (!field.whole) {
      damage_ = "a length past the end";
      p_ = start;
    }
    return true;
  }

  const char* p_;
  const char* end_;
  const char* damage_ = nullptr;
};

}  // namespace dctx::scan
