#include "cluster/audit.h"

#include <boost/json.hpp>
#include <fstream>

namespace ashlar::live_tests {

BindAudit::BindAudit(const std::string& log_file, const Forwarded& forwarded, std::streamoff from) {
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

std::size_t BindAudit::count(int code) const {
  return count_if([&](const Request& r) { return r.code == code; });
}

std::size_t BindAudit::bound_after(const std::string& first, const std::string& others) const {
  std::size_t last = 0;
  for (const auto& [id, r] : requests_)
    if (r.is_binding && r.code == 201 && pod_of_.at(id).starts_with(first)) last = std::max(last, r.received);
  return count_if([&](const Request& r) { return r.code == 201 && r.received > last; }, others);
}

std::size_t BindAudit::taken(const std::string& prefix) const {
  return count_if([](const Request& r) { return r.code == 201; }, prefix);
}

std::size_t BindAudit::bindings_of(const std::string& prefix) const {
  return count_if([](const Request&) { return true; }, prefix);
}

std::size_t BindAudit::unanswered(const std::string& prefix) const {
  return count_if([](const Request& r) { return r.code == 0; }, prefix);
}

std::vector<std::string> BindAudit::second_targets(const std::string& ours) const {
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
      const auto open =
          std::find_if(bindings.begin(), bindings.begin() + static_cast<std::ptrdiff_t>(later), [&](const Request* r) {
            return r->target != bindings[later]->target && !is_settled(pod, *r, bindings[later]->received);
          });
      if (*open != bindings[later]) found.push_back(pod + ": " + (*open)->target + ", then " + bindings[later]->target);
    }
  }
  return found;
}

void BindAudit::take(const boost::json::object& event, std::size_t number) {
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

bool BindAudit::is_fresh_list(const std::string& uri) {
  return uri.find("continue=") == std::string::npos && uri.find("resourceVersion=") == std::string::npos;
}

void BindAudit::read_body(const boost::json::object& body, Request& r) {
  r.target = std::string(body.at("target").at("name").as_string());
  if (const auto* meta = body.if_contains("metadata"); meta != nullptr && meta->as_object().contains("uid"))
    r.uid = std::string(meta->at("uid").as_string());
}

void BindAudit::add(const envtest::FaultProxy::Forwarded& f) {
  const auto found = requests_.find(f.audit_id);
  if (found == requests_.end()) return;
  found->second.is_answer_lost = f.status == 0;
  if (found->second.is_binding) read_body(boost::json::parse(f.body).as_object(), found->second);
}

bool BindAudit::is_settled(const std::string& pod, const Request& binding, std::size_t before) const {
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

}  // namespace ashlar::live_tests
