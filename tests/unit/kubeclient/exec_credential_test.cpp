// Credential plugins as child processes: what they are given, what they may answer, and in which words each failure is
// reported.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kubeclient/api.h"
#include "kubeclient/credentials/kubeconfig.h"

namespace ashlar::kube {
namespace {

class Plugin : public ::testing::Test {
 protected:
  Plugin() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ashlar-plugin-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Plugin() override { std::filesystem::remove_all(folder_); }

  ExecPlugin plugin(const std::string& script) const {
    const std::string file = folder_ + "/plugin";
    std::ofstream(file) << "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n" << script << "\n";
    chmod(file.c_str(), 0755);
    return {.command = file, .api_version = "v1"};
  }
  std::string words(const std::string& script, Millis patience = Millis(10'000)) const {
    const ExecPlugin made = plugin(script);
    const Result<ExecCredential> credential = run_exec_plugin(made, {}, patience);
    if (credential.ok()) return "token " + credential->token;
    EXPECT_EQ(credential.error().kind, Error::Kind::kDenied);
    const std::string head = "credential plugin " + made.command + ": ";
    EXPECT_EQ(credential.error().message.find(head), 0u) << credential.error().message;
    return credential.error().message.substr(head.size());
  }
  /// The first line of a file that a plugin wrote; empty where there is none yet.
  std::string written(const std::string& name) const {
    std::ifstream in(folder_ + "/" + name);
    std::string line;
    std::getline(in, line);
    return line;
  }
  std::string folder_;
};

const std::string kFine = R"(echo '{"kind":"ExecCredential","status":{"token":"t"}}')";

TEST_F(Plugin, FailuresAreToldInItsLastWords) {
  EXPECT_EQ(words(kFine), "token t");
  EXPECT_EQ(words(kFine + "; exit 1"), "exit status 1: ");
  EXPECT_EQ(words("echo out; echo one >&2; printf 'two \\r\\n\\n ' >&2; exit 4"), "exit status 4: two");
  EXPECT_EQ(words("printf three >&2; exit 255"), "exit status 255: three");
  EXPECT_EQ(words("kill -9 $$"), "exit status -1: ");
  EXPECT_EQ(words("echo '{}'"), "kind is \"\", not ExecCredential");
  EXPECT_EQ(words("sleep 60", Millis(50)), "no answer within 50 ms");
  EXPECT_EQ(words("exec >&- 2>&-; sleep 60", Millis(50)), "no answer within 50 ms") << "though it has said all it will";
  EXPECT_EQ(words("read line || " + kFine), "token t") << "there is nobody to ask";
  EXPECT_EQ(words("echo warning >&2; " + kFine), "token t");
  EXPECT_EQ(words("exec 2>&-; sleep 0.05; " + kFine), "token t");
  EXPECT_EQ(words("head -c 3000000 /dev/zero | tr '\\0' ' '; " + kFine),
            "the credential is not the JSON expected: Empty: no JSON found")
      << "beyond a MiB nothing is kept";
  EXPECT_EQ(words("head -c 1000000 /dev/zero | tr '\\0' ' '; " + kFine), "token t");
  const ExecPlugin none{.command = "/no/such"}, hinted{.command = "/no/such", .install_hint = "get it"};
  EXPECT_EQ(run_exec_plugin(none, {}, Millis(1)).error().message,
            "credential plugin /no/such: No such file or directory");
  EXPECT_EQ(run_exec_plugin(hinted, {}, Millis(1)).error().message,
            "credential plugin /no/such: No such file or directory; get it");
}

TEST_F(Plugin, OneThatHangsIsEndedWithItsChildren) {
  std::string child;
  // a busy machine may not have begun it by then
  for (int patience = 250; child.empty() && patience < 60'000; patience *= 2) {
    EXPECT_EQ(words("sleep 600 & echo $! > child.tmp; mv child.tmp child; wait", Millis(patience)),
              "no answer within " + std::to_string(patience) + " ms");
    child = written("child");
  }
  ASSERT_NE(child, "");
  const auto is_alive = [&] {
    std::ifstream in("/proc/" + child + "/stat");
    std::string line;
    std::getline(in, line);
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string::npos && line.substr(name_end + 2, 1) != "Z";
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (is_alive() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(is_alive());
}

TEST_F(Plugin, ItsSurroundingsAreOursAndItsOwn) {
  ::setenv("ASHLAR_TEST_OURS", "ours", 1);
  ::setenv("ASHLAR_TEST_BOTH", "ours", 1);
  ::setenv("KUBERNETES_EXEC_INFO", "ours", 1);
  ExecPlugin made = plugin(
      "echo \"$ASHLAR_TEST_OURS $ASHLAR_TEST_BOTH $ASHLAR_TEST_ITS $# $1 $2 $KUBERNETES_EXEC_INFO\" > seen\n"
      "tr '\\0' '\\n' < /proc/$$/environ | grep -c -e ASHLAR_TEST_BOTH -e KUBERNETES_EXEC_INFO > count\n" +
      kFine);
  made.arguments = {"a b", "c"};
  made.environment = {{"ASHLAR_TEST_BOTH", "its"}, {"ASHLAR_TEST_ITS", "=x"}};
  Access access{.server = "https://s", .tls = {.insecure_skip_verify = true}};
  const std::string head = "ours its =x 2 a b c ";
  ASSERT_TRUE(run_exec_plugin(made, access, Millis(10'000)).ok());
  EXPECT_EQ(written("seen"), head + R"({"apiVersion":"v1","kind":"ExecCredential","spec":{"interactive":false}})");
  EXPECT_EQ(written("count"), "2") << "each is there once";
  made.provide_cluster_info = true;
  ASSERT_TRUE(run_exec_plugin(made, access, Millis(10'000)).ok());
  EXPECT_EQ(written("seen"), head + R"({"apiVersion":"v1","kind":"ExecCredential","spec":{"interactive":false,)"
                                    R"("cluster":{"server":"https://s","insecure-skip-tls-verify":true}}})");
  for (const char* name : {"ASHLAR_TEST_OURS", "ASHLAR_TEST_BOTH", "KUBERNETES_EXEC_INFO"}) ::unsetenv(name);
}

TEST_F(Plugin, ItsFirstAnswerOpensAnAccessOrNone) {
  Access access{.origin = "o", .server = "http://127.0.0.1:1"};
  access.exec = plugin("exit 3");
  EXPECT_EQ(Api::create({.access = access}).error().message,
            "credential plugin " + access.exec->command + ": exit status 3: ");
  access.exec = plugin(kFine);
  EXPECT_TRUE(Api::create({.access = access}).ok());
  access.server = "nonsense";
  EXPECT_EQ(Api::create({.access = access}).error().message,
            "o: \"nonsense\" is not a server URL: it must begin with https:// or http://");
}

TEST(ExecCredentialWords, EveryAnswerIsReadOrRefusedInWords) {
  const auto words = [](const std::string& status) {
    const Result<ExecCredential> read = parse_exec_credential(R"({"kind":"ExecCredential","status":{)" + status + "}}");
    return read.ok()
               ? read->token + "/" + read->cert_pem + "/" + read->key_pem + "/" + std::to_string(read->expires.value)
               : read.error().message;
  };
  const std::string nothing = "status has neither token nor clientCertificateData";
  const std::string half = "status must have both clientCertificateData and clientKeyData";
  EXPECT_EQ(words(R"("token":"t","other":5)"), "t///0");
  EXPECT_EQ(words(R"("clientCertificateData":"c","clientKeyData":"k","expirationTimestamp":null)"), "/c/k/0");
  EXPECT_EQ(
      words(
          R"("token":"t","clientCertificateData":"c","clientKeyData":"k","expirationTimestamp":"1970-01-01T00:00:05Z")"),
      "t/c/k/5000");
  EXPECT_EQ(words(""), nothing);
  EXPECT_EQ(words(R"("clientKeyData":"k")"), nothing);
  EXPECT_EQ(words(R"("clientCertificateData":"c")"), half);
  EXPECT_EQ(words(R"("token":"t","clientKeyData":"k")"), half);
  EXPECT_EQ(words(R"("token":"t","expirationTimestamp":"soon")"),
            "status.expirationTimestamp: \"soon\" is not a time such as 2026-01-31T12:00:00Z");
  EXPECT_EQ(parse_exec_credential(R"({"kind":"Odd","status":{"token":"t"}})").error().message,
            "kind is \"Odd\", not ExecCredential");
  EXPECT_EQ(parse_exec_credential(R"({"kind":"ExecCredential"})").error().message, nothing);
}

TEST(AnswerWords, AreTheServersAsFarAsItSaidAny) {
  const auto said = [](int status, std::string body, Millis retry_after = {}) {
    const Answer a = to_answer(http::Response{
        .status = status, .body = std::move(body), .content_type = "application/json", .retry_after = retry_after});
    return std::to_string(a.status) + " " + (a.ok() ? "[" + a.body + "]" : a.result.error().message) + " " + a.reason +
           " " + std::to_string(a.retry_after.value);
  };
  const auto status = [](int seconds) {
    return R"({"kind":"Status","message":"m","reason":"R","details":{"retryAfterSeconds":)" + std::to_string(seconds) +
           "}}";
  };
  EXPECT_EQ(said(200, "b", Millis(5)), "200 [b]  5");
  EXPECT_EQ(said(299, "b"), "299 [b]  0");
  EXPECT_EQ(said(300, "b"), "300 HTTP 300: b  0");
  EXPECT_EQ(said(199, "b"), "199 HTTP 199: b  0");
  EXPECT_EQ(said(500, ""), "500 HTTP 500  0");
  EXPECT_EQ(said(500, "{}"), "500 HTTP 500: {}  0");
  EXPECT_EQ(said(500, " \n"), "500 HTTP 500:   0");
  EXPECT_EQ(said(429, status(1)), "429 HTTP 429: m R 1000");
  EXPECT_EQ(said(429, status(3'600)), "429 HTTP 429: m R 3600000");
  EXPECT_EQ(said(429, status(3'601)), "429 HTTP 429: m R 3600000");
  EXPECT_EQ(said(429, status(-1)), "429 HTTP 429: m R 0");
  EXPECT_EQ(said(429, status(9), Millis(1)), "429 HTTP 429: m R 1") << "the header wins";
  EXPECT_EQ(said(500, std::string(201, 'x')), "500 HTTP 500: " + std::string(200, 'x') + "  0");
  for (const int invalid : {400, 405, 406, 413, 415, 422})
    EXPECT_EQ(to_answer(http::Response{.status = invalid}).result.error().kind, Error::Kind::kInvalid) << invalid;
  EXPECT_EQ(to_answer(http::Response{.status = 499}).result.error().kind, Error::Kind::kInternal);
  EXPECT_EQ(to_answer(http::Response{.status = 599}).result.error().kind, Error::Kind::kUnavailable);
}

TEST(ApiTimers, RunWhenTheyAreDueInTheOrderOfTheirTimes) {
  Millis now(1'000);
  const auto api = Api::create({.access = {.server = "http://127.0.0.1:1"},
                                .now = [] { return Millis(7); },
                                .monotonic = [&] { return now; },
                                .seed = 5})
                       .value();
  EXPECT_EQ(api->now(), Millis(7));
  EXPECT_EQ(api->monotonic(), Millis(1'000));
  std::string rung;
  const std::uint64_t first = api->after(Millis(20), [&] { rung += "c"; });
  api->after(Millis(10), [&] {
    rung += "a";
    api->after(Millis(0), [&] { rung += "b"; });
  });
  const std::uint64_t third = api->after(Millis(10), [&] { rung += "x"; });
  EXPECT_EQ(third, first + 2);
  api->cancel_timer(third);
  api->cancel_timer(99);
  now += Millis(9);
  api->poll(Millis(0));
  EXPECT_EQ(rung, "");
  now += Millis(1);
  api->poll(Millis(0));
  EXPECT_EQ(rung, "ab");
  now += Millis(500);
  api->poll(Millis(60'000));
  EXPECT_EQ(rung, "abc") << "what is overdue does not wait";
  const auto other = Api::create({.access = {.server = "http://127.0.0.1:1"}, .seed = 5}).value();
  EXPECT_EQ(api->jitter(), other->jitter());
  EXPECT_NE(Api::create({.access = {.server = "http://127.0.0.1:1"}}).value()->jitter(),
            Api::create({.access = {.server = "http://127.0.0.1:1"}}).value()->jitter());
  EXPECT_GT(other->now(), Millis(1'767'225'600'000)) << "the wall clock's";
}

}  // namespace
}  // namespace ashlar::kube
