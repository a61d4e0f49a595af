#include "kubeclient/volumes/volume_objects.h"

#include <algorithm>
#include <iterator>

namespace ashlar::kube {
namespace {

constexpr MigratedPluginRow kPlugins[] = {
    {MigratedPlugin::kNone, "", "", ""},
    {MigratedPlugin::kAwsEbs, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"},
    {MigratedPlugin::kGcePd, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"},
    {MigratedPlugin::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", ""},
    {MigratedPlugin::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org",
     "topology.cinder.csi.openstack.org/zone"},
    {MigratedPlugin::kPortworx, "kubernetes.io/portworx-volume", "pxd.portworx.com", ""},
};
constexpr std::string_view kUnserved[] = {"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"};

}  // namespace

const MigratedPluginRow& row_of(MigratedPlugin plugin) { return kPlugins[static_cast<std::size_t>(plugin)]; }

MigratedPlugin plugin_named(std::string_view name) {
  const auto found = std::ranges::find(kPlugins, name, &MigratedPluginRow::name);
  return found == std::end(kPlugins) ? MigratedPlugin::kNone : found->plugin;
}

bool is_unserved_plugin(std::string_view name) { return std::ranges::find(kUnserved, name) != std::end(kUnserved); }

bool PersistentVolumeClaim::is_for_one_pod() const {
  return std::ranges::any_of(access_modes, [](const PooledString& mode) { return mode == "ReadWriteOncePod"; });
}

}  // namespace ashlar::kube
