#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace dctx::monitor {

// Rows that one writer appends and any thread reads without a lock: a row never moves, and the
// count is published after the row is filled. Several writers must take turns (a lock of theirs).
// Memory comes in chunks and is not cleared: pages of rows never used cost no memory.
template <class Row>
class Published {
 public:
  static constexpr size_t kChunkRows = 4096;
  static constexpr size_t kPageChunks = 256;
  static constexpr size_t kPages = 64;
  static constexpr size_t kMaxRows = kChunkRows * kPageChunks * kPages;

  Published() = default;
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;
  ~Published() {
    for (auto& slot : pages_) {
      const std::unique_ptr<Page> page(slot.load(std::memory_order_relaxed));
      if (page == nullptr) continue;
      for (auto& chunk : page->chunks) delete[] chunk.load(std::memory_order_relaxed);
    }
  }

  size_t size() const { return count_.load(std::memory_order_acquire); }

  // For rows below a size that was read.
  Row& operator[](size_t row) { return *at(row); }
  const Row& operator[](size_t row) const { return *at(row); }

  // Writer: begins anew. The memory of the rows stays, to be filled again.
  void clear() { count_.store(0, std::memory_order_release); }

  // Writer: the next row, to be filled before publish(); null when kMaxRows are in use or memory is
  // out.
  Row* prepare() {
    const size_t row = count_.load(std::memory_order_relaxed);
    if (row >= kMaxRows) return nullptr;
    if (row % kChunkRows == 0 && !reserve(row)) return nullptr;
    return at(row);
  }
  void publish() {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  struct Page {
    std::array<std::atomic<Row*>, kPageChunks> chunks{};
  };

  Row* at(size_t row) const {
    const size_t chunk = row / kChunkRows;
    const Page* page = pages_[chunk / kPageChunks].load(std::memory_order_acquire);
    return page->chunks[chunk % kPageChunks].load(std::memory_order_acquire) + row % kChunkRows;
  }
  bool reserve(size_t row) {
    const size_t chunk = row / kChunkRows;
    std::atomic<Page*>& page = pages_[chunk / kPageChunks];
    if (page.load(std::memory_order_relaxed) == nullptr) {
      std::unique_ptr<Page> fresh(new (std::nothrow) Page);
      if (fresh == nullptr) return false;
      page.store(fresh.release(), std::memory_order_release);
    }
    std::atomic<Row*>& place = page.load(std::memory_order_relaxed)->chunks[chunk % kPageChunks];
    if (place.load(std::memory_order_relaxed) != nullptr) return true;
    std::unique_ptr<Row[]> fresh(new (std::nothrow) Row[kChunkRows]);
    if (fresh == nullptr) return false;
    place.store(fresh.release(), std::memory_order_release);
    return true;
  }

  std::atomic<size_t> count_{0};
  std::array<std::atomic<Page*>, kPages> pages_{};
};

}  // namespace dctx::monitor
