#include "kubeclient/decode/protobuf.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>

#include "kubeclient/decode/object_protobuf.h"
#include "kubeclient/decode/selecting_protobuf.h"
#include "kubeclient/decode/volume_protobuf.h"
#include "kubeclient/pod_builder.h"

namespace ashlar::kube::proto {
namespace {

// Lists are paginated; a message beyond this is refused before anything is allocated for it.
constexpr std::size_t kMessageBytesMax = 1u << 30;
// A message takes several times its bytes in memory: beyond this size the items of a list are parsed one by one.
constexpr std::size_t kWholeListBytesMax = 16u << 20;
// First block of the arena, kept for the thread: decoding a watch event then allocates nothing for the message itself.
constexpr std::size_t kArenaBlockBytes = 64u << 10;

/// Removes the envelope: body = "k8s\0" + Unknown{typeMeta, raw}. Reads the fields by hand, since copying `raw` would
/// double the memory.
Result<std::string_view> unwrap(std::string_view body) {
  static constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic)) return invalid("the answer is not Kubernetes protobuf: it does not begin with k8s\\0");
  if (body.size() > kMessageBytesMax) return invalid("the protobuf answer is too long");
  body.remove_prefix(kMagic.size());
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(body.data()),
                                            static_cast<int>(body.size()));
  std::string_view raw;
  for (;;) {
    const std::uint32_t tag = in.ReadTag();
    if (tag == 0) break;
    if ((tag & 7) != 2) return invalid("the protobuf envelope holds an unexpected field");
    std::uint32_t length = 0;
    if (!in.ReadVarint32(&length)) return invalid("the protobuf envelope is cut off");
    const int position = in.CurrentPosition();
    if (length > body.size() - static_cast<std::size_t>(position) || !in.Skip(static_cast<int>(length)))
      return invalid("the protobuf envelope is cut off");
    if ((tag >> 3) == 2) raw = body.substr(static_cast<std::size_t>(position), length);
  }
  if (!in.ConsumedEntireMessage()) return invalid("the protobuf envelope is malformed");
  return raw;
}

/// Parses into an arena that lives as long as this object.
template <class Message>
class Parsed {
 public:
  explicit Parsed(std::string_view raw) : arena_(options()) {
    message_ = google::protobuf::Arena::CreateMessage<Message>(&arena_);
    is_sound_ = raw.size() <= kMessageBytesMax && message_->ParseFromArray(raw.data(), static_cast<int>(raw.size()));
  }
  bool is_sound() const { return is_sound_; }
  const Message& operator*() const { return *message_; }
  const Message* operator->() const { return message_; }

 private:
  static google::protobuf::ArenaOptions options() {
    google::protobuf::ArenaOptions options;
    options.start_block_size = 8u << 10;
    options.max_block_size = kArenaBlockBytes;
    return options;
  }
  google::protobuf::Arena arena_;
  Message* message_ = nullptr;
  bool is_sound_ = false;
};

template <class T>
struct Wire;
// NOLINTBEGIN(bugprone-macro-parentheses): types take none
#define ASHLAR_WIRE(T, Message)                                                    \
  template <>                                                                      \
  struct Wire<T> {                                                                 \
    using Object = pb::Message;                                                    \
    using List = pb::Message##List;                                                \
    static constexpr std::string_view kObject = #Message, kList = #Message "List"; \
  };
ASHLAR_WIRE(Pod, Pod)
ASHLAR_WIRE(Node, Node)
ASHLAR_WIRE(PersistentVolumeClaim, PersistentVolumeClaim)
ASHLAR_WIRE(PersistentVolume, PersistentVolume)
ASHLAR_WIRE(StorageClass, StorageClass)
ASHLAR_WIRE(CsiNode, CSINode)
ASHLAR_WIRE(CsiDriver, CSIDriver)
ASHLAR_WIRE(CsiStorageCapacity, CSIStorageCapacity)
ASHLAR_WIRE(VolumeAttachment, VolumeAttachment)
ASHLAR_WIRE(Service, Service)
ASHLAR_WIRE(ReplicationController, ReplicationController)
ASHLAR_WIRE(ReplicaSet, ReplicaSet)
ASHLAR_WIRE(StatefulSet, StatefulSet)
#undef ASHLAR_WIRE
// NOLINTEND(bugprone-macro-parentheses)

/// The part of a message that is valid by itself; an empty one if it is not.
template <class Part>
Part part_of(std::string_view raw) {
  Part part;
  if (raw.size() > kMessageBytesMax || !part.ParsePartialFromArray(raw.data(), static_cast<int>(raw.size())))
    part.Clear();
  return part;
}

/// The identity of an object that is no valid message and, for a pod, its scheduler and its node.
template <class T>
T read_identity(std::string_view raw) {
  T object;
  const pb::IdentityMeta meta = part_of<pb::IdentityOfMeta>(raw).metadata();
  object.ns = meta.namespace_();
  object.name = meta.name();
  object.uid = meta.uid();
  object.resource_version = read_resource_version(meta.resourceversion());
  if constexpr (std::is_same_v<T, Pod>) {
    const pb::IdentitySpec spec = part_of<pb::IdentityOfSpec>(raw).spec();
    object.node_name = spec.nodename();
    object.scheduler_name = spec.schedulername();
    object.phase = read_phase(part_of<pb::IdentityOfStatus>(raw).status().phase());
    object.lacks_amounts = true;
  }
  return object;
}

/// Reads one parsed message; kInvalid if it has no name.
template <class T>
Result<T> convert(const typename Wire<T>::Object& from, const UnknownFields& unknown = {}) {
  T object;
  std::string problem;
  read_object(from, unknown, object, problem);
  if (object.name.empty()) return invalid(problem.empty() ? "metadata.name is missing" : problem);
  object.problem = problem;
  return object;
}

/// One object by itself, with its identity if it is no valid message.
template <class T>
Result<T> read_alone(std::string_view raw) {
  const Parsed<typename Wire<T>::Object> parsed(raw);
  if (parsed.is_sound()) return convert<T>(*parsed, find_unknown_fields(raw, Wire<T>::kObject));
  T object = read_identity<T>(raw);
  object.problem = "it is not a valid protobuf message";
  if (object.name.empty()) return invalid(object.problem.str());
  return object;
}

bool asks_for_initial_events_end(const pb::ObjectMeta& meta) {
  return std::any_of(meta.annotations().begin(), meta.annotations().end(), [](const pb::StringPair& pair) {
    return pair.key() == "k8s.io/initial-events-end" && pair.value() == "true";
  });
}

}  // namespace

template <class T>
Result<T> decode_object(std::string_view body) {
  Result<std::string_view> raw = unwrap(body);
  if (!raw) return raw.error();
  return read_alone<T>(*raw);
}

template <class T>
Result<ListPage<T>> decode_list(std::string_view body) {
  Result<std::string_view> raw = unwrap(body);
  if (!raw) return raw.error();
  ListPage<T> page;
  const auto take_head = [&](const pb::ListMeta& meta, int count) {
    page.resource_version = meta.resourceversion();
    page.continue_token = meta.continue_();
    page.items.reserve(static_cast<std::size_t>(count));
    return !page.resource_version.empty();
  };
  const auto take_item = [&](Result<T> object) {
    if (object)
      page.items.push_back(std::move(object).value());
    else
      page.nameless.push_back(object.error().message);
  };
  const Error is_no_list = invalid("the answer is not a list: metadata.resourceVersion is missing");
  if (raw->size() <= kWholeListBytesMax && !has_unknown_fields(*raw, Wire<T>::kList)) {
    const Parsed<typename Wire<T>::List> parsed(*raw);
    if (parsed.is_sound()) {
      if (!take_head(parsed->metadata(), parsed->items_size())) return is_no_list;
      for (const auto& item : parsed->items()) take_item(convert<T>(item));
      return page;
    }
  }
  // It is large, has fields that are not known, an item is no valid message, or the whole list is garbage: reading each
  // item separately shows which.
  const Parsed<pb::RawList> list(*raw);
  if (!list.is_sound()) return invalid("the list is not a valid protobuf message");
  if (!take_head(list->metadata(), list->items_size())) return is_no_list;
  for (const std::string& item : list->items()) take_item(read_alone<T>(item));
  return page;
}

template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string_view frame) {
  using Kind = WatchEventKind;
  const Parsed<pb::WatchEvent> outer(frame);
  if (!outer.is_sound()) return invalid("the watch event is not a valid protobuf message");
  const Result<Kind> kind = watch_event_kind(outer->type());
  if (!kind) return kind.error();
  WatchEvent<T> event;
  event.kind = *kind;
  if (event.kind == Kind::kError) {
    Result<StatusText> status = decode_status(outer->object().raw());
    if (!status) return status.error();
    event.error = watch_error(*status);
    return event;
  }
  Result<std::string_view> raw = unwrap(outer->object().raw());
  if (!raw) return raw.error();
  if (event.kind == Kind::kBookmark) {
    const Parsed<typename Wire<T>::Object> bookmark(*raw);
    if (!bookmark.is_sound()) return invalid("the object of a watch event is not a valid protobuf message");
    event.resource_version = bookmark->metadata().resourceversion();
    event.initial_events_end = asks_for_initial_events_end(bookmark->metadata());
    return event;
  }
  Result<T> object = read_alone<T>(*raw);
  if (!object) return object.error();
  event.object = std::move(object).value();
  event.resource_version = std::to_string(event.object.resource_version);
  return event;
}

Result<StatusText> decode_status(std::string_view body) {
  Result<std::string_view> raw = unwrap(body);
  if (!raw) return raw.error();
  const Parsed<pb::Status> parsed(*raw);
  if (!parsed.is_sound()) return invalid("the status is not a valid protobuf message");
  return StatusText{parsed->message(), parsed->reason(), parsed->code(), parsed->details().retryafterseconds(), false};
}

// NOLINTBEGIN(bugprone-macro-parentheses): types take none
#define ASHLAR_INSTANTIATE(T)                                    \
  template Result<T> decode_object<T>(std::string_view);         \
  template Result<ListPage<T>> decode_list<T>(std::string_view); \
  template Result<WatchEvent<T>> decode_watch_event<T>(std::string_view);
ASHLAR_INSTANTIATE(Pod)
ASHLAR_INSTANTIATE(Node)
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

}  // namespace ashlar::kube::proto
