#include "live/track/queues/queue_book.h"

#include <algorithm>
#include <utility>

#include "kubeclient/bind_outcome.h"
#include "state/queues/queue_tree.h"

namespace ashlar::kube {

QueueBook::QueueBook(const std::vector<QueueSettings>& configured, Read read) : read_(std::move(read)) {
  for (const QueueSettings& queue : configured) configured_.emplace(queue.name, queue);
  const std::string by_default(kDefaultQueue);
  configured_.try_emplace(by_default, QueueSettings{.name = by_default, .parent = {}});
}

void QueueBook::take(Change<QueueObject>&& change, const std::function<void(const QueueSettings&)>& define) {
  if (change.kind == Change<QueueObject>::Kind::kSynced || !read_) return;
  const QueueObject& object = change.object;
  const std::string name = object.name.str();
  const bool is_gone = change.kind == Change<QueueObject>::Kind::kDeleted;
  if (is_gone && !stated_.contains(name)) return;
  const bool is_one_more = !stated_.contains(name);
  Stated& queue = stated_[name];
  const bool is_as_before =
      !is_gone && !is_one_more && queue.is_there && queue.uid == object.uid && queue.generation == object.generation;
  queue.accepted = object.accepted;
  if (is_as_before) return;                                         // its status alone
  if (!is_gone && queue.uid != object.uid) queue.is_known = false;  // another one of the same name
  queue.name = object.name;
  queue.uid = object.uid;
  queue.generation = object.generation;
  queue.is_there = !is_gone;
  if (is_gone && queue.is_refused) {
    stated_.erase(name);
    return;
  }
  if (is_one_more) {
    queue.settings.name = name;
    if (configured_.contains(name) || name == "root" || are_too_many()) {
      queue.is_refused = true;
      queue.unreadable = configured_.contains(name) ? "the configuration of the scheduler states a queue of this name"
                         : name == "root"           ? "\"root\" is the name of the whole tree"
                                                    : "there are more than " + std::to_string(kMax) + " queues";
    }
  }
  if (queue.is_refused) return;
  if (!is_gone) {
    Result<QueueSettings> read = object.problem.empty() ? read_(object) : invalid(object.problem.str());
    queue.unreadable = read ? "" : bounded_words(read.error().message);
    queue.is_known = queue.is_known || read.ok();
    below_[queue.settings.parent].erase(name);
    if (read)
      queue.settings = std::move(read).value();
    else if (!queue.is_known)
      queue.settings = {.name = name, .parent = {}, .gate = {.is = QueueGate::Is::kHeld}};
    below_[queue.settings.parent].insert(name);
  }
  std::set<std::string> done;
  define_with_those_below(name, define, done);
}

bool QueueBook::are_too_many() const {
  const auto is_there = [](const auto& of) { return of.second.is_there && !of.second.is_refused; };
  return stated_.size() > kMax && std::ranges::count_if(stated_, is_there) > static_cast<std::ptrdiff_t>(kMax);
}

bool QueueBook::has(const std::string& name) const {
  if (configured_.contains(name)) return true;
  const auto it = stated_.find(name);
  return it != stated_.end() && it->second.is_there && !it->second.is_refused;
}

const QueueSettings* QueueBook::known(const std::string& name) const {
  if (const auto it = configured_.find(name); it != configured_.end()) return &it->second;
  const auto it = stated_.find(name);
  return it == stated_.end() || !it->second.is_there || it->second.is_refused ? nullptr : &it->second.settings;
}

std::string QueueBook::place_problem(const Stated& queue) const {
  if (queue.settings.parent.empty()) return {};
  const QueueSettings* above = known(queue.settings.parent);
  if (above == nullptr) return "there is no queue \"" + bounded_words(queue.settings.parent) + "\", its parent";
  int depth = 2;  // the root, and this one
  for (; above != nullptr && depth <= QueueTree::kDepthMax; ++depth) {
    if (above->name == queue.settings.name) return "its parent is below it";
    above = above->parent.empty() ? nullptr : known(above->parent);
  }
  if (depth > QueueTree::kDepthMax)
    return "it is more than " + std::to_string(QueueTree::kDepthMax - 1) + " levels deep, or above itself";
  return {};
}

QueueSettings QueueBook::in_force(Stated& queue) {
  QueueSettings settings = queue.settings;
  queue.misplaced = place_problem(queue);
  if (!queue.misplaced.empty()) settings.parent.clear();
  if (!queue.misplaced.empty() || !queue.is_there) settings.gate = {.is = QueueGate::Is::kHeld};
  const QueueSettings* above = settings.parent.empty() ? nullptr : known(settings.parent);
  for (int depth = 0; settings.namespaces.empty() && above != nullptr && depth < QueueTree::kDepthMax; ++depth) {
    settings.namespaces = above->namespaces;
    above = above->parent.empty() ? nullptr : known(above->parent);
  }
  return settings;
}

void QueueBook::define_with_those_below(const std::string& name,
                                        const std::function<void(const QueueSettings&)>& define,
                                        std::set<std::string>& done) {
  if (!done.insert(name).second) return;
  define(in_force(stated_.at(name)));
  if (const auto below = below_.find(name); below != below_.end())
    for (const std::string& other : below->second) define_with_those_below(other, define, done);
}

std::string QueueBook::trouble(const Stated& queue) {
  if (queue.is_refused) return queue.unreadable + "; this object has no effect";
  std::string words = queue.unreadable;
  if (!words.empty() && !queue.is_known)
    words += "; nothing of the queue starts until it can be read";
  else if (!words.empty())
    words += "; what was last read stays in force";
  if (!queue.misplaced.empty())
    words += (words.empty() ? "" : ". ") + queue.misplaced + "; nothing of the queue starts until it has a place";
  return words;
}

}  // namespace ashlar::kube
