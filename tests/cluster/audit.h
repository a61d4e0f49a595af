// BindAudit: what bindings did the API server itself see? Read from its audit log: for every pod the binding requests by target and answer, and the
// reads of the pod between them, in the order in which they were received. A server never changes spec.nodeName, so a pod that somebody tried to bind
// twice shows here only.
#pragma once

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace ashlar::live_tests {

class BindAudit {
 public:
  struct Request {
    bool is_binding = false;  ///< otherwise a read of the pod
    std::string uid;          ///< the precondition of a binding, where its body was read
    std::string target;       ///< node of a binding
    int code = 0;             ///< 0: received, never answered
    std::string user;
    std::size_t place = 0;  ///< among all requests, as received
  };

  explicit BindAudit(const std::string& log_file) {
    std::ifstream in(log_file, std::ios::binary);
    std::map<std::string, std::pair<std::string, std::size_t>> place_of;  // audit id -> pod, index
    for (std::string line; std::getline(in, line);) {
      boost::json::error_code error;
      const boost::json::value value = boost::json::parse(line, error);
      if (error) continue;  // the last line may be half written
      const boost::json::object& event = value.as_object();
      const boost::json::object& of = event.at("objectRef").as_object();
      if (!of.contains("name")) continue;
      const std::string pod = std::string(of.at("namespace").as_string()) + "/" + std::string(of.at("name").as_string());
      const std::string id(event.at("auditID").as_string());
      auto [it, is_new] = place_of.try_emplace(id, pod, requests_[pod].size());
      if (is_new) requests_[pod].emplace_back();
      Request& r = requests_[pod][it->second.second];
      if (is_new) r.place = place_of.size();
      r.is_binding = of.contains("subresource") && of.at("subresource").as_string() == "binding";
      r.user = std::string(event.at("user").at("username").as_string());
      if (const auto* body = event.if_contains("requestObject"); body != nullptr && body->is_object()) {
        r.target = std::string(body->at("target").at("name").as_string());
        if (const auto* meta = body->as_object().if_contains("metadata"); meta != nullptr && meta->as_object().contains("uid"))
          r.uid = std::string(meta->at("uid").as_string());
      }
      const bool is_answered = event.at("stage").as_string() == "ResponseComplete" || event.at("stage").as_string() == "Panic";
      if (is_answered && event.contains("responseStatus") && event.at("responseStatus").as_object().contains("code"))
        r.code = static_cast<int>(event.at("responseStatus").at("code").as_int64());
    }
  }

  std::size_t count(int code) const {
    return count_if([&](const Request& r) { return r.code == code; });
  }
  /// Pods of `others` (a prefix of namespace/name) whose binding the server took after the last of `first`.
  std::size_t bound_after(const std::string& first, const std::string& others) const {
    std::size_t last = 0;
    for (const auto& [pod, requests] : requests_)
      for (const Request& r : requests)
        if (r.is_binding && r.code == 201 && pod.starts_with(first)) last = std::max(last, r.place);
    std::size_t count = 0;
    for (const auto& [pod, requests] : requests_)
      for (const Request& r : requests) count += r.is_binding && r.code == 201 && pod.starts_with(others) && r.place > last ? 1 : 0;
    return count;
  }
  /// Bindings that the server took for pods whose namespace/name starts so.
  std::size_t taken(const std::string& prefix) const {
    return count_if([](const Request& r) { return r.code == 201; }, prefix);
  }
  /// Requests to bind pods whose namespace/name starts so, whatever became of them.
  std::size_t bindings_of(const std::string& prefix) const {
    return count_if([](const Request&) { return true; }, prefix);
  }

  /// Pods for which a binding to another node was sent although an earlier one might have been carried out: it was answered 2xx, or not at all and nobody
  /// read the pod in between. `ours` names the binder that is judged; others may do as they like.
  std::vector<std::string> second_targets(const std::string& ours) const {
    std::vector<std::string> found;
    for (const auto& [pod, requests] : requests_) {
      std::map<std::string, std::string> open;  // uid -> target that may have been taken
      for (const Request& r : requests) {
        if (!r.is_binding) {
          if (r.code == 200) std::erase_if(open, [](const auto& entry) { return entry.second.ends_with('?'); });
          continue;
        }
        if (r.user != ours) continue;
        if (const auto it = open.find(r.uid); it != open.end() && it->second != r.target && it->second != r.target + "?")
          found.push_back(pod + ": " + it->second + ", then " + r.target);
        if (r.code >= 200 && r.code < 300)
          open[r.uid] = r.target;
        else if (r.code == 0 || r.code >= 500)
          open.try_emplace(r.uid, r.target + "?");
      }
    }
    return found;
  }

 private:
  template <class Which>
  std::size_t count_if(Which&& which, const std::string& prefix = {}) const {
    std::size_t count = 0;
    for (const auto& [pod, requests] : requests_)
      if (pod.starts_with(prefix))
        count +=
            static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), [&](const Request& r) { return r.is_binding && which(r); }));
    return count;
  }
  std::map<std::string, std::vector<Request>> requests_;
};

}  // namespace ashlar::live_tests
