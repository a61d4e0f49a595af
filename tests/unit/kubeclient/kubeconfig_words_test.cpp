// Every refusal of a kubeconfig in its exact words, and all that one of them can say, read in full.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "kubeclient/credentials/kubeconfig.h"

namespace ashlar::kube {
namespace {

namespace fs = std::filesystem;

class KubeconfigWords : public ::testing::Test {
 protected:
  KubeconfigWords() {
    std::string pattern = (fs::temp_directory_path() / "ashlar-words-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~KubeconfigWords() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static std::string config(const std::string& cluster, const std::string& user) {
    return "current-context: c\ncontexts: [{name: other}, {name: c, context: {cluster: k, user: u}}]\n"
           "clusters: [{name: other, cluster: 5}, {name: k, cluster: {" +
           cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
  }
  static AccessSources sources(const std::map<std::string, std::string>& environment) {
    AccessSources s;
    s.environment = [environment](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
    return s;
  }
  Result<Access> load(const std::string& text) const {
    AccessSources s = sources({});
    s.kubeconfig = write("f", text);
    return load_access(s);
  }
  /// The message without our folder.
  std::string words(const Result<Access>& access) const {
    if (access.ok()) return "fine";
    std::string text = access.error().message;
    for (std::size_t at = 0; (at = text.find(folder_ + "/")) != std::string::npos;) text.erase(at, folder_.size() + 1);
    return text;
  }
  std::string folder_;
};

TEST_F(KubeconfigWords, AClusterIsRefusedByItsField) {
  const std::pair<const char*, const char*> cases[] = {
      {"server: 'https://a'", "fine"},
      {"", "clusters[k].cluster.server: is missing"},
      {"server: [a]", "clusters[k].cluster.server: a text is expected"},
      {"server: a", "clusters[k].cluster.server: \"a\" is not a server URL: it must begin with https:// or http://"},
      {"server: 'https://a', tls-server-name: {}", "clusters[k].cluster.tls-server-name: a text is expected"},
      {"server: 'https://a', proxy-url: []", "clusters[k].cluster.proxy-url: a text is expected"},
      {"server: 'https://a', insecure-skip-tls-verify: maybe",
       "clusters[k].cluster.insecure-skip-tls-verify: true or false is expected"},
      {"server: 'https://a', insecure-skip-tls-verify: [true]",
       "clusters[k].cluster.insecure-skip-tls-verify: true or false is expected"},
      {"server: 'https://a', insecure-skip-tls-verify: ", "fine"},
      {"server: 'https://a', certificate-authority: none",
       "clusters[k].cluster.certificate-authority: none: cannot be read: No such file or directory"},
      {"server: 'https://a', certificate-authority: []",
       "clusters[k].cluster.certificate-authority: a text is expected"},
      {"server: 'https://a', certificate-authority-data: []",
       "clusters[k].cluster.certificate-authority-data: a text is expected"},
      {"server: 'https://a', certificate-authority-data: '?'",
       "clusters[k].cluster.certificate-authority-data: is not base64"},
      {"server: 'https://a', certificate-authority-data: 'A'",
       "clusters[k].cluster.certificate-authority-data: is not base64"},
      {"server: 'https://a', certificate-authority-data: 'AA=A'",
       "clusters[k].cluster.certificate-authority-data: is not base64"},
      {"server: 'https://a', certificate-authority-data: 'AA=='",
       "clusters[k].cluster.certificate-authority-data: holds no PEM block"},
      {"server: 'https://a', certificate-authority-data: 'LS0tLS1C RUdJTg=='", "fine"},
      {"server: 'https://a', certificate-authority-data: 'LS0tLS1CRUdJTg'", "fine"},
  };
  for (const auto& [cluster, expected] : cases)
    EXPECT_EQ(words(load(config(cluster, ""))), (expected == std::string("fine") ? "" : "f: ") + std::string(expected))
        << cluster;
}

TEST_F(KubeconfigWords, AUserIsRefusedByItsField) {
  write("there", "x");
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, ";
  const std::pair<std::string, std::string> cases[] = {
      {"token: a", "fine"},
      {"auth-provider: {}", "auth-provider: is not supported any more; use an exec plugin"},
      {"as: me", "as: impersonation is not supported"},
      {"as-uid: me", "as-uid: impersonation is not supported"},
      {"as-groups: [me]", "as-groups: impersonation is not supported"},
      {"token: []", "token: a text is expected"},
      {"username: []", "username: a text is expected"},
      {"password: []", "password: a text is expected"},
      {"tokenFile: []", "tokenFile: a text is expected"},
      {"tokenFile: none", "tokenFile: none: cannot be read: No such file or directory"},
      {"tokenFile: there", "fine"},
      {"client-certificate: none", "client-certificate: none: cannot be read: No such file or directory"},
      {"client-certificate: there", "client-key: certificate and key must both be given"},
      {"client-key: there", "client-certificate: certificate and key must both be given"},
      {"client-key: none", "client-key: none: cannot be read: No such file or directory"},
      {"client-key: there, client-certificate: there", "fine"},
      {"client-key-data: 'LS0tLS1CRUdJTg', client-certificate: there", "fine"},
      {"client-key: there, client-certificate-data: 'LS0tLS1CRUdJTg'", "fine"},
      {"exec: ", "fine"},
      {"exec: x", "exec: a mapping is expected"},
      {"exec: {}", "exec.command: is missing"},
      {"exec: {command: []}", "exec.command: a text is expected"},
      {"exec: {command: x}", "exec.apiVersion: \"\" is not client.authentication.k8s.io/v1 or v1beta1"},
      {"exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}",
       "exec.apiVersion: \"client.authentication.k8s.io/v1alpha1\" is not client.authentication.k8s.io/v1 or v1beta1"},
      {"exec: {command: x, apiVersion: client.authentication.k8s.io/v1beta1}", "fine"},
      {exec + "args: x}", "exec.args: a list is expected"},
      {exec + "args: [[]]}", "exec.args: a text is expected"},
      {exec + "args: }", "fine"},
      {exec + "env: x}", "exec.env: a list is expected"},
      {exec + "env: [x]}", "exec.env: an entry has no name"},
      {exec + "env: [{value: x}]}", "exec.env: an entry has no name"},
      {exec + "env: [{name: []}]}", "exec.env: an entry has no name"},
      {exec + "env: }", "fine"},
      {exec + "provideClusterInfo: 5}", "exec.provideClusterInfo: true or false is expected"},
  };
  for (const auto& [user, expected] : cases)
    EXPECT_EQ(words(load(config("server: 'https://a'", user))),
              expected == "fine" ? expected : "f: users[u].user." + expected)
        << user;
}

TEST_F(KubeconfigWords, AFileIsRefusedByItsPart) {
  const std::string server = "clusters: [{name: k, cluster: {server: 'https://a'}}]\n", now = "current-context: c\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "f: current-context: is missing; choose one with --context"},
      {"current-context: []", "f: current-context: is missing; choose one with --context"},
      {"[]", "f: a kubeconfig is a mapping with clusters, users and contexts"},
      {"a: b\n  c: d: e\n", "f:2:4: not valid YAML: illegal map value"},
      {now, "f: contexts: there is no entry named \"c\""},
      {now + "contexts: 5\n", "f: contexts: a list is expected"},
      {now + "contexts: [5]\n", "f: contexts: an entry has no name"},
      {now + "contexts: [{}]\n", "f: contexts: an entry has no name"},
      {now + "contexts: [{name: []}]\n", "f: contexts: an entry has no name"},
      {now + "contexts: [{name: c, context: 5}]\n", "f: contexts[c].context: a mapping is expected"},
      {now + "contexts: [{name: c, context: }]\n", "f: contexts[c].context.cluster: is missing"},
      {now + "contexts: [{name: c}]\n", "f: contexts[c].context.cluster: is missing"},
      {now + "contexts: [{name: c, context: {cluster: []}}]\n", "f: contexts[c].context.cluster: a text is expected"},
      {now + "contexts: [{name: c, context: {cluster: k, user: []}}]\n",
       "f: contexts[c].context.user: a text is expected"},
      {now + "contexts: [{name: c, context: {cluster: k, namespace: []}}]\n",
       "f: contexts[c].context.namespace: a text is expected"},
      {now + "contexts: [{name: c, context: {cluster: k}}]\n", "f: clusters: there is no entry named \"k\""},
      {now + server + "contexts: [{name: c, context: {cluster: k, user: u}}]\n",
       "f: users: there is no entry named \"u\""},
      {now + server + "contexts: [{name: c, context: {cluster: k}}]\n", "fine"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(words(load(text)), expected) << text;
}

TEST_F(KubeconfigWords, EverythingThatCanBeSaidIsRead) {
  write("there", "x");
  const Result<Access> access = load(config(
      "server: 'http://a', proxy-url: 'http://p', tls-server-name: n, certificate-authority: there",
      "token: t, username: me, password: secret, tokenFile: there, client-certificate: there, client-key: there, "
      "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: bin/x, args: [a, b], installHint: hint, "
      "env: [{name: E}, {name: F, value: f}], provideClusterInfo: true}"));
  ASSERT_TRUE(access.ok()) << access.error().message;
  const std::string there = folder_ + "/there";
  EXPECT_EQ(access->origin, folder_ + "/f");
  EXPECT_EQ(access->context, "c");
  EXPECT_EQ(access->default_namespace, "default");
  EXPECT_EQ(access->server, "http://a");
  EXPECT_EQ(access->proxy, "http://p");
  EXPECT_EQ(access->token, "t");
  EXPECT_EQ(access->token_file, there);
  EXPECT_EQ(access->basic_user, "me");
  EXPECT_EQ(access->basic_password, "secret");
  EXPECT_EQ(access->tls.server_name, "n");
  EXPECT_EQ(access->tls.ca_file, there);
  EXPECT_EQ(access->tls.cert_file, there);
  EXPECT_EQ(access->tls.key_file, there);
  EXPECT_EQ(access->tls.ca_pem + access->tls.cert_pem + access->tls.key_pem, "");
  EXPECT_FALSE(access->tls.insecure_skip_verify);
  ASSERT_TRUE(access->exec.has_value());
  EXPECT_EQ(access->exec->command, folder_ + "/bin/x");
  EXPECT_EQ(access->exec->api_version, "client.authentication.k8s.io/v1beta1");
  EXPECT_EQ(access->exec->install_hint, "hint");
  EXPECT_EQ(access->exec->arguments, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(access->exec->environment, (std::vector<std::pair<std::string, std::string>>{{"E", ""}, {"F", "f"}}));
  EXPECT_TRUE(access->exec->provide_cluster_info);
  const auto command = [&](const std::string& text) {
    return load(config("server: 'http://a'",
                       "exec: {apiVersion: client.authentication.k8s.io/v1, command: " + text + "}"))
        ->exec->command;
  };
  EXPECT_EQ(command("x"), "x") << "looked for on the PATH";
  EXPECT_EQ(command("/bin/x"), "/bin/x");
}

TEST_F(KubeconfigWords, TheFirstFileThatNamesAContextChoosesIt) {
  const std::string first = write("1", "contexts: [{name: c, context: {cluster: k, namespace: n}}]\n");
  const std::string second = write(
      "2", "current-context: c\nclusters: [{name: k, cluster: {server: 'https://two', certificate-authority: ca}}]\n");
  const std::string third =
      write("3", "current-context: d\nclusters: [{name: k, cluster: {server: 'https://three'}}]\n");
  write("ca", "x");
  const std::string list = ":" + first + "::" + second + ":" + third;
  const Result<Access> access = load_access(sources({{"KUBECONFIG", list}, {"HOME", "/nowhere"}}));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->origin, first);
  EXPECT_EQ(access->server, "https://two");
  EXPECT_EQ(access->default_namespace, "n");
  EXPECT_EQ(access->tls.ca_file, folder_ + "/ca");
  AccessSources other = sources({{"KUBECONFIG", list}});
  other.context = "e";
  EXPECT_EQ(words(load_access(other)), "1, 2, 3: contexts: there is no entry named \"e\"");
}

TEST_F(KubeconfigWords, WhereNothingIsConfiguredItSaysWhatWasLookedFor) {
  const std::string head = "no cluster is configured: give --kubeconfig FILE or set KUBECONFIG",
                    tail = ", or run inside a cluster";
  EXPECT_EQ(words(load_access(sources({}))), head + tail);
  EXPECT_EQ(words(load_access(sources({{"HOME", "/no"}}))), head + " (/no/.kube/config does not exist)" + tail);
  EXPECT_EQ(words(load_access(sources({{"HOME", "/no"}, {"KUBECONFIG", "/a:/b"}}))),
            head + " (/a, /b does not exist)" + tail);
  EXPECT_EQ(words(load_access(sources({{"KUBERNETES_SERVICE_HOST", "h"}}))), head + tail);
  EXPECT_EQ(words(load_access(sources({{"KUBERNETES_SERVICE_PORT", "1"}}))), head + tail);
  AccessSources asked = sources({{"KUBERNETES_SERVICE_HOST", "h"}, {"KUBERNETES_SERVICE_PORT", "1"}});
  asked.kubeconfig = folder_ + "/none";
  EXPECT_EQ(words(load_access(asked)), "kubeconfig: none: cannot be read: No such file or directory")
      << "nothing takes the place of what was asked for";
}

TEST_F(KubeconfigWords, InsideAClusterThePodsOwnAccountIsUsed) {
  const auto inside = [&](const std::string& host, const std::string& port) {
    AccessSources s = sources({{"KUBERNETES_SERVICE_HOST", host}, {"KUBERNETES_SERVICE_PORT", port}});
    s.service_account_dir = folder_;
    return load_access(s);
  };
  const std::string why = "; does the pod have a service account?";
  EXPECT_EQ(words(inside("h", "1")), "in-cluster: token: cannot be read: No such file or directory" + why);
  write("token", "t");
  EXPECT_EQ(words(inside("h", "1")), "in-cluster: ca.crt: cannot be read: No such file or directory" + why);
  write("ca.crt", "c");
  EXPECT_EQ(
      words(inside("h", "x")),
      "KUBERNETES_SERVICE_HOST/PORT: \"https://h:x\" is not a server URL: the port must be a number from 1 to 65535");
  Result<Access> access = inside("h", "1");
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access->origin, "in-cluster");
  EXPECT_EQ(access->context, "in-cluster");
  EXPECT_EQ(access->server, "https://h:1");
  EXPECT_EQ(access->token_file, folder_ + "/token");
  EXPECT_EQ(access->tls.ca_file, folder_ + "/ca.crt");
  EXPECT_EQ(access->default_namespace, "default");
  write("namespace", "");
  EXPECT_EQ(inside("h", "1")->default_namespace, "default");
  write("namespace", "n");
  EXPECT_EQ(inside("h", "1")->default_namespace, "n");
}

TEST(AccessWords, WarningsSayWhatToDo) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(warnings_about({.origin = "f", .server = "https://k", .tls = {.insecure_skip_verify = true}}),
            Words{"f: insecure-skip-tls-verify is set: anyone on the network path to https://k can pose as the API "
                  "server and read the credentials; name its "
                  "certificate authority instead"});
  EXPECT_EQ(warnings_about({.origin = "f", .server = "http://k", .tls = {.insecure_skip_verify = true}, .token = "t"}),
            Words{"f: the credentials are sent in clear text to http://k; use https"});
  EXPECT_EQ(warnings_about({.origin = "f", .server = "http://k", .tls = {.insecure_skip_verify = true}}), Words{});
}

}  // namespace
}  // namespace ashlar::kube
