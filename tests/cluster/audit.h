// BindAudit: what bindings did the API server itself see? Read from its audit log: for every pod the binding requests
// by target and answer, and the reads of the pod between them, in the order in which they were received. A server never
// changes spec.nodeName, so a pod that somebody tried to bind twice shows here only. The log has uid and target of a
// binding once it was answered; of one that never was (its server was killed) they come from the fault proxy that
// forwarded it, found by the request's audit id, as does the answer that the binder was given.
#pragma once

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "envtest/fault_proxy.h"

namespace ashlar::live_tests {

class BindAudit {
 public:
  using Forwarded = std::vector<envtest::FaultProxy::Forwarded>;
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  struct Request {
    bool is_binding = false;  ///< otherwise a read of the pod, or of all
    std::string uid, target;  ///< of a binding: its precondition and node; empty where nobody knows its body
    std::string user;
    int code = 0;                                 ///< 0: received, never answered
    bool is_answer_lost = false;                  ///< the server may have answered, but the asker got nothing
    std::size_t received = 0, answered = kNever;  ///< lines of the log
  };

  /// `forwarded`: by all proxies that bindings went through; `from`: what stands before that byte belongs to others.
  explicit BindAudit(const std::string& log_file, const Forwarded& forwarded = {}, std::streamoff from = 0) {
    std::ifstream in(log_file, std::ios::binary);
    in.seekg(from);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line); ++number) {
      boost::json::error_code error;
      const boost::json::value value = boost::json::parse(line, error);
      if (!error) take(value.as_object(), number);  // the last line may be half written
    }
    for (const auto& f : forwarded) add(f);
  }

  std::size_t count(int code) const {
    return count_if([&](const Request& r) { return r.code == code; });
  }
  /// Pods of `others` (a prefix of namespace/name) whose binding the server took after the last of `first`.
  std::size_t bound_after(const std::string& first, const std::string& others) const {
    std::size_t last = 0;
    for (const auto& [id, r] : requests_)
      if (r.is_binding && r.code == 201 && pod_of_.at(id).starts_with(first)) last = std::max(last, r.received);
    return count_if([&](const Request& r) { return r.code == 201 && r.received > last; }, others);
  }
  /// Bindings that the server took for pods whose namespace/name starts so.
  std::size_t taken(const std::string& prefix) const {
    return count_if([](const Request& r) { return r.code == 201; }, prefix);
  }
  /// Requests to bind pods whose namespace/name starts so, whatever became of them.
  std::size_t bindings_of(const std::string& prefix) const {
    return count_if([](const Request&) { return true; }, prefix);
  }
  /// Those that the server received and never answered.
  std::size_t unanswered(const std::string& prefix = {}) const {
    return count_if([](const Request& r) { return r.code == 0; }, prefix);
  }

  /// Pods for which a binding to another node was sent although an earlier one might have been carried out: it was
  /// answered 2xx, or its binder learned nothing of it and has not read the pod since. `ours` names the binder that is
  /// judged; others may do as they like. A binding that might have been carried out and whose body nobody knows cannot
  /// be judged, and is named, too.
  std::vector<std::string> second_targets(const std::string& ours) const {
    std::vector<std::string> found;
    std::map<std::string, std::vector<const Request*>> by_uid;
    for (const auto& [id, r] : requests_) {
      if (!r.is_binding || r.user != ours) continue;
      if (!r.uid.empty())
        by_uid[pod_of_.at(id) + " " + r.uid].push_back(&r);
      else if (!is_definite_no(r.code))
        found.push_back(pod_of_.at(id) + ": nobody knows where it was to be bound");
    }
    for (auto& [pod, bindings] : by_uid) {
      std::sort(bindings.begin(), bindings.end(),
                [](const Request* a, const Request* b) { return a->received < b->received; });
      for (std::size_t later = 1; later < bindings.size(); ++later) {
        const auto open = std::find_if(
            bindings.begin(), bindings.begin() + static_cast<std::ptrdiff_t>(later), [&](const Request* r) {
              return r->target != bindings[later]->target && !is_settled(pod, *r, bindings[later]->received);
            });
        if (*open != bindings[later])
          found.push_back(pod + ": " + (*open)->target + ", then " + bindings[later]->target);
      }
    }
    return found;
  }

 private:
  void take(const boost::json::object& event, std::size_t number) {
    const boost::json::object& of = event.at("objectRef").as_object();
    const bool is_list = !of.contains("name");
    if (is_list && !is_fresh_list(std::string(event.at("requestURI").as_string()))) return;
    const std::string id(event.at("auditID").as_string());
    Request& r = requests_[id];
    if (!pod_of_.contains(id)) {
      r.received = number;
      pod_of_[id] =
          is_list ? "" : std::string(of.at("namespace").as_string()) + "/" + std::string(of.at("name").as_string());
    }
    r.is_binding = of.contains("subresource") && of.at("subresource").as_string() == "binding";
    r.user = std::string(event.at("user").at("username").as_string());
    if (const auto* body = event.if_contains("requestObject"); body != nullptr && body->is_object())
      read_body(body->as_object(), r);
    const bool is_answered =
        event.at("stage").as_string() == "ResponseComplete" || event.at("stage").as_string() == "Panic";
    if (!is_answered) return;
    r.answered = number;
    const auto* status = event.if_contains("responseStatus");
    if (status != nullptr && status->as_object().contains("code"))
      r.code = static_cast<int>(status->at("code").as_int64());
  }
  /// Pages that continue an older list, and what comes from a server's cache, say nothing about this moment.
  static bool is_fresh_list(const std::string& uri) {
    return uri.find("continue=") == std::string::npos && uri.find("resourceVersion=") == std::string::npos;
  }
  static void read_body(const boost::json::object& body, Request& r) {
    r.target = std::string(body.at("target").at("name").as_string());
    if (const auto* meta = body.if_contains("metadata"); meta != nullptr && meta->as_object().contains("uid"))
      r.uid = std::string(meta->at("uid").as_string());
  }
  void add(const envtest::FaultProxy::Forwarded& f) {
    const auto found = requests_.find(f.audit_id);
    if (found == requests_.end()) return;
    found->second.is_answer_lost = f.status == 0;
    if (found->second.is_binding) read_body(boost::json::parse(f.body).as_object(), found->second);
  }

  static bool is_definite_no(int code) { return code >= 400 && code < 500; }
  /// Did the binder know, before that line, that this binding was not and will not be carried out?
  bool is_settled(const std::string& pod, const Request& binding, std::size_t before) const {
    if (binding.code >= 200 && binding.code < 300) return false;
    if (is_definite_no(binding.code) && !binding.is_answer_lost && binding.answered < before) return true;
    const std::size_t end = binding.answered == kNever ? binding.received : binding.answered;
    return std::any_of(requests_.begin(), requests_.end(), [&](const auto& one) {
      const auto& [id, r] = one;
      const std::string& of = pod_of_.at(id);
      const bool tells_of_it = !r.is_binding && r.user == binding.user && r.code == 200 && !r.is_answer_lost &&
                               (of.empty() || pod.starts_with(of + " "));
      return tells_of_it && r.received > end && r.answered < before;
    });
  }
  template <class Which>
  std::size_t count_if(Which&& which, const std::string& prefix = {}) const {
    return static_cast<std::size_t>(std::count_if(requests_.begin(), requests_.end(), [&](const auto& one) {
      return one.second.is_binding && pod_of_.at(one.first).starts_with(prefix) && which(one.second);
    }));
  }
  std::map<std::string, Request> requests_;    ///< by audit id
  std::map<std::string, std::string> pod_of_;  ///< "namespace/name"; empty: all
};

}  // namespace ashlar::live_tests
