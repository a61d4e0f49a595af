#include "kubeclient/decode/decode.h"

#include <cstdint>

#include "kubeclient/decode/json.h"
#include "kubeclient/decode/protobuf.h"
#include "kubeclient/selecting_objects.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {
namespace {

constexpr std::size_t kLengthBytes = 4;  // big-endian frame length of protobuf watches

struct NamedKind {
  std::string_view type;
  WatchEventKind kind;
};
constexpr NamedKind kWatchEventKinds[] = {{"ADDED", WatchEventKind::kAdded},
                                          {"MODIFIED", WatchEventKind::kModified},
                                          {"DELETED", WatchEventKind::kDeleted},
                                          {"BOOKMARK", WatchEventKind::kBookmark},
                                          {"ERROR", WatchEventKind::kError}};

}  // namespace

Result<WatchEventKind> watch_event_kind(std::string_view type) {
  for (const NamedKind& known : kWatchEventKinds)
    if (known.type == type) return known.kind;
  return invalid("watch event of unknown type \"" + std::string(type.substr(0, 40)) + "\"");
}

Error watch_error(const StatusText& status) {
  const bool is_expired = status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
  return Error{is_expired ? Error::Kind::kExpired : Error::Kind::kUnavailable, status.reason + ": " + status.message};
}

template <class T>
Result<T> decode_object(std::string_view body) {
  if constexpr (kEncodingOf<T> == Encoding::kProtobuf)
    return proto::decode_object<T>(body);
  else
    return json::decode_object<T>(body);
}

template <class T>
Result<ListPage<T>> decode_list(std::string_view body) {
  if constexpr (kEncodingOf<T> == Encoding::kProtobuf)
    return proto::decode_list<T>(body);
  else
    return json::decode_list<T>(body);
}

template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string_view frame) {
  if constexpr (kEncodingOf<T> == Encoding::kProtobuf)
    return proto::decode_watch_event<T>(frame);
  else
    return json::decode_watch_event<T>(frame);
}

Result<StatusText> decode_status(std::string_view body, Encoding encoding) {
  return encoding == Encoding::kJson ? json::decode_status(body) : proto::decode_status(body);
}

// NOLINTBEGIN(bugprone-macro-parentheses): types take none
#define ASHLAR_INSTANTIATE(T)                                    \
  template Result<T> decode_object<T>(std::string_view);         \
  template Result<ListPage<T>> decode_list<T>(std::string_view); \
  template Result<WatchEvent<T>> decode_watch_event<T>(std::string_view);
ASHLAR_INSTANTIATE(Pod)
ASHLAR_INSTANTIATE(Node)
ASHLAR_INSTANTIATE(Namespace)
ASHLAR_INSTANTIATE(PriorityClass)
ASHLAR_INSTANTIATE(DeviceClassObject)
ASHLAR_INSTANTIATE(QueueObject)
ASHLAR_INSTANTIATE(PodGroup)
ASHLAR_INSTANTIATE(Lease)
ASHLAR_INSTANTIATE(PersistentVolumeClaim)
ASHLAR_INSTANTIATE(PersistentVolume)
ASHLAR_INSTANTIATE(StorageClass)
ASHLAR_INSTANTIATE(CsiNode)
ASHLAR_INSTANTIATE(CsiDriver)
ASHLAR_INSTANTIATE(CsiStorageCapacity)
ASHLAR_INSTANTIATE(VolumeAttachment)
ASHLAR_INSTANTIATE(Service)
ASHLAR_INSTANTIATE(ReplicationController)
ASHLAR_INSTANTIATE(ReplicaSet)
ASHLAR_INSTANTIATE(StatefulSet)
#undef ASHLAR_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

FrameSplitter::FrameSplitter(Encoding encoding, std::size_t frame_bytes_max)
    : encoding_(encoding), frame_bytes_max_(frame_bytes_max) {}

void FrameSplitter::reset() {
  buffer_.clear();
  begin_ = scanned_ = 0;
}

void FrameSplitter::append(std::string_view chunk) {
  if (begin_ == buffer_.size()) {
    reset();
  } else if (begin_ > (64u << 10)) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(chunk);
}

Result<std::string_view> FrameSplitter::next(bool& found) {
  found = false;
  const Error too_long = invalid("a watch event is longer than " + std::to_string(frame_bytes_max_) + " bytes");
  if (encoding_ == Encoding::kJson) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) {
      scanned_ = buffer_.size();
      if (scanned_ - begin_ > frame_bytes_max_) return too_long;
      return std::string_view();
    }
    const std::string_view line(buffer_.data() + begin_, newline - begin_);
    begin_ = scanned_ = newline + 1;
    found = true;
    return line;
  }
  if (buffer_.size() - begin_ < kLengthBytes) return std::string_view();
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length = length << 8 | static_cast<unsigned char>(buffer_[begin_ + i]);
  if (length > frame_bytes_max_) return too_long;
  if (buffer_.size() - begin_ - kLengthBytes < length) return std::string_view();
  const std::string_view frame(buffer_.data() + begin_ + kLengthBytes, length);
  begin_ += kLengthBytes + length;
  found = true;
  return frame;
}

}  // namespace ashlar::kube
