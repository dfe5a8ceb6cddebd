// Records that go on in a chain of overflow pages.
#include <algorithm>
#include <cstring>

#include "scan/bytes.hpp"
#include "scan/record.hpp"

namespace dctx::scan {
namespace {

constexpr size_t kOverflowWindow = 32 * 1024;

}  // namespace

const uint8_t* OverflowReader::page(uint32_t number) {
  const size_t size = file_.page_size();
  if (number < first_ || number - first_ >= count_) {
    if (number < 1 || number > file_.pages_present()) return nullptr;
    const auto ahead = static_cast<uint32_t>(std::max<size_t>(kOverflowWindow / size, 1));
    uint32_t count = std::min(ahead, file_.pages_present() - number + 1);
    window_.resize(ahead * size);
    count_ = 0;
    if (!file_.read(file_.offset_of(number), window_.data(), count * size)) {
      count = 1;  // the file may have been cut behind the page that is asked for
      if (!file_.read_page(number, window_.data())) return nullptr;
    }
    first_ = number;
    count_ = count;
  }
  return window_.data() + (number - first_) * size;
}

uint64_t RecordDecoder::bytes_needed(const uint8_t* local, uint64_t local_size,
                                     uint64_t size) const {
  uint64_t header_size = 0;
  const uint8_t* p = read_varint(local, local + local_size, header_size);
  if (p == nullptr || header_size > local_size) return size;
  const uint8_t* end = local + header_size;
  uint64_t needed = header_size;
  for (size_t i = 0; i < plan_.fields.size() && p < end; ++i) {
    uint64_t type = 0;
    p = read_varint(p, end, type);
    if (p == nullptr) return size;
    needed += type >= 12 ? (type - 12) / 2 : std::min<uint64_t>(kValueBytes[type], 8);
    if (needed >= size) return size;
  }
  return needed;
}

// The beginning of an overflowing record, as far as the wanted columns reach.
const char* RecordDecoder::gather(const uint8_t* local, uint64_t local_size, uint64_t size,
                                  const uint8_t* chain, Payload& out) {
  const uint64_t needed = bytes_needed(local, local_size, size);
  if (needed <= local_size) {
    out = {local, local + local_size};
    return nullptr;
  }
  const uint64_t page_bytes = file_.usable_size() - 4;
  const uint64_t pages = (needed - local_size + page_bytes - 1) / page_bytes;
  // No page is in two chains, so a part of a table never needs more pages than the file has.
  if (pages > overflow_pages_left_) return "overflow chain longer than the file";
  overflow_pages_left_ -= pages;
  scratch_.resize(needed + kSlack);
  std::memcpy(scratch_.data(), local, local_size);
  uint64_t filled = local_size;
  uint32_t next = load32(chain);
  while (filled < needed) {
    const uint8_t* page = overflow_.page(next);
    if (page == nullptr) return "overflow page outside the file";
    const uint64_t take = std::min(page_bytes, needed - filled);
    std::memcpy(scratch_.data() + filled, page + 4, take);
    filled += take;
    next = load32(page);
  }
  out = {scratch_.data(), scratch_.data() + needed};
  return nullptr;
}

}  // namespace dctx::scan
