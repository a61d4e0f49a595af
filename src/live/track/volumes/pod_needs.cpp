#include "live/track/volumes/pod_needs.h"

#include <algorithm>

#include "live/track/unknown_fields.h"
#include "text/short_list.h"

namespace ashlar::kube {
namespace {

using Kind = VolumeTopic::Kind;

std::string quoted(const PooledString& name) { return "\"" + name.str() + "\""; }

void add_topic(VolumeNeeds& needs, VolumeTopic topic) {
  if (std::ranges::find(needs.topics, topic) == needs.topics.end()) needs.topics.push_back(std::move(topic));
}

/// Why the claim keeps its pod from being placed, in kube-scheduler's words; empty: it does not.
std::string claim_problem(const VolumeOwner& owner, const ClaimUse& use, const PersistentVolumeClaim* claim) {
  if (claim == nullptr)
    return use.is_ephemeral
               ? "waiting for ephemeral volume controller to create the persistentvolumeclaim " + quoted(use.name)
               : "persistentvolumeclaim " + quoted(use.name) + " not found";
  if (claim->is_lost)
    return "persistentvolumeclaim " + quoted(use.name) + " bound to non-existent persistentvolume " +
           quoted(claim->volume_name);
  if (claim->deletion_requested.value != 0) return "persistentvolumeclaim " + quoted(use.name) + " is being deleted";
  if (use.is_ephemeral && claim->controller_uid != owner.uid)
    return "PVC " + owner.ns.str() + "/" + use.name.str() + " was not created for pod " + owner.ns.str() + "/" +
           owner.name.str() + " (pod is not owner)";
  return {};
}

/// What claims of one pod may cost has a limit; no node attaches as many disks.
constexpr std::ptrdiff_t kLateClaimsMax = 64;
constexpr std::string_view kUnboundImmediate = "pod has unbound immediate PersistentVolumeClaims";
constexpr std::string_view kVolumesGone = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
constexpr std::string_view kTaken =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";

/// The class of an unbound claim if it waits for its first consumer, else nullptr.
const StorageClass* late_class(const VolumeBook& book, const PersistentVolumeClaim& claim) {
  if (!claim.volume_name.empty() || claim.class_name.empty()) return nullptr;
  const StorageClass* storage_class = book.storage_class(claim.class_name);
  return storage_class != nullptr && storage_class->waits_for_consumer ? storage_class : nullptr;
}

/// It is to be bound, and not by the scheduler.
bool is_unbound_immediate(const VolumeBook& book, const PersistentVolumeClaim& claim) {
  return !claim.is_bound() && late_class(book, claim) == nullptr;
}

/// Why the claim is not bound, or what binds it.
std::string binding_text(const VolumeBook& book, const PersistentVolumeClaim& claim) {
  if (const std::string named = "persistentvolume " + quoted(claim.volume_name); !claim.volume_name.empty())
    return book.volume(claim.volume_name) == nullptr ? "names " + named + ", which does not exist"
                                                     : "is being bound to " + named;
  if (claim.class_name.empty()) return "has no storage class";
  const std::string named = "storage class " + quoted(claim.class_name);
  if (book.storage_class(claim.class_name) == nullptr) return named + " does not exist";
  return named + " binds it before the pod is placed";
}

/// "\"data\" (has no storage class), \"logs\" (...) and 2 more".
std::string unbound_claims_text(const VolumeBook& book, const VolumeOwner& owner) {
  std::vector<const PersistentVolumeClaim*> unbound;
  for (const ClaimUse& use : owner.volumes.claims) {
    const PersistentVolumeClaim* claim = book.claim(owner.ns, use.name);
    if (claim != nullptr && is_unbound_immediate(book, *claim) && std::ranges::count(unbound, claim) == 0)
      unbound.push_back(claim);
  }
  return short_list(unbound.size(), [&](std::size_t i) {
    return quoted(unbound[i]->name) + " (" + binding_text(book, *unbound[i]) + ")";
  });
}

/// kube-scheduler's words, and after a colon what they are about.
std::string gone_problem(const VolumeBook& book, const ClaimUse& use, const PersistentVolumeClaim& claim) {
  if (!claim.is_bound() || book.volume(claim.volume_name) != nullptr) return {};
  return use.is_ephemeral ? std::string(kVolumesGone) + ": " + quoted(use.name) + " to " + quoted(claim.volume_name)
                          : "persistentvolume " + quoted(claim.volume_name) + " not found";
}

/// What of it cannot be read, or of a claim that is to be bound here is not known.
std::string unread_problem(const VolumeBook& book, const VolumeOwner& owner, const PersistentVolumeClaim& claim) {
  if (!claim.problem.empty()) return "persistentvolumeclaim " + quoted(claim.name) + ": " + claim.problem.str();
  const PersistentVolume* volume = book.volume(claim.volume_name);
  if (volume != nullptr && !volume->problem.empty())
    return "persistentvolume " + quoted(volume->name) + ": " + volume->problem.str();
  const StorageClass* storage_class = late_class(book, claim);
  if (storage_class == nullptr) return {};
  if (!storage_class->problem.empty())
    return "storageclass " + quoted(storage_class->name) + ": " + storage_class->problem.str();
  const std::string unknown = refused_unknown_fields(owner.accepted_fields, claim.unknown_spec_fields);
  return unknown.empty() ? std::string()
                         : "the spec of persistentvolumeclaim " + quoted(claim.name) +
                               " has what this release of Ashlar does not know (" + unknown +
                               "): use a newer release; an administrator may list it in acceptUnknownFields";
}

std::ptrdiff_t late_count(const VolumeBook& book, const VolumeOwner& owner) {
  return std::ranges::count_if(owner.volumes.claims, [&](const ClaimUse& use) {
    const PersistentVolumeClaim* claim = book.claim(owner.ns, use.name);
    return claim != nullptr && !claim->is_bound() && late_class(book, *claim) != nullptr;
  });
}

/// The order of the checks is that of kube-scheduler's plugins.
Hold hold_of(const VolumeBook& book, const VolumeOwner& owner) {
  const auto& claims = owner.volumes.claims;
  if (claims.empty()) return {};
  if (std::string problem = book.problem(); !problem.empty()) return {HoldReason::kVolumesUnreadable, problem};
  const auto each = [&](auto&& find) {
    std::string text;
    for (const ClaimUse& use : claims)
      if (text = find(use, book.claim(owner.ns, use.name)); !text.empty()) break;
    return text;
  };
  std::string text = each([&](const ClaimUse& use, const PersistentVolumeClaim* claim) {
    return claim == nullptr && !use.is_ephemeral ? claim_problem(owner, use, claim) : std::string();
  });
  if (text.empty())
    text =
        each([&](const ClaimUse& use, const PersistentVolumeClaim* claim) { return claim_problem(owner, use, claim); });
  if (!text.empty()) return {HoldReason::kVolumes, text};
  if (std::string unread = each(
          [&](const ClaimUse&, const PersistentVolumeClaim* claim) { return unread_problem(book, owner, *claim); });
      !unread.empty())
    return {HoldReason::kVolumesUnreadable, unread};
  if (const std::string unbound = unbound_claims_text(book, owner); !unbound.empty())
    return {HoldReason::kVolumes, std::string(kUnboundImmediate) + ": " + unbound};
  text = each([&](const ClaimUse& use, const PersistentVolumeClaim* claim) { return gone_problem(book, use, *claim); });
  if (text.empty())
    text = each([&](const ClaimUse& use, const PersistentVolumeClaim* claim) {
      const bool is_taken = !use.is_ephemeral && claim->is_for_one_pod() && owner.is_taken(use.name);
      return is_taken ? std::string(kTaken) + ": " + quoted(use.name) : std::string();
    });
  if (text.empty() && late_count(book, owner) > kLateClaimsMax)
    text = "the pod names " + std::to_string(late_count(book, owner)) +
           " claims that wait for their first consumer; Ashlar chooses volumes for at most " +
           std::to_string(kLateClaimsMax) + " of one pod";
  return text.empty() ? Hold{} : Hold{HoldReason::kVolumes, text};
}

/// A volume that a driver will attach.
struct Attached {
  AttachedVolume volume;
  bool is_migrated = false;
};

/// As it will be made by the class's provisioner.
Attached attached_by_class(const VolumeBook& book, const PersistentVolumeClaim& claim) {
  const StorageClass* storage_class = claim.class_name.empty() ? nullptr : book.storage_class(claim.class_name);
  if (storage_class == nullptr || is_unserved_plugin(storage_class->provisioner.view())) return {};
  const MigratedPlugin plugin = plugin_named(storage_class->provisioner.view());
  const bool is_migrated = plugin != MigratedPlugin::kNone && !storage_class->provisioner.empty();
  const PooledString driver = is_migrated ? PooledString(row_of(plugin).driver) : storage_class->provisioner;
  // no driver names a volume like this
  return {{driver, "claim " + claim.ns.str() + "/" + claim.name.str()}, is_migrated};
}

Attached attached_of(const VolumeBook& book, const PersistentVolumeClaim& claim) {
  const PersistentVolume* volume = claim.volume_name.empty() ? nullptr : book.volume(claim.volume_name);
  if (volume == nullptr) return attached_by_class(book, claim);
  return {volume->attached, volume->plugin != MigratedPlugin::kNone};
}

void add_attached(const VolumeBook& book, const VolumeOwner& owner, VolumeNeeds& needs, VolumeTerms& terms) {
  std::vector<Attached> all;
  for (const ClaimUse& use : owner.volumes.claims)
    if (const PersistentVolumeClaim* claim = book.claim(owner.ns, use.name); claim != nullptr)
      all.push_back(attached_of(book, *claim));
  for (const AttachedVolume& disk : owner.volumes.inline_disks) all.push_back({disk, true});
  for (Attached& one : all) {
    if (one.volume.driver.empty() || one.volume.handle.empty()) continue;
    add_topic(needs, {Kind::kDriver, {}, one.volume.driver});
    const CsiDriver* driver = book.driver(one.volume.driver);
    if (driver != nullptr && driver->must_be_on_node) {
      std::vector<NodeTerm> list = driver_terms(one.volume.driver, one.is_migrated);
      if (std::ranges::find(terms.lists, list) == terms.lists.end()) terms.lists.push_back(std::move(list));
    }
    if (std::ranges::find(needs.attached, one.volume) == needs.attached.end())
      needs.attached.push_back(std::move(one.volume));
  }
}

void add_list(AnyOf list, VolumeTerms& terms) {
  if (list && std::ranges::find(terms.lists, *list) == terms.lists.end()) terms.lists.push_back(*std::move(list));
}

std::size_t count(const VolumeTerms& terms) {
  std::size_t sum = 0;
  for (const std::vector<NodeTerm>& list : terms.lists) sum += list.size();
  return sum;
}

std::string too_many_terms(const PersistentVolumeClaim& claim, const VolumeTerms& terms) {
  return "persistentvolumeclaim " + quoted(claim.name) + " is bound to persistentvolume " + quoted(claim.volume_name) +
         ", with which the nodes for the pod's volumes are described by " + std::to_string(count(terms)) +
         " terms; Ashlar compares nodes with at most " + std::to_string(kPodTermsMax) + " of one pod";
}

/// Why there are too many terms; empty: there are not.
std::string add_bound(const VolumeBook& book, const VolumeOwner& owner, VolumeTerms& terms) {
  for (const ClaimUse& use : owner.volumes.claims) {
    const PersistentVolumeClaim* claim = book.claim(owner.ns, use.name);
    if (!claim->is_bound()) continue;
    const PersistentVolume& volume = *book.volume(claim->volume_name);
    AnyOf affinity = affinity_terms(volume);
    if (affinity) merge_terms(*affinity);
    add_list(std::move(affinity), terms);
    for (std::vector<NodeTerm>& list : use.is_ephemeral ? std::vector<std::vector<NodeTerm>>() : zone_terms(volume))
      add_list(std::move(list), terms);
    if (count(terms) > kPodTermsMax) return too_many_terms(*claim, terms);
  }
  return {};
}

void add_nodes(const VolumeOwner& owner, const std::vector<LateClaim>& claims, VolumeNeeds& needs, VolumeTerms& terms,
               std::shared_ptr<const VolumeTerms>& shared) {
  add_topic(needs, {Kind::kNodes, {}, {}});
  std::shared_ptr<const VolumeTerms> nodes = owner.late.together(claims, owner.each_node);
  if (terms.lists.empty()) {
    shared = std::move(nodes);
    return;
  }
  for (const std::vector<NodeTerm>& list : nodes->lists) add_list(list, terms);
}

/// Of a claim that asks for what others do and cannot take the volume of another one of the pod, only the nodes matter
/// where it is met.
void add_volume_topics(const std::vector<LateClaim>& claims, bool is_asked_by_node, VolumeNeeds& needs) {
  for (const LateClaim& late : claims) {
    const bool is_alone = std::ranges::count_if(claims, [&](const LateClaim& other) {
                            return other.claim->class_name == late.claim->class_name;
                          }) == 1;
    if (late.choice->request && is_alone && !is_asked_by_node)
      add_topic(needs, {Kind::kRequest, {}, late.claim->class_name, late.choice->request->number});
    else
      add_topic(needs, {Kind::kVolumes, {}, late.claim->class_name});
  }
}

/// Of the claims one by one, with those that there are.
bool are_too_many_terms(const VolumeOwner& owner, const std::vector<LateClaim>& claims, const VolumeTerms& terms) {
  std::size_t sum = count(terms);
  for (const LateClaim& late : claims) {
    const auto& alone = owner.late.alone(late);
    if (!alone) return true;
    sum += *alone ? count(**alone) : 0;
  }
  return sum > kPodTermsMax;
}

/// "\"data\" (storage class \"fast\")": the first for which there is no volume, and none can be made, as far as that
/// was asked; empty: none.
std::string unmet_claim(const std::vector<LateClaim>& claims) {
  for (const LateClaim& late : claims) {
    const auto& alone = late.choice->alone;
    if (!late.choice->is_alone_known || !alone || !*alone) continue;
    if (std::ranges::any_of((*alone)->lists, [](const auto& list) { return list.empty(); }))
      return quoted(late.claim->name) + " (storage class " + quoted(late.claim->class_name) + ")";
  }
  return {};
}

/// `shared`: the terms of late claims that are the only thing that the pod needs.
void add_late(const std::vector<LateClaim>& claims, const VolumeOwner& owner, VolumeNeeds& needs, VolumeTerms& terms,
              std::shared_ptr<const VolumeTerms>& shared) {
  if (claims.empty()) return;
  const bool is_asked_by_node = do_compete(claims) || are_too_many_terms(owner, claims, terms);
  if (!owner.has_place) add_volume_topics(claims, is_asked_by_node, needs);
  if (is_asked_by_node) return add_nodes(owner, claims, needs, terms, shared);
  if (claims.size() == 1 && terms.lists.empty()) {
    shared = *owner.late.alone(claims[0]);
    return;
  }
  for (const LateClaim& late : claims)
    if (const auto& alone = *owner.late.alone(late); alone)
      for (const std::vector<NodeTerm>& list : alone->lists) add_list(list, terms);
}

}  // namespace

std::vector<LateClaim> late_claims(const VolumeBook& book, const VolumeOwner& owner) {
  std::vector<LateClaim> out;
  for (const ClaimUse& use : owner.volumes.claims) {
    const PersistentVolumeClaim* claim = book.claim(owner.ns, use.name);
    if (claim == nullptr || claim->is_bound()) continue;
    const bool is_listed = std::ranges::any_of(out, [&](const LateClaim& late) { return late.claim == claim; });
    if (const StorageClass* storage_class = late_class(book, *claim); storage_class != nullptr && !is_listed)
      out.push_back(owner.late.of(*claim, *storage_class));
  }
  return out;
}

VolumeNeeds volume_needs(const VolumeBook& book, const VolumeOwner& owner) {
  VolumeNeeds needs;
  for (const ClaimUse& use : owner.volumes.claims) {
    add_topic(needs, {Kind::kClaim, owner.ns, use.name});
    const PersistentVolumeClaim* claim = book.claim(owner.ns, use.name);
    if (claim == nullptr) continue;
    if (!claim->volume_name.empty()) add_topic(needs, {Kind::kVolume, {}, claim->volume_name});
    if (!claim->is_bound() && !claim->class_name.empty()) {
      add_topic(needs, {Kind::kClass, {}, claim->class_name});
      if (const StorageClass* storage_class = book.storage_class(claim->class_name); storage_class != nullptr)
        add_topic(needs, {Kind::kDriver, {}, storage_class->provisioner});
    }
  }
  VolumeTerms terms;
  add_attached(book, owner, needs, terms);
  needs.hold = hold_of(book, owner);
  if (needs.hold.reason != HoldReason::kNone) return needs;
  if (std::string problem = add_bound(book, owner, terms); !problem.empty()) {
    needs.hold = {HoldReason::kVolumes, std::move(problem)};
    return needs;
  }
  std::shared_ptr<const VolumeTerms> shared;
  const std::vector<LateClaim> claims = late_claims(book, owner);
  needs.has_late = !claims.empty();
  add_late(claims, owner, needs, terms, shared);
  needs.unmet = unmet_claim(claims);
  needs.terms = shared || terms.lists.empty() ? std::move(shared) : terms_of(std::move(terms.lists));
  return needs;
}

}  // namespace ashlar::kube
