// PooledString: an immutable string kept once in a process-wide pool, counted and freed with its last user. Equality is
// a pointer comparison; copying costs one atomic increment, interning a hash and an uncontended lock (about 60 ns).
// Thread-safe as std::shared_ptr is: different PooledString objects may be used on different threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace ashlar::kube {

class PooledString {
 public:
  PooledString() = default;
  PooledString(std::string_view text) : entry_(intern(text)) {}                    // NOLINT: implicit by design
  PooledString(const char* text) : PooledString(std::string_view(text)) {}         // NOLINT: implicit by design
  PooledString(const std::string& text) : PooledString(std::string_view(text)) {}  // NOLINT: implicit by design
  PooledString(const PooledString& other) : entry_(other.entry_) { acquire(entry_); }
  PooledString(PooledString&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  PooledString& operator=(PooledString other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~PooledString() {
    if (entry_ != nullptr) release(entry_);
  }

  std::string_view view() const;
  operator std::string_view() const { return view(); }  // NOLINT: implicit by design
  std::string str() const { return std::string(view()); }
  bool empty() const { return entry_ == nullptr; }

  friend bool operator==(const PooledString& a, const PooledString& b) { return a.entry_ == b.entry_; }
  friend bool operator==(const PooledString& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const PooledString& a, const char* b) { return a.view() == b; }
  /// Order by content, so that sorted containers do not depend on addresses.
  friend bool operator<(const PooledString& a, const PooledString& b) { return a.view() < b.view(); }

  /// Of the characters: equal strings have the same, even after the string left the pool and came back. A new seed in
  /// every process.
  std::uint64_t content_hash() const;
  /// Stable only within the process and while the string is alive.
  std::size_t hash() const { return reinterpret_cast<std::uintptr_t>(entry_) * 0x9e3779b97f4a7c15ull >> 7; }

  /// Distinct strings alive and their bytes with bookkeeping, for metrics and memory tests.
  struct PoolSize {
    std::size_t strings = 0, bytes = 0;
  };
  static PoolSize pool_size();  // for tests

 private:
  struct Entry;
  struct Pool;
  static Entry* intern(std::string_view text);
  static void acquire(Entry* entry);
  static void release(Entry* entry);

  Entry* entry_ = nullptr;  ///< null stands for the empty string
};

}  // namespace ashlar::kube

template <>
struct std::hash<ashlar::kube::PooledString> {
  std::size_t operator()(const ashlar::kube::PooledString& text) const noexcept { return text.hash(); }
};
