#include "cluster/filters/draw_containers.h"

#include <algorithm>

namespace ashlar::filters {
namespace {

using kube::JsonWriter;

enum class Role { kContainer, kInit, kSidecar };

/// Requests, and limits of what cannot be overcommitted; or limits alone, which the server takes for requests.
void write_resources(JsonWriter& w, Draw& draw, const Pairs& amounts) {
  if (amounts.empty()) return;
  if (draw.chance(12)) {
    w.key("resources").begin_object();
    write_pairs(w, "limits", amounts);
    w.end_object();
    return;
  }
  Pairs limits;
  std::copy_if(amounts.begin(), amounts.end(), std::back_inserter(limits), [](const auto& amount) {
    return amount.first.find('/') != std::string::npos || amount.first.starts_with("hugepages-");
  });
  w.key("resources").begin_object();
  write_pairs(w, "requests", amounts);
  write_pairs(w, "limits", limits);
  w.end_object();
}

void write_ports(JsonWriter& w, Draw& draw, const ContainerOptions& options, DrawnContainers& drawn) {
  if (!draw.chance(options.is_waiting ? 55 : 45)) return;
  drawn.has_host_ports = true;
  w.key("ports").begin_array();
  std::int64_t port = 8080;
  for (std::size_t left = draw.between(1, 2); left > 0; --left) {
    port += static_cast<std::int64_t>(draw.between(0, 1));
    w.begin_object().member("containerPort", port);
    if (options.is_on_host_network || draw.chance(92)) w.member("hostPort", port);
    if (draw.chance(60)) w.member("protocol", draw.one_of({"TCP", "TCP", "UDP", "SCTP"}));
    if (draw.chance(40)) w.member("hostIP", draw.one_of({"0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1"}));
    w.end_object();
    ++port;
  }
  w.end_array();
}

/// The container restarts the others when it fails: a feature of the node.
void write_restart_rules(JsonWriter& w, Role role) {
  if (role != Role::kSidecar) w.member("restartPolicy", "Never");
  w.key("restartPolicyRules").begin_array().begin_object().member("action", "RestartAllContainers");
  w.key("exitCodes").begin_object().member("operator", "In").key("values").begin_array().integer(1).end_array();
  w.end_object().end_object().end_array();
}

/// One of these, or another one in place of a second fraction.
std::string draw_amount(Draw& draw, DrawnContainers& drawn, std::initializer_list<std::string_view> list,
                        const char* whole) {
  std::string amount = draw.one_of(list);
  const bool is_fraction = amount.ends_with('u') || amount == "1500m";
  if (is_fraction && drawn.has_fraction) return whole;
  drawn.has_fraction = drawn.has_fraction || is_fraction;
  return amount;
}

/// Amounts of cpu, memory and more, some of them none.
Pairs draw_amounts(Draw& draw, bool is_waiting, DrawnContainers& drawn) {
  const auto cpu = [&] {
    return is_waiting ? draw_amount(draw, drawn, {"0", "100m", "250m", "500m", "1", "2", "999500u", "500u"}, "1")
                      : draw_amount(draw, drawn, {"0", "100m", "250m", "500m", "499500u", "500u"}, "250m");
  };
  const auto memory = [&] {
    return is_waiting ? draw_amount(draw, drawn, {"0", "64Mi", "512Mi", "1Gi", "1.5Gi", "1G", "1500m"}, "512Mi")
                      : draw_amount(draw, drawn, {"64Mi", "256Mi", "512Mi", "100M", "1500m", "0"}, "128Mi");
  };
  Pairs amounts;
  const auto add = [&](unsigned percent, const char* name, std::initializer_list<std::string_view> list) {
    if (draw.chance(percent)) amounts.emplace_back(name, draw.one_of(list));
  };
  if (draw.chance(is_waiting ? 40 : 35)) amounts.emplace_back("cpu", cpu());
  if (draw.chance(is_waiting ? 40 : 35)) amounts.emplace_back("memory", memory());
  const bool has_cpu = !amounts.empty() && amounts.front().first == "cpu";
  add(is_waiting ? 10 : 8, "ephemeral-storage", {"1Gi", "500M", "0", "2Gi"});
  const std::size_t resizable = amounts.size();
  add(is_waiting ? 8 : 8, "nvidia.com/gpu", {"0", "1", "1", "2", "4"});
  add(is_waiting ? 8 : 12, "example.com/foo", {"0", "1", "1", "2"});
  add(is_waiting ? 4 : 4, "example.com/bar", {"1", "2"});
  add(is_waiting ? 1 : 0, "example.com/nowhere", {"0", "1"});
  add(has_cpu ? 10 : 0, "hugepages-2Mi", {"2Mi", "4Mi", "32Mi"});
  drawn.has_extended = drawn.has_extended || amounts.size() > resizable;
  return amounts;
}

void write_container(JsonWriter& w, Draw& draw, const ContainerOptions& options, Role role, const std::string& name,
                     DrawnContainers& drawn) {
  const bool is_first = drawn.names.empty() && drawn.init_names.empty();
  w.begin_object().member("name", name);
  w.member("image", draw.one_of({"pause", "large", "large:v1", "small:v1", "nowhere"}));
  const bool has_rules = options.is_waiting && !options.is_light && draw.chance(8);
  if (role == Role::kSidecar) w.member("restartPolicy", "Always");
  if (has_rules) write_restart_rules(w, role);
  drawn.needs_features = drawn.needs_features || has_rules;
  if (options.is_waiting && !options.is_light && draw.chance(4)) {
    w.key("volumeMounts").begin_array().begin_object().member("name", "scratch").member("mountPath", "/scratch");
    write_strings(w, "bindMountOptions", {"noexec"});
    w.end_object().end_array();
    drawn.needs_bind_options = drawn.needs_features = true;
  }
  if (!options.is_light) {
    if (is_first || role == Role::kSidecar) write_ports(w, draw, options, drawn);
    write_resources(w, draw, draw_amounts(draw, options.is_waiting, drawn));
  }
  w.end_object();
}

}  // namespace

DrawnContainers write_containers(JsonWriter& w, Draw& draw, const ContainerOptions& options) {
  DrawnContainers drawn;
  if (draw.chance(25)) {
    w.key("initContainers").begin_array();
    for (std::size_t left = draw.between(1, 3); left > 0; --left) {
      const std::string name = "init-" + std::to_string(drawn.init_names.size());
      write_container(w, draw, options, draw.chance(50) ? Role::kSidecar : Role::kInit, name, drawn);
      drawn.init_names.push_back(name);
    }
    w.end_array();
  }
  w.key("containers").begin_array();
  for (std::size_t left = draw.chance(30) ? 2 : 1; left > 0; --left) {
    const std::string name = "main-" + std::to_string(drawn.names.size());
    write_container(w, draw, options, Role::kContainer, name, drawn);
    drawn.names.push_back(name);
  }
  w.end_array();
  return drawn;
}

}  // namespace ashlar::filters
