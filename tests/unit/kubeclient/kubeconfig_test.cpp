#include "kubeclient/credentials/kubeconfig.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ashlar::kube {
namespace {

namespace fs = std::filesystem;

class Kubeconfig : public ::testing::Test {
 protected:
  Kubeconfig() {
    std::string pattern = (fs::temp_directory_path() / "ashlar-kubeconfig-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Kubeconfig() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  /// A whole kubeconfig with the given cluster and user fields (flow style).
  static std::string config(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- {name: c, context: {cluster: k, user: u, "
           "namespace: team}}\n"
           "clusters:\n- {name: k, cluster: {" +
           cluster + "}}\nusers:\n- {name: u, user: {" + user + "}}\n";
  }
  Result<Access> load(const std::string& text, std::map<std::string, std::string> environment = {}) const {
    return load_access(sources(write("config", text), std::move(environment)));
  }
  static AccessSources sources(std::string file, std::map<std::string, std::string> environment) {
    AccessSources s;
    s.kubeconfig = std::move(file);
    s.environment = [environment = std::move(environment)](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      if (found == environment.end()) return std::nullopt;
      return found->second;
    };
    return s;
  }
  std::string folder_;
};

const char* const kServer = "server: 'https://10.0.0.1:6443'";
// base64 of "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"
const char* const kPemBase64 = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCngKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";

TEST_F(Kubeconfig, ReadsTokenNamespaceAndServer) {
  Result<Access> access = load(config(kServer, "token: abc"));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->token, "abc");
  EXPECT_EQ(access->default_namespace, "team");
  EXPECT_EQ(access->context, "c");
}

TEST_F(Kubeconfig, ReadsInlineAndFileCertificates) {
  write("pki/ca.crt", "x");
  write("client.key", "x");
  Result<Access> access =
      load(config(std::string(kServer) + ", certificate-authority: pki/ca.crt, tls-server-name: api.internal",
                  "client-certificate-data: " + std::string(kPemBase64) + ", client-key: client.key"));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->tls.ca_file, folder_ + "/pki/ca.crt") << "relative to the kubeconfig";
  EXPECT_TRUE(access->tls.cert_pem.starts_with("-----BEGIN CERTIFICATE-----\nx\n"));
  EXPECT_EQ(access->tls.key_file, folder_ + "/client.key");
  EXPECT_EQ(access->tls.server_name, "api.internal");
}

TEST_F(Kubeconfig, ReadsEveryKindOfBase64Character) {
  const std::string pem = "-----BEGIN CERTIFICATE-----\n0?sk>/?i2Ut6ZP\n-----END CERTIFICATE-----\n";
  const std::string base64 =
      "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCjA/c2s+Lz9pMlV0NlpQCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";
  Result<Access> access = load(config("server: 'https://a', certificate-authority-data: '" + base64 + "'", "token: a"));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->tls.ca_pem, pem);
}

TEST_F(Kubeconfig, ReadsTokenFileAndInsecureFlag) {
  write("token", "t\n");
  Result<Access> access = load(config(std::string(kServer) + ", insecure-skip-tls-verify: true", "tokenFile: token"));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->token_file, folder_ + "/token");
  EXPECT_TRUE(access->tls.insecure_skip_verify);
}

TEST_F(Kubeconfig, ReadsExecPlugins) {
  Result<Access> access =
      load(config(kServer,
                  "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get-token, args: [--cluster, x], "
                  "env: [{name: REGION, value: eu}], installHint: 'install it', interactiveMode: Never}"));
  ASSERT_TRUE(access.ok()) << access.error().message;
  ASSERT_TRUE(access->exec.has_value());
  EXPECT_EQ(access->exec->command, folder_ + "/get-token");
  EXPECT_EQ(access->exec->arguments, (std::vector<std::string>{"--cluster", "x"}));
  EXPECT_EQ(access->exec->environment[0].first, "REGION");
}

TEST_F(Kubeconfig, ChoosesTheContextThatIsAskedFor) {
  const std::string file = write("config", config(kServer, "token: abc") + "---\n");
  AccessSources s = sources(file, {});
  s.context = "other";
  Result<Access> access = load_access(s);
  ASSERT_FALSE(access.ok());
  EXPECT_NE(access.error().message.find("contexts"), std::string::npos);
  EXPECT_NE(access.error().message.find("\"other\""), std::string::npos);
}

TEST_F(Kubeconfig, MergesAListOfFilesFirstOneWins) {
  const std::string first = write("a", "users:\n- {name: u, user: {token: first}}\n");
  const std::string second = write("b", config(kServer, "token: second"));
  Result<Access> access = load_access(sources("", {{"KUBECONFIG", first + ":" + folder_ + "/absent:" + second}}));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->token, "first");
}

TEST_F(Kubeconfig, FallsBackToTheHomeFolderThenToTheCluster) {
  write(".kube/config", config(kServer, "token: home"));
  EXPECT_EQ(load_access(sources("", {{"HOME", folder_}}))->token, "home");

  write("sa/token", "sa-token");
  write("sa/ca.crt", "ca");
  write("sa/namespace", "kube-system");
  AccessSources s =
      sources("", {{"HOME", "/nowhere"}, {"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}});
  s.service_account_dir = folder_ + "/sa";
  Result<Access> access = load_access(s);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->token_file, folder_ + "/sa/token");
  EXPECT_EQ(access->default_namespace, "kube-system");
}

TEST_F(Kubeconfig, SaysWhatToDoWhereNothingIsConfigured) {
  Result<Access> access = load_access(sources("", {{"HOME", "/nowhere"}}));
  ASSERT_FALSE(access.ok());
  EXPECT_EQ(access.error().kind, Error::Kind::kNotFound);
  EXPECT_NE(access.error().message.find("--kubeconfig"), std::string::npos);
  EXPECT_FALSE(load_access(sources("/no/such/file", {})).ok()) << "an explicit file must exist";
}

TEST_F(Kubeconfig, ErrorsNameFileAndField) {
  const struct {
    const char *cluster, *user, *field;
  } cases[] = {
      {"", "token: a", "clusters[k].cluster.server"},
      {"server: 'tcp://x'", "token: a", "clusters[k].cluster.server"},
      {"server: [1]", "token: a", "clusters[k].cluster.server"},
      {"server: 'https://a', insecure-skip-tls-verify: maybe", "token: a", "insecure-skip-tls-verify"},
      {"server: 'https://a', certificate-authority: absent.crt", "token: a",
       "clusters[k].cluster.certificate-authority"},
      {"server: 'https://a', certificate-authority-data: '!!!'", "token: a", "certificate-authority-data"},
      {"server: 'https://a', certificate-authority-data: aGVsbG8=", "token: a", "certificate-authority-data"},
      {"server: 'https://a'", "client-certificate-data: LS0tLS1CRUdJTiBY", "users[u].user.client-key"},
      {"server: 'https://a'", "tokenFile: absent", "users[u].user.tokenFile"},
      {"server: 'https://a'", "token: {a: b}", "users[u].user.token"},
      {"server: 'https://a'", "exec: {command: x}", "users[u].user.exec.apiVersion"},
      {"server: 'https://a'", "exec: {apiVersion: client.authentication.k8s.io/v1}", "users[u].user.exec.command"},
      {"server: 'https://a'", "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: y}",
       "users[u].user.exec.args"},
      {"server: 'https://a'", "auth-provider: {name: gcp}", "users[u].user.auth-provider"},
  };
  for (const auto& c : cases) {
    Result<Access> access = load(config(c.cluster, c.user));
    ASSERT_FALSE(access.ok()) << c.cluster << " / " << c.user;
    EXPECT_NE(access.error().message.find(c.field), std::string::npos) << access.error().message;
    EXPECT_NE(access.error().message.find(folder_ + "/config"), std::string::npos) << access.error().message;
  }
}

TEST_F(Kubeconfig, BrokenDocumentsAreErrorsNotCrashes) {
  for (const char* text :
       {"", "[]", "just text", "a: [", "clusters: 5\ncurrent-context: c", "contexts: [5]\ncurrent-context: c",
        "contexts: [{name: c, context: 7}]\ncurrent-context: c", "contexts: [{name: c}]\ncurrent-context: c",
        "current-context: {}", "\x01\x02", "a: &a [*a]", "? [x]\n: y"})
    EXPECT_FALSE(load(text).ok()) << text;
}

TEST_F(Kubeconfig, ExecPluginsYieldTokensAndGetTheirSurroundings) {
  const std::string script = write(
      "plugin",
      "#!/bin/sh\nprintf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":"
      "{\"expirationTimestamp\":\"2030-01-01T00:00:00Z\",\"token\":\"%s-%s\"}}' \"$REGION\" \"$1\"\n"
      "case \"$KUBERNETES_EXEC_INFO\" in *https://10.0.0.1*) ;; *) exit 3;; esac\n");
  chmod(script.c_str(), 0755);
  const ExecPlugin plugin{.command = script,
                          .arguments = {"arg"},
                          .environment = {{"REGION", "eu"}},
                          .api_version = "client.authentication.k8s.io/v1",
                          .provide_cluster_info = true};
  Result<ExecCredential> credential = run_exec_plugin(plugin, {.server = "https://10.0.0.1"}, Millis(5'000));
  ASSERT_TRUE(credential.ok()) << credential.error().message;
  EXPECT_EQ(credential->token, "eu-arg");
  EXPECT_EQ(credential->expires, Millis(1893456000000));
}

TEST_F(Kubeconfig, WhatIsNoFileOfThatSizeIsRefusedByName) {
  const auto error = [](const std::string& file) { return load_access(sources(file, {})).error().message; };
  EXPECT_EQ(error(folder_), "kubeconfig: " + folder_ + ": cannot be read: Is a directory");
  EXPECT_EQ(error("/dev/zero"), "kubeconfig: /dev/zero: cannot be read: it is a device, not a file");
  const std::string large = write("large", "");
  fs::resize_file(large, (16u << 20) + 1);
  EXPECT_EQ(error(large), "kubeconfig: " + large + ": cannot be read: it is larger than 16 MiB");
}

TEST_F(Kubeconfig, ExecPluginsAreToldTheClusterAsFarAsItIsKnown) {
  const std::string script = write("plugin",
                                   "#!/bin/sh\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" > \"$(dirname \"$0\")/info\"\n"
                                   "echo '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}'\n");
  chmod(script.c_str(), 0755);
  const ExecPlugin plugin{
      .command = script, .api_version = "client.authentication.k8s.io/v1", .provide_cluster_info = true};
  Access access{.server = "https://10.0.0.1", .proxy = "http://proxy:3128"};
  access.tls.server_name = "kube";
  const auto info = [&] {
    EXPECT_TRUE(run_exec_plugin(plugin, access, Millis(5'000)).ok());
    std::ifstream in(folder_ + "/info");
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(
      info(),
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,"cluster":)"
      R"({"server":"https://10.0.0.1","tls-server-name":"kube","proxy-url":"http://proxy:3128"}}})");
  access.tls.ca_file = write("ca.pem", "a pem");
  EXPECT_NE(info().find(R"("certificate-authority-data":"YSBwZW0=")"), std::string::npos);
  access.tls.ca_pem = "inline";
  EXPECT_NE(info().find(R"("certificate-authority-data":"aW5saW5l")"), std::string::npos) << "the text wins";
  access.tls.ca_pem = "four";
  EXPECT_NE(info().find(R"("certificate-authority-data":"Zm91cg==")"), std::string::npos);
}

TEST_F(Kubeconfig, FailingExecPluginsAreNamedWithTheirLastWords) {
  const std::string script = write("plugin", "#!/bin/sh\necho first >&2\necho 'please log in' >&2\nexit 4\n");
  chmod(script.c_str(), 0755);
  Result<ExecCredential> failed = run_exec_plugin({.command = script}, {}, Millis(5'000));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, Error::Kind::kDenied);
  EXPECT_NE(failed.error().message.find("please log in"), std::string::npos) << failed.error().message;
  EXPECT_NE(run_exec_plugin({.command = "/no/such/plugin", .install_hint = "get it there"}, {}, Millis(500))
                .error()
                .message.find("get it there"),
            std::string::npos);
}

TEST_F(Kubeconfig, HangingExecPluginsAreEnded) {
  const std::string script = write("plugin", "#!/bin/sh\nsleep 60\n");
  chmod(script.c_str(), 0755);
  Result<ExecCredential> hung = run_exec_plugin({.command = script}, {}, Millis(200));
  ASSERT_FALSE(hung.ok());
  EXPECT_NE(hung.error().message.find("200 ms"), std::string::npos);
}

TEST(ExecCredential, RefusesIncompleteAnswers) {
  for (const char* text : {"", "{}", "not json", R"({"kind":"ExecCredential"})",
                           R"({"kind":"ExecCredential","status":{}})", R"({"kind":"Other","status":{"token":"x"}})",
                           R"({"kind":"ExecCredential","status":{"clientCertificateData":"x"}})",
                           R"({"kind":"ExecCredential","status":{"token":"x","expirationTimestamp":"soon"}})",
                           R"({"kind":"ExecCredential","status":{"token":5}})"})
    EXPECT_FALSE(parse_exec_credential(text).ok()) << text;
}

TEST(Access, WarnsOfConnectionsThatOthersCanReadOrForge) {
  const auto warnings = [](Access access) {
    access.origin = "the file";
    return warnings_about(access);
  };
  EXPECT_TRUE(warnings({.server = "https://kube", .token = "secret"}).empty());
  EXPECT_TRUE(warnings({.server = "http://127.0.0.1:8001"}).empty()) << "a local proxy that needs no credentials";
  ASSERT_EQ(warnings({.server = "https://kube", .tls = {.insecure_skip_verify = true}}).size(), 1u);
  EXPECT_NE(warnings({.server = "https://kube", .tls = {.insecure_skip_verify = true}})[0].find(
                "the file: insecure-skip-tls-verify"),
            std::string::npos);
  for (const Access& plain :
       {Access{.server = "http://kube", .token = "secret"}, Access{.server = "http://kube", .token_file = "/token"},
        Access{.server = "http://kube", .basic_password = "secret"},
        Access{.server = "http://kube", .exec = ExecPlugin{}}}) {
    ASSERT_EQ(warnings(plain).size(), 1u);
    EXPECT_NE(warnings(plain)[0].find("clear text to http://kube"), std::string::npos);
  }
}

}  // namespace
}  // namespace ashlar::kube
