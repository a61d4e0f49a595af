// kubeconfig: the API server to use, and its credentials. Reads kubeconfig files (--kubeconfig, else $KUBECONFIG, else
// ~/.kube/config), merged as kubectl does, or, if there are none, the service account of its own pod. Errors name the
// file and the field.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "http/client.h"

namespace ashlar::kube {

/// A program that prints an ExecCredential (client.authentication.k8s.io/v1 or v1beta1).
struct ExecPlugin {
  std::string command;  ///< relative paths with a slash are resolved against the kubeconfig's folder
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string api_version, install_hint;
  /// server, its name, trust anchors and proxy go to the plugin in KUBERNETES_EXEC_INFO
  bool provide_cluster_info = false;
};

/// Everything needed to connect to one API server.
struct Access {
  std::string origin;  ///< where this came from: the file, or "in-cluster"; for messages
  std::string context;
  std::string server;  ///< URL
  std::string default_namespace = "default";
  http::Tls tls;
  std::string proxy;
  std::string token;       ///< fixed bearer token
  std::string token_file;  ///< read again every minute, see Credentials
  std::string basic_user, basic_password;
  std::optional<ExecPlugin> exec;
};

/// The sources. The environment is a function so that tests can pass their own.
struct AccessSources {
  std::string kubeconfig;                                                     ///< --kubeconfig; wins over everything
  std::string context;                                                        ///< --context; else current-context
  std::function<std::optional<std::string>(const std::string&)> environment;  ///< default: getenv
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
};

Result<Access> load_access(const AccessSources& sources);
/// What about this access lets others read or forge the traffic, in sentences for the log; empty if nothing does.
std::vector<std::string> warnings_about(const Access& access);

/// The result of one run of an exec plugin; `expires` 0: valid for the whole life of the process.
struct ExecCredential {
  std::string token, cert_pem, key_pem;
  Millis expires;
};

/// Runs the plugin (blocking, at most `timeout`) and reads its answer. kDenied if it fails, with its last line of error
/// output.
Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const Access& access, Millis timeout);
/// The pure half: parses an ExecCredential document.
Result<ExecCredential> parse_exec_credential(const std::string& json);

}  // namespace ashlar::kube
