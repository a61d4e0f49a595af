// BitSet: a growable set of rows stored as 64-bit words; intersection and counting run at memory speed (5,000 rows = 79
// words).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ashlar {

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t size, bool filled = false) { resize(size, filled); }

  std::size_t size() const { return size_; }
  const std::vector<std::uint64_t>& words() const { return words_; }

  /// Grows or shrinks; new rows take `filled`.
  void resize(std::size_t size, bool filled = false) {
    const std::size_t old_size = size_;
    words_.resize((size + 63) / 64, 0);
    size_ = size;
    if (filled)
      for (std::size_t i = old_size; i < size; ++i) set(i);
    if (const std::size_t tail = size & 63; tail != 0) words_.back() &= (1ull << tail) - 1;
  }
  bool test(std::size_t i) const { return i < size_ && (words_[i >> 6] >> (i & 63)) & 1; }
  void set(std::size_t i) { words_[i >> 6] |= 1ull << (i & 63); }
  void reset(std::size_t i) { words_[i >> 6] &= ~(1ull << (i & 63)); }
  void assign(std::size_t i, bool on) { on ? set(i) : reset(i); }
  void clear() { words_.assign(words_.size(), 0); }

  std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t w : words_) n += static_cast<std::size_t>(std::popcount(w));
    return n;
  }
  bool any() const {
    for (const std::uint64_t w : words_)
      if (w != 0) return true;
    return false;
  }
  /// Keeps only rows that are also in `other`; rows beyond the end of `other` are dropped.
  BitSet& operator&=(const BitSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= i < other.words_.size() ? other.words_[i] : 0;
    return *this;
  }
  friend bool operator==(const BitSet&, const BitSet&) = default;

  /// Calls `visit(row)` for each member in ascending order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        visit((w << 6) + static_cast<std::size_t>(std::countr_zero(word)));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace ashlar
