// Fuzz targets: one parser each, under any bytes. A target is a file NAME.cpp with a function `run` and the line
// ASHLAR_FUZZ_TARGET(NAME); its seeds are named in seeds.txt. clang's libFuzzer makes a program fuzz_NAME of each
// (preset fuzz), and the test fuzz_test runs all of them on their seeds and on what becomes of those.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::fuzz {

struct Target {
  std::string name;
  void (*run)(std::string_view bytes);
};

inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

struct Registered {
  explicit Registered(Target target) { targets().push_back(std::move(target)); }
};

/// The bytes as a file, for readers that take a path.
class File {
 public:
  explicit File(std::string_view bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    for (std::size_t written = 0; written < bytes.size();) {
      const ssize_t count = ::write(descriptor_, bytes.data() + written, bytes.size() - written);
      if (count <= 0) return;
      written += static_cast<std::size_t>(count);
    }
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace ashlar::fuzz

#ifdef ASHLAR_LIBFUZZER
#define ASHLAR_FUZZ_ENTRY                                                             \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    ashlar::fuzz::targets().front().run({reinterpret_cast<const char*>(data), size}); \
    return 0;                                                                         \
  }
#else
#define ASHLAR_FUZZ_ENTRY
#endif
#define ASHLAR_FUZZ_TARGET(name)                           \
  namespace {                                              \
  const ashlar::fuzz::Registered registered({#name, run}); \
  }                                                        \
  ASHLAR_FUZZ_ENTRY
