// PodBuilder: reused from pod to pod, so that a list costs few allocations; a decoder fills it, finish_pod() turns
// it into a Pod. Private to the folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubeclient/effective_request.h"
#include "kubeclient/objects.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {

struct PodBuilder {
  Pod pod;  ///< metadata and plain fields, filled directly
  PodRules rules;
  PodVolumes volumes;
  Labels labels, annotations;
  RequestParts request;

  void reset();
  /// Records a hard field that is not evaluated; the first one stays.
  void refuse(std::string_view path) {
    if (rules.unsupported.empty()) rules.unsupported = path;
  }
  void ignore(std::string_view path);
};

/// Shares equal label sets and rules between pods decoded one after the other (pods of a template arrive in sequence).
class SharedParts {
 public:
  std::shared_ptr<const Labels> share(Labels&& labels);
  std::shared_ptr<const PodRules> share(PodRules&& rules);
  std::shared_ptr<const PodVolumes> share(PodVolumes&& volumes);

 private:
  static constexpr std::size_t kRemembered = 8;
  std::shared_ptr<const Labels> labels_[kRemembered];
  std::shared_ptr<const PodRules> rules_[kRemembered];
  std::shared_ptr<const PodVolumes> volumes_[kRemembered];
  std::size_t next_labels_ = 0, next_rules_ = 0, next_volumes_ = 0;
};

/// Computes the effective request and shares what can be shared; `builder` is empty afterwards.
Pod finish_pod(PodBuilder& builder, SharedParts& shared);

/// Larger amounts, and sums of a pod's containers, are capped: no node has it, and sums of thousands of pods stay
/// within int64.
inline constexpr std::int64_t kAmountMax = std::int64_t{1} << 50;
/// maxSkew or minDomains as kept: at least 1, and at most what no cluster has, so that it is a number that the decision
/// log may hold.
std::int32_t spread_number(std::int64_t stated);
/// Weight of a preferred term as kept: 0 to 100.
std::int32_t preferred_weight(std::int64_t stated);
/// An image that the pod runs or mounts, by the name under which nodes report it: with the tag ":latest" if it has no
/// tag.
void add_image(PodBuilder& builder, std::string_view image);
/// An image that the node has, by one of its names.
void add_image(Node& node, std::string_view name, std::int64_t bytes);
/// False for an operator that is not known.
bool read_toleration_op(std::string_view op, Toleration& toleration);
/// Adds one "name: quantity" of a request to `resources`, rounding up. kInvalid with the name if the quantity is
/// malformed or negative.
Result<void> add_quantity(Resources& resources, std::string_view name, std::string_view quantity);
/// The node's side: fills allocatable and, for the resource "pods", pods_max.
Result<void> add_allocatable(Node& node, std::string_view name, std::string_view quantity);

// Words of the API. Unknown ones give false.
bool read_selector_op(std::string_view text, SelectorOp& op);
bool read_taint_effect(std::string_view text, TaintEffect& effect);
PodPhase read_phase(std::string_view text);
ConditionStatus read_condition_status(std::string_view text);
/// Decimal resource version; 0 if it is none.
std::uint64_t read_resource_version(std::string_view text);
inline constexpr std::string_view kOwnPrefix = "ashlar.dev/";  ///< of labels and annotations that are ours
inline constexpr std::string_view kDiskPrefix = "volume ";  ///< of labels that stand for disks, which no user can give
bool is_our_annotation(std::string_view key);
void sort_by_key(Labels& labels);

}  // namespace ashlar::kube
