// Does Ashlar allow a pod the nodes that kube-scheduler allows it? The short form of `./dev bench oracle`: random pods in
// random clusters on a real API server, and kube-scheduler's own filters.
#include <gtest/gtest.h>

#include <cstdio>

#include "cluster/filters/oracle.h"

namespace ashlar::filters {
namespace {

TEST(Filters, EachPodIsAllowedTheNodesThatKubeSchedulerAllows) {
  Result<std::unique_ptr<cluster::ControlPlane>> plane = cluster::ControlPlane::start(oracle_control_plane());
  if (!plane && plane.error().kind == Error::Kind::kNotFound)
    GTEST_SKIP() << "skipped, no control plane: " << plane.error().message;
  ASSERT_TRUE(plane.ok()) << plane.error().message;
  const Result<OracleReport> report = compare_filters(**plane, {.pods = 150});
  if (!report && report.error().kind == Error::Kind::kNotFound)
    GTEST_SKIP() << "skipped, no kube-scheduler: " << report.error().message;
  ASSERT_TRUE(report.ok()) << report.error().message;
  std::printf("filters oracle: %zu pods, %zu equal, %zu different\n%s", report->pods, report->equal, report->different,
              report->text().c_str());
  EXPECT_EQ(report->different, 0u);
  for (const std::string& manifest : report->manifests) ADD_FAILURE() << manifest;
  // a comparison of nothing would not differ either
  EXPECT_GE(report->placeable, 40u);
  for (const char* filter :
       {"InterPodAffinity", "NodeAffinity", "NodeDeclaredFeatures", "NodePorts", "NodeResourcesFit",
        "NodeUnschedulable", "NodeVolumeLimits", "PodTopologySpread", "TaintToleration", "VolumeBinding", "VolumeZone"})
    EXPECT_TRUE(report->decided.contains(filter)) << filter << " decided no verdict alone";
}

}  // namespace
}  // namespace ashlar::filters
