// A kubeconfig, and what an exec plugin prints.
#include "kubeclient/credentials/kubeconfig.h"
#include "fuzz/fuzz.h"

namespace {

void run(std::string_view bytes) {
  const ashlar::fuzz::File file(bytes);
  ashlar::kube::AccessSources sources;
  sources.kubeconfig = file.path();
  sources.environment = [](const std::string&) { return std::nullopt; };
  static_cast<void>(ashlar::kube::load_access(sources).ok());
  static_cast<void>(ashlar::kube::parse_exec_credential(std::string(bytes)).ok());
}

}  // namespace

ASHLAR_FUZZ_TARGET(kubeconfig)
