// decode: decoders of the API server's lists and watch events into stripped objects: from Kubernetes protobuf, or from
// JSON where kEncodingOf says so. Input is not trusted: limits on depth and size hold, garbage gives kInvalid with the
// position, and an object that can be read only in part reports this in `problem`. Cost: about 4 us a pod.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubeclient/objects.h"

namespace ashlar::kube {

enum class Encoding : unsigned char { kJson, kProtobuf };
/// The media types of the two.
inline constexpr const char* kJsonType = "application/json";
inline constexpr const char* kProtobufType = "application/vnd.kubernetes.protobuf";
/// In which each kind is asked for and read.
template <class T>
inline constexpr Encoding kEncodingOf = Encoding::kProtobuf;
template <>
inline constexpr Encoding kEncodingOf<Namespace> = Encoding::kJson;
template <>
inline constexpr Encoding kEncodingOf<PriorityClass> = Encoding::kJson;
template <>
inline constexpr Encoding kEncodingOf<DeviceClassObject> = Encoding::kJson;
template <>
inline constexpr Encoding kEncodingOf<QueueObject> = Encoding::kJson;
template <>
inline constexpr Encoding kEncodingOf<PodGroup> = Encoding::kJson;
template <>
inline constexpr Encoding kEncodingOf<Lease> = Encoding::kJson;

/// Page of a list. One broken object does not hide the others: it is an item with a `problem`.
template <class T>
struct ListPage {
  std::vector<T> items;
  std::string resource_version, continue_token;
  /// reasons for items of which not even the name can be read. They are in no other list
  std::vector<std::string> nameless;
};

enum class WatchEventKind : unsigned char { kAdded, kModified, kDeleted, kBookmark, kError };
/// "ADDED", "MODIFIED", ... as the server writes them; kInvalid for any other word.
Result<WatchEventKind> watch_event_kind(std::string_view type);

template <class T>
struct WatchEvent {
  using Kind = WatchEventKind;
  Kind kind = Kind::kError;
  T object;                         ///< of kAdded, kModified, kDeleted
  std::string resource_version;     ///< of the object or bookmark
  bool initial_events_end = false;  ///< bookmark that closes the initial events of a streaming list
  Error error;                      ///< of kError; kExpired if the server reports 410
};

// Defined for the objects of objects.h, volume_objects.h and selecting_objects.h, each in its own encoding. kInvalid if
// not even the object's name can be read, and for a Lease with any problem.
template <class T>
Result<T> decode_object(std::string_view body);
template <class T>
Result<ListPage<T>> decode_list(std::string_view body);
/// One event: a line of JSON without its newline, or one protobuf frame without its length.
template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string_view frame);

/// metav1.Status of a failed request.
struct StatusText {
  std::string message, reason;
  std::int32_t code = 0, retry_after_seconds = 0;
  bool is_success = false;  ///< a Status of "Success"; read from JSON only
};
Result<StatusText> decode_status(std::string_view body, Encoding encoding);
/// The meaning of an ERROR event of a watch: kExpired if the server reports 410 (list again), else kUnavailable.
Error watch_error(const StatusText& status);

/// Splits a watch stream into frames: lines for JSON, 4-byte big-endian lengths for protobuf. Chunks may be split
/// anywhere.
class FrameSplitter {
 public:
  explicit FrameSplitter(Encoding encoding, std::size_t frame_bytes_max = 16u << 20);
  /// Adds bytes and calls `on_frame` for each complete frame; the view is valid during the call only. kInvalid if a
  /// frame is too long.
  template <class OnFrame>
  Result<void> feed(std::string_view chunk, OnFrame&& on_frame);
  bool has_partial_frame() const { return begin_ < buffer_.size(); }  // for tests
  void reset();

 private:
  /// The next complete frame of the buffer, or an empty view with `found` false.
  Result<std::string_view> next(bool& found);
  void append(std::string_view chunk);

  Encoding encoding_;
  std::size_t frame_bytes_max_, begin_ = 0, scanned_ = 0;
  std::string buffer_;
};

template <class OnFrame>
Result<void> FrameSplitter::feed(std::string_view chunk, OnFrame&& on_frame) {
  append(chunk);
  for (;;) {
    bool found = false;
    Result<std::string_view> frame = next(found);
    if (!frame) return frame.error();
    if (!found) return {};
    if (!frame->empty() && !on_frame(*frame)) return {};
  }
}

}  // namespace ashlar::kube
