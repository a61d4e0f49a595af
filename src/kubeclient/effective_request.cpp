#include "kubeclient/effective_request.h"

#include <algorithm>
#include <utility>

#include "kubeclient/pod_builder.h"

namespace ashlar::kube {
namespace {

std::int64_t capped_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kAmountMax : std::min(sum, kAmountMax);
}

/// Calls `merge(mine, theirs)` for every amount that either side has; absent ones count as 0.
template <class Merge>
void merge_into(Resources& into, const Resources& from, Merge&& merge) {
  into.cpu.value = merge(into.cpu.value, from.cpu.value);
  into.memory.value = merge(into.memory.value, from.memory.value);
  into.ephemeral_storage.value = merge(into.ephemeral_storage.value, from.ephemeral_storage.value);
  for (const Amount& amount : from.extended) {
    const auto at = std::lower_bound(into.extended.begin(), into.extended.end(), amount,
                                     [](const Amount& a, const Amount& b) { return a.name < b.name; });
    if (at != into.extended.end() && at->name == amount.name)
      at->value = merge(at->value, amount.value);
    else
      into.extended.insert(at, {amount.name, merge(0, amount.value)});
  }
}

void add(Resources& into, const Resources& from) { merge_into(into, from, capped_add); }

/// Which of a container's amounts are summed up.
enum class Taken { kAsked, kAllocated, kInForce };

const Resources& amounts_of(const ContainerBuilder& container, const RequestParts& parts, Taken taken) {
  static const Resources kNothing;
  if (taken == Taken::kAsked) return container.requests;
  for (const ContainerStatusBuilder& status : parts.statuses) {
    if (status.name != container.name) continue;
    if (taken == Taken::kInForce && !status.in_force.empty()) return status.in_force.amounts;
    if (!status.allocated.empty()) return status.allocated.amounts;
    break;
  }
  return parts.is_resize_infeasible ? kNothing : container.requests;
}

Resources of_containers(const RequestParts& parts, Taken taken) {
  Resources running, sidecars, starting;
  for (const ContainerBuilder& container : parts.containers) add(running, amounts_of(container, parts, taken));
  for (const ContainerBuilder& init : parts.init_containers) {
    const Resources& amounts = amounts_of(init, parts, taken);
    if (init.is_sidecar) {
      add(running, amounts);
      add(sidecars, amounts);
      raise(starting, sidecars);
    } else {
      Resources together = sidecars;
      add(together, amounts);
      raise(starting, together);
    }
  }
  raise(running, starting);
  return running;
}

/// Of containers, or of the whole pod where the kubelet says so.
Resources of_status(const RequestParts& parts) {
  if (!parts.pod_level_allocated.empty() && !parts.pod_level_in_force.empty()) {
    Resources status = parts.pod_level_allocated.amounts;
    raise(status, parts.pod_level_in_force.amounts);
    return status;
  }
  Resources status = of_containers(parts, Taken::kAllocated);
  raise(status, of_containers(parts, Taken::kInForce));
  return status;
}

void keep_extended(Resources& of, const Resources& asked) {
  for (const Amount& amount : asked.extended)
    if (amount_of(of, amount.name) == 0) {
      Resources one;
      one.extended.push_back(amount);
      raise(of, one);
    }
}

bool is_pod_level(const PooledString& name) {
  return name == "cpu" || name == "memory" || name.view().starts_with("hugepages-");
}

void replace(Resources& in, const PooledString& name, const Resources& by) {
  if (name == "cpu") {
    in.cpu = by.cpu;
  } else if (name == "memory") {
    in.memory = by.memory;
  } else {
    std::erase_if(in.extended, [&](const Amount& a) { return a.name == name; });
    Resources one;
    one.extended.push_back({name, amount_of(by, name)});
    add(in, one);
  }
}

void take_pod_level(const RequestParts& parts, Resources& request) {
  if (std::none_of(parts.pod_level.names.begin(), parts.pod_level.names.end(), is_pod_level)) return;
  NamedAmounts level;
  const auto take = [&](const NamedAmounts& from) {
    raise(level.amounts, from.amounts);
    level.names.insert(level.names.end(), from.names.begin(), from.names.end());
  };
  if (!parts.has_status_resources || !parts.is_resize_infeasible) take(parts.pod_level);
  if (parts.has_status_resources) {
    take(parts.pod_level_allocated);
    take(parts.pod_level_in_force);
  }
  for (const PooledString& name : level.names)
    if (is_pod_level(name)) replace(request, name, level.amounts);
}

}  // namespace

void RequestParts::reset() {
  containers.clear();
  init_containers.clear();
  statuses.clear();
  overhead = Resources();
  pod_level = pod_level_allocated = pod_level_in_force = NamedAmounts();
  has_status_resources = is_resize_infeasible = false;
}

void raise(Resources& into, const Resources& from) {
  merge_into(into, from, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

Result<void> add_quantity(NamedAmounts& into, std::string_view name, std::string_view quantity) {
  into.names.emplace_back(name);
  return add_quantity(into.amounts, name, quantity);
}

Resources effective_request(const RequestParts& parts) {
  Resources request = of_containers(parts, Taken::kAsked);
  const bool has_status = !parts.statuses.empty() || !parts.pod_level_allocated.empty();
  if (parts.is_resize_infeasible) {
    const Resources asked = std::exchange(request, of_status(parts));
    keep_extended(request, asked);
  } else if (has_status) {
    raise(request, of_status(parts));
  }
  take_pod_level(parts, request);
  add(request, parts.overhead);
  request.extended.shrink_to_fit();
  return request;
}

}  // namespace ashlar::kube
