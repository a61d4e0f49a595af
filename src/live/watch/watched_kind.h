// WatchedKind: one kind of object followed on the API server: its reflector, its cache while no term leads, and what
// prevents listing it. What differs between kinds is a row of Watches; a new kind is one more row, its decoder, a
// WatchedChange and what a LeaderTerm makes of it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kubeclient/reflector.h"
#include "live/lead/log.h"
#include "live/read/metrics.h"
#include "live/watch/standby_cache.h"
#include "live/watch/watched_change.h"

namespace ashlar::kube {

struct WatchedKindRow {
  std::string_view resource;  ///< "pods"
  std::string_view object;    ///< "pod"
  /// nothing is decided without it; else: if it cannot be listed, that is logged once and stops nothing
  bool is_required = false;
  bool keeps_known = false;       ///< once listed it is known as it was, even while it cannot be listed again
  bool waits_for_others = false;  ///< listed only once all other kinds are known, or why they are not
  std::string_view absent = {};   ///< what is logged, as information, if the server has no such kind; empty: its answer
  ReflectorOptions options = {};  ///< what differs from the common ones
  bool has_many_versions = false;  ///< its path is found before it is listed, and again when it disappears: see Watches
  /// Reports to a leader why the kind is not known; no problem: it is, or its first list is under way. May be empty.
  std::function<WatchedChange(const std::string& problem)> note = {};
  std::function<void()> on_listed = {};  ///< may be empty
};

class WatchedKind {
 public:
  /// What kinds of one process share.
  struct Shared {
    Api& api;
    OnLog on_log;
    std::function<void(WatchedKind&)> on_path_gone;
    OnWatched to_leader = {};  ///< empty while no term leads

    void log(LogLevel level, const LogLine& line) const {
      if (on_log) on_log(level, line);
    }
  };

  WatchedKind(Shared& shared, WatchedKindRow row) : shared_(shared), row_(std::move(row)) {}
  virtual ~WatchedKind() = default;
  WatchedKind(const WatchedKind&) = delete;
  WatchedKind& operator=(const WatchedKind&) = delete;

  /// Lists and follows the kind from this path (empty: the usual one). If it is followed already, nothing happens,
  /// except that it continues from another path if its own has disappeared.
  virtual void follow(const std::string& path) = 0;
  /// Forgets everything and stops all requests.
  virtual void forget() = 0;
  /// Hands everything known to the leader. The last changes of an old leader may not have arrived by watch yet:
  /// `lists_again` requests a new list.
  virtual void hand_over(bool lists_again) = 0;
  virtual bool is_followed() const = 0;
  virtual bool is_synced() const = 0;
  virtual std::size_t known_objects() const = 0;
  virtual void add_fact(std::map<std::string_view, ProcessFacts::Watch>& facts) const = 0;

  const WatchedKindRow& row() const { return row_; }
  /// True if enough of it is known to decide.
  bool is_known() const { return row_.is_required ? is_synced() : has_settled_; }
  /// Why it cannot be listed; empty while it can, or as long as what was known of it is kept.
  std::string problem() const;
  /// Why it cannot even be requested: no version of it is known. Empty: one is.
  void note_no_path(std::string problem);
  void tell() const;

 protected:
  Shared& shared_;
  WatchedKindRow row_;
  std::string path_problem_;  ///< why no path is known
  std::string said_;          ///< the last trouble with its list that was logged; empty since it could be listed
  bool was_listed_ = false;   ///< what was listed is kept
  bool has_settled_ = false;  ///< it was listed, or is known to be impossible to list
};

inline void WatchedKind::note_no_path(std::string problem) {
  path_problem_ = std::move(problem);
  if (!path_problem_.empty()) has_settled_ = true;
  tell();
}

inline std::string WatchedKind::problem() const {
  if (is_synced() || (row_.keeps_known && was_listed_)) return {};
  return path_problem_.empty() ? said_ : path_problem_;
}

inline void WatchedKind::tell() const {
  if (shared_.to_leader && row_.note) shared_.to_leader(row_.note(problem()));
}

template <class T>
class WatchedKindOf final : public WatchedKind {
 public:
  using WatchedKind::WatchedKind;

  void follow(const std::string& path) override {
    if (reflector_) {
      if (reflector_->is_path_gone()) reflector_->list_from(path);
      return;
    }
    has_settled_ = false;
    ReflectorOptions options = row_.options;
    options.path = path;
    options.on_error = [this](const Error& error) { note_trouble(error); };
    reflector_ = std::make_unique<Reflector<T>>(shared_.api, std::move(options),
                                                [this](Change<T>&& change) { take(std::move(change)); });
    reflector_->start();
  }
  void forget() override {
    reflector_.reset();
    cache_ = {};
    said_.clear();
    was_listed_ = false;
    has_settled_ = !path_problem_.empty();  // a version is still looked for, at its own interval
  }
  void hand_over(bool lists_again) override {
    cache_.drain([this](Change<T>&& change) { shared_.to_leader(std::move(change)); });
    if (lists_again && reflector_) reflector_->relist();
  }
  bool is_followed() const override { return reflector_ != nullptr; }
  bool is_synced() const override { return reflector_ && reflector_->is_synced(); }
  std::size_t known_objects() const override { return reflector_ ? reflector_->known_objects() : 0; }
  void add_fact(std::map<std::string_view, ProcessFacts::Watch>& facts) const override {
    ProcessFacts::Watch fact{.resource = row_.resource};
    if (reflector_) {
      const ReflectorCounters& c = reflector_->counters();
      fact = {.resource = row_.resource,
              .lists = c.lists,
              .watches = c.watches,
              .events = c.events,
              .errors = c.errors,
              .objects = reflector_->known_objects(),
              .unreadable = c.unreadable,
              .silent = shared_.api.monotonic() - reflector_->last_contact(),
              .is_listed = is_synced(),
              .expired = c.expired};
    }
    facts[row_.resource] = fact;
  }

 private:
  void take(Change<T>&& change) {
    const T& object = change.object;
    if (change.kind == Change<T>::Kind::kSynced) {
      note_listed();
      // a reflector reports no version twice
    } else if (!object.problem.empty() && change.kind != Change<T>::Kind::kDeleted) {
      const std::string name = object.ns.empty() ? object.name.str() : object.ns.str() + "/" + object.name.str();
      shared_.log(LogLevel::kWarning,
                  {std::string(row_.object) + " " + name + " cannot be read whole: " + object.problem.str(),
                   row_.object, object.ns, object.name});
    }
    if (shared_.to_leader)
      shared_.to_leader(std::move(change));
    else
      cache_.take(std::move(change));
  }
  /// What prevents listing a kind is logged once; any other error each time.
  void note_trouble(const Error& error) {
    const std::string& trouble = reflector_->list_trouble();
    const bool is_said = !trouble.empty() && trouble == said_;
    if (!is_said && !row_.absent.empty() && reflector_->is_path_gone())
      shared_.log(LogLevel::kInfo, std::string(row_.absent));
    else if (!is_said)
      shared_.log(LogLevel::kWarning, error.message);
    if (trouble.empty()) return;
    said_ = trouble;
    has_settled_ = true;
    if (!is_said) tell();
    if (row_.has_many_versions && reflector_->is_path_gone()) shared_.on_path_gone(*this);
  }
  void note_listed() {
    const bool was_in_trouble = !said_.empty();
    said_.clear();
    was_listed_ = has_settled_ = true;
    if (was_in_trouble) shared_.log(LogLevel::kInfo, std::string(row_.resource) + " can be listed again");
    if (row_.on_listed) row_.on_listed();
    tell();
  }

  std::unique_ptr<Reflector<T>> reflector_;
  StandbyCache<T> cache_;
};

}  // namespace ashlar::kube
