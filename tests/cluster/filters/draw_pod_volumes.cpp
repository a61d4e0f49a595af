#include "cluster/filters/draw_pod_volumes.h"

#include <vector>

#include "cluster/filters/draw_storage.h"
#include "cluster/filters/storage_objects.h"

namespace ashlar::filters {
namespace {

using kube::JsonWriter;

void begin_volume(JsonWriter& w, std::size_t number) { w.begin_object().member("name", "v" + std::to_string(number)); }

/// The source of a disk as JSON.
std::string draw_disk(Draw& draw, DrawnPod& pod) {
  const std::string kind = draw.one_of(
      {"gce", "gce", "gce", "ebs", "ebs", "iscsi", "iscsi", "iscsi", "rbd", "rbd", "azure", "cinder", "portworx"});
  const std::string id = draw.chance(75) ? "d0" : "d1";
  const std::string quoted = "\"" + id + "\"", access = draw.chance(45) ? R"(,"readOnly":true})" : "}";
  if (kind == "gce") {
    pod.disks.push_back(std::string(kGceDriver) + " " + id);
    return R"("gcePersistentDisk":{"pdName":)" + quoted + access;
  }
  if (kind == "ebs") {
    pod.disks.push_back(std::string(kEbsDriver) + " vol-" + id);
    return R"("awsElasticBlockStore":{"volumeID":")" + draw.one_of({"vol-", "aws://z0/vol-"}) + id + "\"}";
  }
  if (kind == "iscsi")
    return R"("iscsi":{"targetPortal":"10.0.0.1:3260","lun":0,"iqn":"iqn.2020-01.com.example:)" + id + "\"" + access;
  if (kind == "azure")
    return R"("azureDisk":{"diskName":)" + quoted +
           R"(,"kind":"Managed","diskURI":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/)" + id +
           "\"}";
  if (kind == "cinder") return R"("cinder":{"volumeID":)" + quoted + "}";
  if (kind == "portworx") return R"("portworxVolume":{"volumeID":)" + quoted + "}";
  return R"("rbd":{"monitors":[)" + draw.one_of({R"("m0")", R"("m1")", R"("m0","m1")"}) + R"(],"image":)" + quoted +
         R"(,"pool":")" + draw.one_of({"p", "p", "q"}) + "\"" + access;
}

/// The claim is made for the pod, or is not there, or is of somebody else.
void write_ephemeral(JsonWriter& w, Draw& draw, const VolumeSources& sources, DrawnPod& pod, std::size_t number) {
  const std::string of = draw.one_of(kLateClasses);
  ClaimSpec spec{.ns = pod.ns,
                 .name = pod.name + "-v" + std::to_string(number),
                 .class_name = sources.prefix + of,
                 .owner = pod.name,
                 .size = draw.one_of({"1Gi", "2Gi"})};
  begin_volume(w, number);
  w.key("ephemeral").begin_object().key("volumeClaimTemplate").begin_object();
  write_claim_spec(w, spec);
  w.end_object().end_object().end_object();
  pod.features.insert("ephemeral volume");
  if (pod.node.empty() && draw.chance(8)) return;
  if (pod.node.empty() && draw.chance(6)) spec.owner.clear();
  if (draw.chance(40) && !sources.storage.disks.empty()) {
    const auto& [volume, disk] = *std::next(
        sources.storage.disks.begin(), static_cast<std::ptrdiff_t>(draw.between(0, sources.storage.disks.size() - 1)));
    spec.volume_name = volume;
    spec.is_bound = true;
    if (!disk.empty()) pod.disks.push_back(disk);
  }
  pod.owned.push_back(claim(spec));
}

/// Most of them usable.
const DrawnClaim* draw_claim(Draw& draw, const VolumeSources& sources, const DrawnPod& pod) {
  const bool is_bound_pod = !pod.node.empty(), is_usable = is_bound_pod || draw.chance(94);
  const bool may_be_late = !is_bound_pod || draw.chance(20);
  std::vector<const DrawnClaim*> fit;
  for (const DrawnClaim& claim : sources.storage.claims)
    if (claim.ns == pod.ns && claim.is_usable == is_usable && (may_be_late || !claim.is_late)) fit.push_back(&claim);
  return fit.empty() || draw.chance(is_bound_pod ? 0 : 2) ? nullptr : draw.one_of(fit);
}

/// A pod that names an unbound claim twice needs two volumes for kube-scheduler, one for Ashlar: it names it once.
void write_claim_use(JsonWriter& w, Draw& draw, const VolumeSources& sources, DrawnPod& pod, std::size_t number) {
  const DrawnClaim* use = draw_claim(draw, sources, pod);
  const bool is_new = use == nullptr || pod.claims.insert(use->name).second;
  if (!is_new && use->is_late) use = nullptr;
  begin_volume(w, number);
  w.key("persistentVolumeClaim").begin_object().member("claimName", use == nullptr ? "nowhere" : use->name);
  w.end_object().end_object();
  pod.features.insert(use == nullptr    ? "claim that is not there"
                      : !use->is_usable ? "claim that cannot be used"
                      : use->is_late    ? "late claim"
                                        : "bound claim");
  if (use == nullptr) return;
  if (!use->disk.empty()) pod.disks.push_back(use->disk);
  if (use->is_for_one_pod) pod.features.insert("claim for one pod");
}

}  // namespace

void write_drawn_volumes(JsonWriter& w, Draw& draw, const VolumeSources& sources, DrawnPod& pod) {
  const bool is_bound = !pod.node.empty();
  const auto has = [&](unsigned if_bound, unsigned if_waiting) {
    return draw.chance(is_bound ? if_bound : pod.is_about_volumes ? if_waiting : if_waiting / 10);
  };
  std::size_t number = 0;
  if (has(45, 65))
    for (std::size_t left = draw.chance(65) ? 1 : draw.between(2, 3); left > 0; --left)
      write_claim_use(w, draw, sources, pod, number++);
  if (has(70, 68)) {
    begin_volume(w, number++);
    w.raw(draw_disk(draw, pod)).end_object();
    pod.features.insert("disk of its own");
  }
  if (has(8, 14)) write_ephemeral(w, draw, sources, pod, number++);
}

}  // namespace ashlar::filters
