// Who the client says it is and whom it believes: methods, basic authentication, certificates from files and from
// texts, names to be verified.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ask.h"
#include "http/client.h"
#include "http/server.h"
#include "tls.h"

namespace ashlar::http {
namespace {

class Identity : public ::testing::Test {
 protected:
  Identity() : folder_(std::filesystem::temp_directory_path() / ("ashlar-identity-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Identity() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  Result<Response> ask_over_tls(Tls tls) {
    auto client = Client::create({.base_url = server_.url(), .tls = std::move(tls)});
    EXPECT_TRUE(client.ok());
    return ask(**client, {.path = "/"});
  }

  const Certificate its_own_{"api.example"};
  /// Answers with the name that the client's certificate has.
  Loopback server_{[](Wire& wire, const std::string&) {
                     const std::string name = wire.peer();
                     wire.say("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(name.size()) +
                              "\r\nConnection: close\r\n\r\n" + name);
                   },
                   over_tls(its_own_)};

 private:
  std::filesystem::path folder_;
};

TEST_F(Identity, EveryMethodIsSentByItsName) {
  std::vector<Route> routes;
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"})
    routes.push_back({"/", [](const ServerRequest& r) { return text(200, r.method + " " + r.path); }, method});
  auto server = Server::start({}, std::move(routes));
  ASSERT_TRUE(server.ok());
  auto client = Client::create({.base_url = "http://127.0.0.1:" + std::to_string((*server)->port())});
  ASSERT_TRUE(client.ok());
  const std::pair<Method, const char*> methods[] = {{Method::kGet, "GET"},
                                                    {Method::kPost, "POST"},
                                                    {Method::kPut, "PUT"},
                                                    {Method::kPatch, "PATCH"},
                                                    {Method::kDelete, "DELETE"}};
  for (const auto& [method, name] : methods)
    EXPECT_EQ(ask(**client, {.method = method, .path = "/x"})->body, std::string(name) + " /x");
}

TEST_F(Identity, BasicAuthenticationIsSentWhereAUserIsNamed) {
  auto server =
      Server::start({}, {{"/", [](const ServerRequest& r) { return text(200, "[" + r.authorization + "]"); }}});
  ASSERT_TRUE(server.ok());
  const std::string url = "http://127.0.0.1:" + std::to_string((*server)->port());
  auto with = Client::create({.base_url = url, .basic_user = "me", .basic_password = "secret"});
  EXPECT_EQ(ask(**with, {.path = "/"})->body, "[Basic bWU6c2VjcmV0]");
  auto without = Client::create({.base_url = url, .basic_password = "secret"});
  EXPECT_EQ(ask(**without, {.path = "/"})->body, "[]");
}

TEST_F(Identity, ACertificateIsShownFromATextAndFromAFile) {
  const Certificate one("one"), other("other");
  EXPECT_EQ(ask_over_tls({.insecure_skip_verify = true})->body, "nobody");
  EXPECT_EQ(ask_over_tls({.cert_pem = one.cert_pem(), .key_pem = one.key_pem(), .insecure_skip_verify = true})->body,
            "one");
  EXPECT_EQ(ask_over_tls({.cert_file = file("cert", other.cert_pem()),
                          .key_file = file("key", other.key_pem()),
                          .insecure_skip_verify = true})
                ->body,
            "other");
  const Result<Response> texts_win = ask_over_tls({.cert_file = file("cert", other.cert_pem()),
                                                   .cert_pem = one.cert_pem(),
                                                   .key_file = file("key", other.key_pem()),
                                                   .key_pem = one.key_pem(),
                                                   .insecure_skip_verify = true});
  EXPECT_EQ(texts_win->body, "one");
}

TEST_F(Identity, AServerIsBelievedByTheAnchorGiven) {
  const Certificate foreign_pod("stranger");
  const std::string its_own = its_own_.cert_pem();
  const Tls trusting[] = {
      {.ca_pem = its_own, .server_name = "api.example"},
      {.ca_file = file("ca", its_own), .server_name = "api.example"},
      {.ca_file = file("wrong", foreign_pod.cert_pem()), .ca_pem = its_own, .server_name = "api.example"}};
  for (const Tls& tls : trusting) {
    const Result<Response> answer = ask_over_tls(tls);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, "nobody");
  }
  const Tls doubting[] = {{.ca_pem = foreign_pod.cert_pem(), .server_name = "api.example"},
                          {.ca_file = file("wrong", foreign_pod.cert_pem()), .server_name = "api.example"},
                          {.server_name = "api.example"},
                          {.ca_pem = its_own},
                          {.ca_pem = its_own, .server_name = "another.example"}};
  for (const Tls& tls : doubting) {
    const Result<Response> answer = ask_over_tls(tls);
    ASSERT_FALSE(answer.ok()) << tls.server_name;
    EXPECT_EQ(answer.error().kind, Error::Kind::kInvalid) << answer.error().message;
  }
}

TEST_F(Identity, FilesThatCannotBeReadAreNamedAtOnce) {
  const std::pair<Tls, const char*> cases[] = {
      {{.ca_file = "/no/ca"}, "/no/ca"}, {{.cert_file = "/no/cert"}, "/no/cert"}, {{.key_file = "/no/key"}, "/no/key"}};
  for (const auto& [tls, name] : cases) {
    const auto made = Client::create({.base_url = server_.url(), .tls = tls});
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_NE(made.error().message.find(name), std::string::npos) << made.error().message;
  }
  EXPECT_TRUE(Client::create({.base_url = server_.url(), .tls = {.ca_file = "/no/ca", .ca_pem = "x"}}).ok())
      << "the text wins";
}

}  // namespace
}  // namespace ashlar::http
