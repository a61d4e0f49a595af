#include "kubeclient/credentials/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "http/url.h"
#include "text/text_file.h"

namespace ashlar::kube {
namespace {

namespace fs = std::filesystem;

/// One kubeconfig file; paths inside it are relative to its folder.
struct Document {
  std::string file;
  YAML::Node root;
};

/// A named entry together with the file it came from.
struct Entry {
  YAML::Node node;
  std::string file;
  std::string place;  ///< "clusters[name].cluster", for messages
};

Error field_error(const Entry& entry, const std::string& field, const std::string& why) {
  return invalid(entry.file + ": " + entry.place + (field.empty() ? "" : "." + field) + ": " + why);
}

constexpr std::size_t kBytesMax = 16u << 20;  ///< of a kubeconfig; those of many clusters have some 100 KB

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

/// Standard base64, white space allowed; false if malformed.
bool base64_decode(std::string_view text, std::string& out) {
  std::uint32_t bits = 0;
  int count = 0;
  bool padded = false;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      padded = true;
      continue;
    }
    const int value = base64_value(c);
    if (value < 0 || padded) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if ((count += 6) >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return count < 6;
}

/// The scalar under `key`, empty if absent.
Result<std::string> scalar(const Entry& entry, const char* key) {
  const YAML::Node value = entry.node[key];
  if (!value || value.IsNull()) return std::string();
  if (!value.IsScalar()) return field_error(entry, key, "a text is expected");
  return value.Scalar();
}

/// Like scalar(), for a path: made absolute relative to the folder of the kubeconfig.
Result<std::string> path_scalar(const Entry& entry, const char* key) {
  Result<std::string> path = scalar(entry, key);
  if (!path || path->empty() || fs::path(*path).is_absolute()) return path;
  return (fs::path(entry.file).parent_path() / *path).lexically_normal().string();
}

Result<void> read_pem(const Entry& entry, const char* file_key, const char* data_key, std::string& file,
                      std::string& pem) {
  Result<std::string> data = scalar(entry, data_key);
  if (!data) return data.error();
  if (!data->empty()) {
    if (!base64_decode(*data, pem)) return field_error(entry, data_key, "is not base64");
    if (pem.find("-----BEGIN") == std::string::npos) return field_error(entry, data_key, "holds no PEM block");
    return {};
  }
  Result<std::string> path = path_scalar(entry, file_key);
  if (!path) return path.error();
  if (path->empty()) return {};
  if (const Result<void> checked = check_readable(*path); !checked)
    return field_error(entry, file_key, checked.error().message);
  file = *path;
  return {};
}

Result<bool> flag(const Entry& entry, const char* key) {
  const YAML::Node value = entry.node[key];
  bool on = false;
  if (!value || value.IsNull()) return on;
  if (!value.IsScalar() || !YAML::convert<bool>::decode(value, on))
    return field_error(entry, key, "true or false is expected");
  return on;
}

/// The first entry called `name` in the list `list` of any document; its body is under `body`.
Result<Entry> find_entry(const std::vector<Document>& documents, const char* list, const char* body,
                         const std::string& name) {
  std::string searched;
  for (const Document& document : documents) {
    searched += (searched.empty() ? "" : ", ") + document.file;
    const YAML::Node entries = document.root[list];
    if (!entries || entries.IsNull()) continue;
    if (!entries.IsSequence()) return invalid(document.file + ": " + list + ": a list is expected");
    for (const YAML::Node& entry : entries) {
      if (!entry.IsMap() || !entry["name"] || !entry["name"].IsScalar())
        return invalid(document.file + ": " + list + ": an entry has no name");
      if (entry["name"].Scalar() != name) continue;
      const YAML::Node inner = entry[body];
      Entry found{inner ? inner : YAML::Node(YAML::NodeType::Map), document.file,
                  std::string(list) + "[" + name + "]." + body};
      if (!found.node.IsMap() && !found.node.IsNull()) return field_error(found, "", "a mapping is expected");
      if (found.node.IsNull()) found.node = YAML::Node(YAML::NodeType::Map);
      return found;
    }
  }
  return invalid(searched + ": " + list + ": there is no entry named \"" + name + "\"");
}

Result<ExecPlugin> read_exec(const Entry& user) {
  const Entry exec{user.node["exec"], user.file, user.place + ".exec"};
  if (!exec.node.IsMap()) return field_error(exec, "", "a mapping is expected");
  ExecPlugin plugin;
  for (const auto& [key, target] : {std::pair<const char*, std::string*>{"command", &plugin.command},
                                    {"apiVersion", &plugin.api_version},
                                    {"installHint", &plugin.install_hint}}) {
    Result<std::string> value = scalar(exec, key);
    if (!value) return value.error();
    *target = *value;
  }
  if (plugin.command.empty()) return field_error(exec, "command", "is missing");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1")
    return field_error(exec, "apiVersion",
                       "\"" + plugin.api_version + "\" is not client.authentication.k8s.io/v1 or v1beta1");
  if (plugin.command.find('/') != std::string::npos && !fs::path(plugin.command).is_absolute())
    plugin.command = (fs::path(exec.file).parent_path() / plugin.command).lexically_normal().string();
  if (const YAML::Node args = exec.node["args"]; args && !args.IsNull()) {
    if (!args.IsSequence()) return field_error(exec, "args", "a list is expected");
    for (const YAML::Node& argument : args) {
      if (!argument.IsScalar()) return field_error(exec, "args", "a text is expected");
      plugin.arguments.push_back(argument.Scalar());
    }
  }
  if (const YAML::Node variables = exec.node["env"]; variables && !variables.IsNull()) {
    if (!variables.IsSequence()) return field_error(exec, "env", "a list is expected");
    for (const YAML::Node& variable : variables) {
      if (!variable.IsMap() || !variable["name"] || !variable["name"].IsScalar())
        return field_error(exec, "env", "an entry has no name");
      const YAML::Node value = variable["value"];
      plugin.environment.emplace_back(variable["name"].Scalar(),
                                      value && value.IsScalar() ? value.Scalar() : std::string());
    }
  }
  Result<bool> provide = flag(exec, "provideClusterInfo");
  if (!provide) return provide.error();
  plugin.provide_cluster_info = *provide;
  return plugin;
}

Result<void> read_cluster(const Entry& cluster, Access& access) {
  for (const auto& [key, target] : {std::pair<const char*, std::string*>{"server", &access.server},
                                    {"tls-server-name", &access.tls.server_name},
                                    {"proxy-url", &access.proxy}}) {
    Result<std::string> value = scalar(cluster, key);
    if (!value) return value.error();
    *target = *value;
  }
  if (access.server.empty()) return field_error(cluster, "server", "is missing");
  if (Result<http::Url> url = http::parse_url(access.server); !url)
    return field_error(cluster, "server", url.error().message);
  Result<bool> insecure = flag(cluster, "insecure-skip-tls-verify");
  if (!insecure) return insecure.error();
  access.tls.insecure_skip_verify = *insecure;
  return read_pem(cluster, "certificate-authority", "certificate-authority-data", access.tls.ca_file,
                  access.tls.ca_pem);
}

Result<void> read_user(const Entry& user, Access& access) {
  for (const char* key : {"auth-provider"})
    if (user.node[key]) return field_error(user, key, "is not supported any more; use an exec plugin");
  for (const char* key : {"as", "as-uid", "as-groups"})
    if (user.node[key]) return field_error(user, key, "impersonation is not supported");
  for (const auto& [key, target] : {std::pair<const char*, std::string*>{"token", &access.token},
                                    {"username", &access.basic_user},
                                    {"password", &access.basic_password}}) {
    Result<std::string> value = scalar(user, key);
    if (!value) return value.error();
    *target = *value;
  }
  Result<std::string> token_file = path_scalar(user, "tokenFile");
  if (!token_file) return token_file.error();
  access.token_file = *token_file;
  if (!access.token_file.empty())
    if (const Result<void> checked = check_readable(access.token_file); !checked)
      return field_error(user, "tokenFile", checked.error().message);
  if (Result<void> read =
          read_pem(user, "client-certificate", "client-certificate-data", access.tls.cert_file, access.tls.cert_pem);
      !read)
    return read;
  if (Result<void> read = read_pem(user, "client-key", "client-key-data", access.tls.key_file, access.tls.key_pem);
      !read)
    return read;
  const bool has_cert = !access.tls.cert_file.empty() || !access.tls.cert_pem.empty();
  const bool has_key = !access.tls.key_file.empty() || !access.tls.key_pem.empty();
  if (has_cert != has_key)
    return field_error(user, has_cert ? "client-key" : "client-certificate", "certificate and key must both be given");
  if (user.node["exec"] && !user.node["exec"].IsNull()) {
    Result<ExecPlugin> plugin = read_exec(user);
    if (!plugin) return plugin.error();
    access.exec = *plugin;
  }
  return {};
}

Result<Document> read_document(const std::string& file) {
  Result<std::string> text = read_text_file(file, kBytesMax);
  if (!text) return invalid("kubeconfig: " + text.error().message);
  try {
    Document document{file, YAML::Load(*text)};
    if (document.root.IsNull()) document.root = YAML::Node(YAML::NodeType::Map);
    if (!document.root.IsMap()) return invalid(file + ": a kubeconfig is a mapping with clusters, users and contexts");
    return document;
  } catch (const YAML::Exception& error) {
    return invalid(file + ":" + std::to_string(error.mark.line + 1) + ":" + std::to_string(error.mark.column + 1) +
                   ": not valid YAML: " + error.msg);
  }
}

Result<Access> access_of(const std::vector<Document>& documents, const std::string& wanted_context) {
  Access access;
  access.context = wanted_context;
  for (const Document& document : documents) {
    if (!access.context.empty()) break;
    const YAML::Node current = document.root["current-context"];
    if (current && current.IsScalar()) access.context = current.Scalar();
  }
  access.origin = documents.front().file;
  if (access.context.empty())
    return invalid(access.origin + ": current-context: is missing; choose one with --context");
  Result<Entry> context = find_entry(documents, "contexts", "context", access.context);
  if (!context) return context.error();
  access.origin = context->file;
  Result<std::string> cluster_name = scalar(*context, "cluster"), user_name = scalar(*context, "user"),
                      ns = scalar(*context, "namespace");
  for (const Result<std::string>* value : {&cluster_name, &user_name, &ns})
    if (!*value) return value->error();
  if (cluster_name->empty()) return field_error(*context, "cluster", "is missing");
  if (!ns->empty()) access.default_namespace = *ns;
  Result<Entry> cluster = find_entry(documents, "clusters", "cluster", *cluster_name);
  if (!cluster) return cluster.error();
  if (Result<void> read = read_cluster(*cluster, access); !read) return read.error();
  if (user_name->empty()) return access;
  Result<Entry> user = find_entry(documents, "users", "user", *user_name);
  if (!user) return user.error();
  if (Result<void> read = read_user(*user, access); !read) return read.error();
  return access;
}

Result<Access> in_cluster(const std::string& dir, const std::string& host, const std::string& port) {
  Access access;
  access.origin = access.context = "in-cluster";
  access.server = "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  if (Result<http::Url> url = http::parse_url(access.server); !url)
    return invalid("KUBERNETES_SERVICE_HOST/PORT: " + url.error().message);
  access.token_file = dir + "/token";
  access.tls.ca_file = dir + "/ca.crt";
  for (const std::string& file : {access.token_file, access.tls.ca_file})
    if (const Result<void> checked = check_readable(file); !checked)
      return invalid("in-cluster: " + checked.error().message + "; does the pod have a service account?");
  if (Result<std::string> ns = read_text_file(dir + "/namespace", kBytesMax); ns && !ns->empty())
    access.default_namespace = *ns;
  return access;
}

std::vector<std::string> split_paths(const std::string& list) {
  std::vector<std::string> paths;
  std::stringstream in(list);
  for (std::string path; std::getline(in, path, ':');)
    if (!path.empty()) paths.push_back(path);
  return paths;
}

}  // namespace

Result<Access> load_access(const AccessSources& sources) {
  const auto environment = [&](const std::string& name) -> std::string {
    if (sources.environment) return sources.environment(name).value_or("");
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
  };
  std::vector<std::string> files;
  bool missing_is_fine = true;
  if (!sources.kubeconfig.empty()) {
    files.push_back(sources.kubeconfig);
    missing_is_fine = false;
  } else if (const std::string list = environment("KUBECONFIG"); !list.empty()) {
    files = split_paths(list);
  } else if (const std::string home = environment("HOME"); !home.empty()) {
    files.push_back(home + "/.kube/config");
  }
  std::vector<Document> documents;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (missing_is_fine && !fs::exists(file, ignored)) continue;
    Result<Document> document = read_document(file);
    if (!document) return document.error();
    documents.push_back(std::move(document).value());
  }
  if (!documents.empty()) {
    try {
      return access_of(documents, sources.context);
    } catch (const YAML::Exception& error) {
      return invalid(documents.front().file + ": " + error.what());
    }
  }
  const std::string host = environment("KUBERNETES_SERVICE_HOST"), port = environment("KUBERNETES_SERVICE_PORT");
  if (!host.empty() && !port.empty()) return in_cluster(sources.service_account_dir, host, port);
  std::string tried;
  for (const std::string& file : files) tried += (tried.empty() ? "" : ", ") + file;
  return Error{Error::Kind::kNotFound, "no cluster is configured: give --kubeconfig FILE or set KUBECONFIG" +
                                           (tried.empty() ? std::string() : " (" + tried + " does not exist)") +
                                           ", or run inside a cluster"};
}

std::vector<std::string> warnings_about(const Access& access) {
  std::vector<std::string> warnings;
  const bool is_plain = access.server.starts_with("http://");
  const bool has_secret =
      !access.token.empty() || !access.token_file.empty() || !access.basic_password.empty() || access.exec.has_value();
  if (access.tls.insecure_skip_verify && !is_plain)
    warnings.push_back(access.origin + ": insecure-skip-tls-verify is set: anyone on the network path to " +
                       access.server +
                       " can pose as the API server and read the credentials; name its certificate authority instead");
  if (is_plain && has_secret)
    warnings.push_back(access.origin + ": the credentials are sent in clear text to " + access.server + "; use https");
  return warnings;
}

}  // namespace ashlar::kube
