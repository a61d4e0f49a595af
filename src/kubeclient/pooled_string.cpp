#include "kubeclient/pooled_string.h"

#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <random>

#include "base/check.h"
#include "base/digest.h"

namespace ashlar::kube {

/// One allocation: this header and the bytes behind it.
struct PooledString::Entry {
  std::atomic<std::uint32_t> users{1};
  std::uint32_t size = 0;
  std::uint64_t hash = 0;

  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
};

namespace {

struct Probe {
  std::string_view text;
  std::uint64_t hash;
};

/// Different in every process: names and labels come from tenants, who could otherwise choose many that collide.
std::uint64_t pool_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  return seed;
}

// Eight bytes per step; labels and names are short, and FNV's byte steps would cost more than the whole lookup.
std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = pool_seed() ^ text.size();
  const char* p = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    hash = mix64(hash ^ word) + word;
  }
  std::uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  return mix64(hash ^ tail);
}

}  // namespace

/// 16 shards, so that a decoding thread and a freeing thread rarely contend for one lock.
struct PooledString::Pool {
  struct Hash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(const Entry* entry) const { return entry->hash; }
    std::size_t operator()(const Probe& probe) const { return probe.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const { return a == b; }
    bool operator()(const Probe& a, const Entry* b) const {
      return a.hash == b->hash && a.text == std::string_view(b->bytes(), b->size);
    }
    bool operator()(const Entry* a, const Probe& b) const { return (*this)(b, a); }
  };
  struct Shard {
    std::mutex mutex;
    boost::unordered_flat_set<Entry*, Hash, Equal> entries;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kShards = 16;
  std::array<Shard, kShards> shards;

  Shard& shard_of(std::uint64_t hash) { return shards[hash >> 60]; }
  /// Never destroyed: texts in static objects may outlive any order of destruction.
  static Pool& instance() {
    static Pool* pool = new Pool;
    return *pool;
  }
};

PooledString::Entry* PooledString::intern(std::string_view text) {
  if (text.empty()) return nullptr;
  ASHLAR_CHECK(text.size() < 0xffffffffu);
  const Probe probe{text, hash_text(text)};
  Pool::Shard& shard = Pool::instance().shard_of(probe.hash);
  const std::lock_guard lock(shard.mutex);
  if (const auto found = shard.entries.find(probe); found != shard.entries.end()) {
    // The last user takes the lock before it frees, and frees only while the count is still zero; so an entry in the
    // set is alive.
    (*found)->users.fetch_add(1, std::memory_order_relaxed);
    return *found;
  }
  void* memory = std::malloc(sizeof(Entry) + text.size());
  if (memory == nullptr) throw std::bad_alloc();
  Entry* entry = new (memory) Entry;
  entry->size = static_cast<std::uint32_t>(text.size());
  entry->hash = probe.hash;
  std::memcpy(entry->bytes(), text.data(), text.size());
  shard.entries.insert(entry);
  shard.bytes += sizeof(Entry) + text.size();
  return entry;
}

void PooledString::acquire(Entry* entry) {
  if (entry != nullptr) entry->users.fetch_add(1, std::memory_order_relaxed);
}

void PooledString::release(Entry* entry) {
  // Fast path while there are other users. The last step to zero is made under the lock only, so that intern() cannot
  // hand out the entry meanwhile.
  std::uint32_t users = entry->users.load(std::memory_order_relaxed);
  while (users > 1)
    if (entry->users.compare_exchange_weak(users, users - 1, std::memory_order_release, std::memory_order_relaxed))
      return;
  Pool::Shard& shard = Pool::instance().shard_of(entry->hash);
  const std::lock_guard lock(shard.mutex);
  if (entry->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  shard.entries.erase(entry);
  shard.bytes -= sizeof(Entry) + entry->size;
  entry->~Entry();
  std::free(entry);
}

std::uint64_t PooledString::content_hash() const { return entry_ == nullptr ? 0 : entry_->hash; }

std::string_view PooledString::view() const {
  return entry_ == nullptr ? std::string_view() : std::string_view(entry_->bytes(), entry_->size);
}

PooledString::PoolSize PooledString::pool_size() {
  PoolSize size;
  for (Pool::Shard& shard : Pool::instance().shards) {
    const std::lock_guard lock(shard.mutex);
    size.strings += shard.entries.size();
    size.bytes += shard.bytes + shard.entries.bucket_count() * sizeof(void*);
  }
  return size;
}

}  // namespace ashlar::kube
