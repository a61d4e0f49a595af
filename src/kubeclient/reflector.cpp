#include "kubeclient/reflector.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "http/url.h"
#include "kubeclient/pod_builder.h"
#include "kubeclient/reflector_parts.h"

namespace ashlar::kube {
template <class T>
struct Reflector<T>::Follower : std::enable_shared_from_this<Reflector<T>::Follower> {
  using Event = WatchEvent<T>;
  using Kind = typename Change<T>::Kind;

  Follower(Api& a, ReflectorOptions o, OnChange c)
      : api(a),
        options(std::move(o)),
        on_change(std::move(c)),
        frames(kEncodingOf<T>),
        paging(options.page_items, options.page_bytes_max, options.from_watch_cache) {
    if (options.path.empty()) options.path = kDefaultPath<T>;
  }

  Api& api;
  ReflectorOptions options;
  OnChange on_change;
  FrameSplitter frames;
  boost::unordered_flat_map<Key, Known, KeyHash> known;
  ReflectorCounters counters;
  std::string version;       ///< where the next watch begins
  std::string list_version;  ///< of the list under way
  std::uint32_t list_number = 0;
  std::uint64_t round = 0;      ///< incremented whenever requests under way become void; late callbacks compare
  http::RequestId request = 0;  ///< the last one; cancelling one that has ended does nothing
  std::uint64_t timer = 0;
  Millis contact, watch_began;  ///< monotonic
  int failures = 0, watch_failures = 0;
  Paging paging;  ///< of the list under way
  bool is_running = false, is_synced = false, must_list = true, list_rewinds = false;
  bool list_has_nameless = false;  ///< the list under way contains objects of which not even the name can be read
  Result<void> watch_end;          ///< why the running watch was given up from inside, if it was
  std::string list_trouble;
  bool is_path_gone = false, is_refused = false;  ///< result of the last list

  void start();
  void halt();
  void next();
  void retry(Millis at_least);
  void wait(Millis delay);
  void take_list_failure(const Answer& answer);
  void report(Error error);
  std::string query(const std::string& first) const;

  void begin_list();
  void ask_page();
  void take_page(Answer answer);
  void fail_list(const Error& error, Millis retry_after = {});
  void finish_list();

  void begin_watch();
  bool take_chunk(std::string_view chunk);
  bool take_event(std::string_view frame);
  void take_watch_end(Result<http::Response> end);

  void upsert(T&& object, bool from_list);
  void erase(T&& object);
  void remember(Known& entry, const T& object);
  void emit(Kind kind, T&& object) { on_change(Change<T>{kind, std::move(object)}); }
};

template <class T>
void Reflector<T>::Follower::start() {
  if (is_running) return;
  is_running = must_list = true;
  next();
}

template <class T>
void Reflector<T>::Follower::halt() {
  ++round;
  api.cancel(request);
  api.cancel_timer(timer);
  frames.reset();
}

template <class T>
void Reflector<T>::Follower::next() {
  if (!is_running) return;
  halt();
  must_list ? begin_list() : begin_watch();
}

template <class T>
void Reflector<T>::Follower::retry(Millis at_least) {
  if (!is_running) return;
  halt();
  const Millis most = is_refused ? options.refused_max : options.backoff_max;
  const std::int64_t grown = std::min(most.value, options.backoff_min.value << std::min(failures, 16));
  ++failures;
  const auto delay = static_cast<std::int64_t>(static_cast<double>(grown) * (0.5 + 0.5 * api.jitter()));
  wait(std::max(Millis(delay), std::min(at_least, kRetryAfterMax)));
}

/// Then continues, when its turn among the reflectors has come.
template <class T>
void Reflector<T>::Follower::wait(Millis delay) {
  timer = api.after(delay, [weak = this->weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    const Millis longer = self->options.pace ? self->options.pace->ask(self->api.monotonic()) : Millis(0);
    if (longer > Millis(0)) return self->wait(longer);
    self->next();
  });
}

template <class T>
void Reflector<T>::Follower::report(Error error) {
  error.message = options.path + ": " + error.message;
  if (options.on_error) options.on_error(error);
}

template <class T>
std::string Reflector<T>::Follower::query(const std::string& first) const {
  std::string text = options.path + "?" + first;
  if (!options.field_selector.empty()) text += "&fieldSelector=" + http::percent_encode(options.field_selector);
  if (!options.label_selector.empty()) text += "&labelSelector=" + http::percent_encode(options.label_selector);
  return text;
}

template <class T>
void Reflector<T>::Follower::begin_list() {
  is_synced = false;
  list_rewinds = list_has_nameless = false;
  list_version.clear();
  paging.restart();
  ++list_number;
  ++counters.lists;
  ask_page();
}

template <class T>
void Reflector<T>::Follower::ask_page() {
  http::Request page{.path = query(paging.parameters()),
                     .accept = kEncodingOf<T> == Encoding::kProtobuf ? kProtobufType : kJsonType,
                     .timeout = options.list_timeout,
                     .has_own_connection = true,
                     .body_bytes_max = paging.bytes_max()};
  request = api.send(std::move(page), [weak = this->weak_from_this(), now = round](Answer answer) {
    const auto self = weak.lock();
    if (self && self->round == now) self->take_page(std::move(answer));
  });
}

template <class T>
void Reflector<T>::Follower::take_list_failure(const Answer& answer) {
  const Error& error = answer.result.error();
  if (error.kind == Error::Kind::kTooLong && paging.note_too_long()) return ask_page();
  ++counters.errors;
  is_path_gone = answer.status == 404 || answer.status == 406;
  is_refused = is_path_gone || answer.status == 403;
  if (error.kind == Error::Kind::kExpired) ++counters.expired;  // the continue token is too old: list again
  fail_list(error, answer.retry_after);
}

template <class T>
void Reflector<T>::Follower::fail_list(const Error& error, Millis retry_after) {
  list_trouble = error.message;
  const std::uint64_t now = round;
  report(error);
  if (round == now) retry(retry_after);
}

template <class T>
void Reflector<T>::Follower::take_page(Answer answer) {
  contact = api.monotonic();
  if (!answer.ok()) return take_list_failure(answer);
  Result<ListPage<T>> page = decode_list<T>(answer.body);
  const std::size_t bytes = answer.body.size();
  answer.body = std::string();  // a page may be large; what follows runs the owner's callbacks
  if (!page) {
    ++counters.bad_events;
    return fail_list(page.error());
  }
  const std::uint64_t now = round;
  for (const std::string& why : page->nameless) {
    list_has_nameless = true;
    ++counters.bad_events;
    report(invalid("an object of the list cannot be read, not even its name: " + why));
    if (round != now) return;  // stopped or relisted by a callback
  }
  if (list_version.empty()) {
    list_version = page->resource_version;
    // A consistent list that is older than what we saw: the server's store was restored. Trust the list, not the cache.
    const bool is_consistent = options.page_items > 0 || !options.from_watch_cache;
    list_rewinds = is_consistent && read_resource_version(list_version) < read_resource_version(version);
  }
  for (T& object : page->items) {
    upsert(std::move(object), true);
    if (round != now) return;
  }
  if (page->continue_token.empty()) return finish_list();
  const Result<void> fresh = paging.go_on(page->continue_token, bytes, page->items.empty() && page->nameless.empty());
  if (fresh.ok()) return ask_page();
  ++counters.errors;
  fail_list(fresh.error());
}

template <class T>
void Reflector<T>::Follower::finish_list() {
  const std::uint64_t now = round, listed_at = read_resource_version(list_version);
  std::vector<std::pair<Key, Known>> vanished;
  for (const auto& [key, entry] : known) {
    if (list_has_nameless) break;  // an object missing from the list may be the one without a name
    // the watch will report what became of it
    const bool is_newer_than_list = !list_rewinds && listed_at != 0 && entry.version > listed_at;
    if (entry.list != list_number && !is_newer_than_list) vanished.emplace_back(key, entry);
  }
  // In order of names, so that the order of deletions does not depend on the hash table.
  std::ranges::sort(vanished, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [key, entry] : vanished) {
    counters.unreadable -= entry.is_unread;
    known.erase(key);
    T gone;
    gone.ns = key.ns, gone.name = key.name, gone.uid = entry.uid;
    emit(Kind::kDeleted, std::move(gone));
    if (round != now) return;
  }
  version = list_version;
  paging.restart();
  must_list = false;
  // `failures` stays until a watch works, or list and refused watch could chase each other without a pause
  watch_failures = 0;
  is_synced = true;
  list_trouble.clear();
  is_path_gone = is_refused = false;
  emit(Kind::kSynced, T());
  if (round == now) next();
}

template <class T>
void Reflector<T>::Follower::begin_watch() {
  ++counters.watches;
  watch_end = Result<void>();
  watch_began = contact = api.monotonic();
  const double spread =
      static_cast<double>((options.watch_timeout_max - options.watch_timeout_min).value) * api.jitter();
  const std::int64_t seconds = (options.watch_timeout_min.value + static_cast<std::int64_t>(spread)) / 1000;
  http::Request watch{
      .path = query("watch=1&allowWatchBookmarks=true&resourceVersion=" + http::percent_encode(version) +
                    "&timeoutSeconds=" + std::to_string(std::max<std::int64_t>(1, seconds))),
      .accept = kEncodingOf<T> == Encoding::kProtobuf ? kProtobufWatchType : kJsonType,
      .timeout = Millis(0)};
  const std::weak_ptr<Follower> weak = this->weak_from_this();
  const std::uint64_t now = round;
  http::StreamHandlers handlers;
  handlers.on_open = [weak, now](const http::Response& response) {
    const auto self = weak.lock();
    if (!self || self->round != now) return;
    self->contact = self->api.monotonic();
    self->watch_end = check_encoding(response, kEncodingOf<T>);
  };
  handlers.on_chunk = [weak, now](std::string_view chunk) {
    const auto self = weak.lock();
    return self && self->round == now && self->take_chunk(chunk);
  };
  handlers.on_done = [weak, now](Result<http::Response> end) {
    const auto self = weak.lock();
    if (self && self->round == now) self->take_watch_end(std::move(end));
  };
  request = api.stream(std::move(watch), std::move(handlers), options.silence_max);
}

template <class T>
bool Reflector<T>::Follower::take_chunk(std::string_view chunk) {
  contact = api.monotonic();
  if (!watch_end) return false;
  const std::uint64_t now = round;
  Result<void> cut = frames.feed(chunk, [&](std::string_view frame) { return take_event(frame) && round == now; });
  if (!cut) watch_end = cut;
  return round == now && watch_end.ok();
}

/// False ends the watch; `watch_end` then has the reason.
template <class T>
bool Reflector<T>::Follower::take_event(std::string_view frame) {
  Result<Event> event = decode_watch_event<T>(frame);
  if (!event) {
    ++counters.bad_events;
    watch_end = event.error();
    return false;
  }
  switch (event->kind) {
    case Event::Kind::kBookmark:
      ++counters.bookmarks;
      break;
    case Event::Kind::kError:
      if (event->error.kind == Error::Kind::kExpired) ++counters.expired;
      watch_end = event->error;
      return false;
    case Event::Kind::kAdded:
    case Event::Kind::kModified:
      ++counters.events;
      // before the callback, which may read it
      if (event->object.resource_version != 0) version = event->resource_version;
      upsert(std::move(event->object), false);
      return true;
    case Event::Kind::kDeleted:
      ++counters.events;
      if (event->object.resource_version != 0) version = event->resource_version;
      erase(std::move(event->object));
      return true;
  }
  if (!event->resource_version.empty()) version = std::move(event->resource_version);
  return true;
}

template <class T>
void Reflector<T>::Follower::take_watch_end(Result<http::Response> end) {
  const bool has_answer = end.ok();
  Millis retry_after;
  bool is_refused_watch = false;  // the kind no longer exists, or reading it is not permitted
  Result<void> why = watch_end;
  if (why.ok() && !end) why = end.error();
  if (why.ok() && end->status >= 400) {
    Answer answer = to_answer(std::move(end));
    why = answer.result;
    retry_after = answer.retry_after;
    is_refused_watch = answer.status == 403 || answer.status == 404;
    if (why.error().kind == Error::Kind::kExpired) ++counters.expired;
  }
  // Only a watch that lasted has worked: a server that reports an error inside (410, 500) may send bookmarks or events
  // before it, each time.
  const bool lived = api.monotonic() - watch_began >= kWatchShortLife;
  if (lived) failures = watch_failures = 0;
  if (why.ok()) {
    if (lived) return next();  // the server's own time limit: continue at once
    ++watch_failures;
    if (watch_failures >= kWatchFailuresBeforeList) must_list = true;
    return retry(Millis(0));
  }
  ++counters.errors;
  const Error::Kind kind = why.error().kind;
  report(why.error());
  // An unreadable or outdated version needs a fresh list; a broken connection only needs a new watch from where the old
  // one ended, however long the server was unreachable.
  const bool is_disconnected = watch_end.ok() && !has_answer && kind != Error::Kind::kInvalid;
  if (!is_disconnected) ++watch_failures;
  must_list = kind == Error::Kind::kExpired || kind == Error::Kind::kInvalid || is_refused_watch ||
              watch_failures >= kWatchFailuresBeforeList;
  if (must_list) is_synced = false;
  if (kind == Error::Kind::kExpired && failures == 0) {
    ++failures;
    return next();
  }
  retry(retry_after);
}

template <class T>
void Reflector<T>::Follower::remember(Known& entry, const T& object) {
  const bool is_unread = !object.problem.empty();
  counters.bad_events += is_unread;
  counters.unreadable += is_unread;
  counters.unreadable -= entry.is_unread;
  entry.is_unread = is_unread;
  entry.version = object.resource_version;
}

template <class T>
void Reflector<T>::Follower::upsert(T&& object, bool from_list) {
  const Key key{object.ns, object.name};
  const auto found = known.find(key);
  if (found == known.end()) {
    remember(known.emplace(key, Known{object.uid, 0, list_number}).first->second, object);
    return emit(Kind::kAdded, std::move(object));
  }
  Known& entry = found->second;
  entry.list = list_number;
  if (object.uid.empty() && !object.problem.empty()) object.uid = entry.uid;  // there is no sign that it is another one
  if (entry.uid == object.uid) {
    const bool is_old = object.resource_version != 0 && object.resource_version <= entry.version;
    const bool is_same = object.resource_version == entry.version;
    if (is_old && (is_same || !(from_list && list_rewinds))) {
      counters.stale_dropped += !from_list;
      return;
    }
    remember(entry, object);
    return emit(Kind::kModified, std::move(object));
  }
  // Another object of the same name: the old one's deletion was missed.
  T gone;
  gone.ns = object.ns;
  gone.name = object.name;
  gone.uid = entry.uid;
  entry.uid = object.uid;
  remember(entry, object);
  const std::uint64_t now = round;
  emit(Kind::kDeleted, std::move(gone));
  if (round == now) emit(Kind::kAdded, std::move(object));
}

template <class T>
void Reflector<T>::Follower::erase(T&& object) {
  const auto found = known.find(Key{object.ns, object.name});
  if (found != known.end() && object.uid.empty() && !object.problem.empty()) object.uid = found->second.uid;
  if (found == known.end() || !(found->second.uid == object.uid)) {
    ++counters.stale_dropped;
    return;
  }
  counters.unreadable -= found->second.is_unread;
  known.erase(found);
  emit(Kind::kDeleted, std::move(object));
}

template <class T>
Reflector<T>::Reflector(Api& api, ReflectorOptions options, OnChange on_change)
    : follower_(std::make_shared<Follower>(api, std::move(options), std::move(on_change))) {}

template <class T>
Reflector<T>::~Reflector() {
  stop();
}

template <class T>
void Reflector<T>::start() {
  follower_->start();
}

template <class T>
void Reflector<T>::stop() {
  follower_->is_running = false;
  follower_->is_synced = false;
  follower_->halt();
}

template <class T>
void Reflector<T>::relist() {
  if (!follower_->is_running) return;
  follower_->must_list = true;
  follower_->next();
}

template <class T>
void Reflector<T>::list_from(const std::string& path) {
  follower_->options.path = path;
  follower_->failures = 0;
  relist();
}

template <class T>
const std::string& Reflector<T>::list_trouble() const {
  return follower_->list_trouble;
}
template <class T>
bool Reflector<T>::is_path_gone() const {
  return follower_->is_path_gone;
}
template <class T>
bool Reflector<T>::is_synced() const {
  return follower_->is_synced;
}
template <class T>
const std::string& Reflector<T>::resource_version() const {
  return follower_->version;
}
template <class T>
Millis Reflector<T>::last_contact() const {
  return follower_->contact;
}
template <class T>
std::size_t Reflector<T>::known_objects() const {
  return follower_->known.size();
}
template <class T>
const ReflectorCounters& Reflector<T>::counters() const {
  return follower_->counters;
}

#define ASHLAR_INSTANTIATE(T) template class Reflector<T>;
ASHLAR_WATCHED_KINDS(ASHLAR_INSTANTIATE)
#undef ASHLAR_INSTANTIATE

}  // namespace ashlar::kube
