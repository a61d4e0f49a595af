// BindAudit: what bindings did the API server itself see? Read from its audit log: for every pod the binding requests
// by target and answer, and the reads of the pod between them, in the order in which they were received. A server never
// changes spec.nodeName, so a pod that somebody tried to bind twice shows here only. The log has uid and target of a
// binding once it was answered; of one that never was (its server was killed) they come from the fault proxy that
// forwarded it, found by the request's audit id, as does the answer that the binder was given.
#pragma once

#include <algorithm>
#include <boost/json/fwd.hpp>
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
  explicit BindAudit(const std::string& log_file, const Forwarded& forwarded = {}, std::streamoff from = 0);

  std::size_t count(int code) const;
  /// Pods of `others` (a prefix of namespace/name) whose binding the server took after the last of `first`.
  std::size_t bound_after(const std::string& first, const std::string& others) const;
  /// Bindings that the server took for pods whose namespace/name starts so.
  std::size_t taken(const std::string& prefix) const;
  /// Requests to bind pods whose namespace/name starts so, whatever became of them.
  std::size_t bindings_of(const std::string& prefix) const;
  /// Those that the server received and never answered.
  std::size_t unanswered(const std::string& prefix = {}) const;

  /// Pods for which a binding to another node was sent although an earlier one might have been carried out: it was
  /// answered 2xx, or its binder learned nothing of it and has not read the pod since. `ours` names the binder that is
  /// judged; others may do as they like. A binding that might have been carried out and whose body nobody knows cannot
  /// be judged, and is named, too.
  std::vector<std::string> second_targets(const std::string& ours) const;

 private:
  void take(const boost::json::object& event, std::size_t number);
  /// Pages that continue an older list, and what comes from a server's cache, say nothing about this moment.
  static bool is_fresh_list(const std::string& uri);
  static void read_body(const boost::json::object& body, Request& r);
  void add(const envtest::FaultProxy::Forwarded& f);

  static bool is_definite_no(int code) { return code >= 400 && code < 500; }
  /// Did the binder know, before that line, that this binding was not and will not be carried out?
  bool is_settled(const std::string& pod, const Request& binding, std::size_t before) const;
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
