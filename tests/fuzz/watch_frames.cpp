// A watch stream cut into chunks anywhere; the last byte says how long the chunks are.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "kubeclient/decode/decode.h"

namespace {

using namespace ashlar::kube;

template <class T>
void feed(std::string_view bytes, std::size_t chunk) {
  FrameSplitter splitter(kEncodingOf<T>, 1u << 20);
  while (!bytes.empty()) {
    const auto fed = splitter.feed(bytes.substr(0, chunk), [&](std::string_view frame) {
      static_cast<void>(decode_watch_event<T>(frame).ok());
      return true;
    });
    if (!fed) return;
    bytes.remove_prefix(std::min(chunk, bytes.size()));
  }
}

void run(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t chunk = static_cast<unsigned char>(bytes.back()) + 1u;
  feed<Namespace>(bytes, chunk);
  feed<Node>(bytes, chunk);
}

}  // namespace

ASHLAR_FUZZ_TARGET(watch_frames)
