// An API server that is given by KUBEBUILDER_ASSETS and too old for what is tested: named as such, by the error that leaves a test out.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "local/control_plane.h"

namespace ashlar::local {
namespace {

namespace fs = std::filesystem;

TEST(GivenServer, ThatLacksAFeatureGateIsNamedAndCountsAsAbsent) {
  const Result<std::string> etcd = ControlPlane::find_binary("etcd");
  if (!etcd) GTEST_SKIP() << "skipped: " << etcd.error().message;
  std::string folder = (fs::temp_directory_path() / "ashlar-assets-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  fs::create_symlink(fs::canonical(*etcd), folder + "/etcd");
  std::ofstream(folder + "/kube-apiserver") << "#!/bin/sh\necho 'Error: invalid argument \"GenericWorkload=true\" for \"--feature-gates\" flag: "
                                               "unrecognized feature gate: GenericWorkload' >&2\nexit 1\n";
  ::chmod((folder + "/kube-apiserver").c_str(), 0755);
  ::setenv("KUBEBUILDER_ASSETS", folder.c_str(), 1);
  const auto plane = ControlPlane::start({});
  ::unsetenv("KUBEBUILDER_ASSETS");
  fs::remove_all(folder);
  ASSERT_FALSE(plane.ok());
  EXPECT_EQ(plane.error().kind, Error::Kind::kNotFound);
  EXPECT_NE(plane.error().message.find("kube-apiserver does not know the feature gate GenericWorkload"), std::string::npos) << plane.error().message;
}

}  // namespace
}  // namespace ashlar::local
