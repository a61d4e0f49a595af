// Digest: a 64-bit fingerprint of a state as a wrapping sum of row hashes. A sum can be kept up to date row by row
// (subtract the old hash, add the new one), undone exactly, and recounted from scratch to prove that nothing drifted.
// Not cryptographic.
#pragma once

#include <cstdint>

namespace ashlar {

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014): spreads every input bit over the word.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Chains one more value into a hash.
constexpr std::uint64_t hash_combine(std::uint64_t hash, std::uint64_t value) {
  return mix64(hash * 0x9e3779b97f4a7c15ull + value + 0x632be59bd9b4e019ull);
}

/// FNV-1a over bytes; for interning and file checks.
inline std::uint64_t hash_bytes(const void* bytes, std::uint64_t size, std::uint64_t seed = 0xcbf29ce484222325ull) {
  const auto* p = static_cast<const unsigned char*>(bytes);
  for (std::uint64_t i = 0; i < size; ++i) seed = (seed ^ p[i]) * 0x100000001b3ull;
  return seed;
}

}  // namespace ashlar
