// Runs credential plugins (client-go's exec protocol): a child process with a time limit, its answer on standard
// output.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "kubeclient/credentials/kubeconfig.h"
#include "kubeclient/decode/json_reader.h"
#include "kubeclient/json_writer.h"
#include "kubeclient/pod_builder.h"
#include "text/moment_text.h"

extern char** environ;

namespace ashlar::kube {
namespace {

using std::chrono::steady_clock;
constexpr std::size_t kOutputBytesMax = 1u << 20;  // a credential is a few KB

struct Pipe {
  int read_end = -1, write_end = -1;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_write() { close_one(write_end); }
  ~Pipe() {
    close_one(read_end);
    close_one(write_end);
  }

 private:
  static void close_one(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

/// Standard base64, padded.
std::string base64_text(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t b = 0; b < 3; ++b) bits = bits << 8 | (b < count ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    for (std::size_t d = 0; d < 4; ++d) out += d <= count ? kDigits[bits >> (18 - 6 * d) & 63] : '=';
  }
  return out;
}

/// The trust anchors as PEM; empty if the system's are used or the file cannot be read (connecting reports that).
std::string authority_pem(const http::Tls& tls) {
  if (!tls.ca_pem.empty() || tls.ca_file.empty()) return tls.ca_pem;
  std::ifstream in(tls.ca_file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string exec_info(const ExecPlugin& plugin, const Access& access) {
  JsonWriter w;
  w.begin_object()
      .member("apiVersion", plugin.api_version)
      .member("kind", "ExecCredential")
      .key("spec")
      .begin_object()
      .member_bool("interactive", false);
  if (plugin.provide_cluster_info) {
    w.key("cluster").begin_object().member("server", access.server);
    if (!access.tls.server_name.empty()) w.member("tls-server-name", access.tls.server_name);
    if (access.tls.insecure_skip_verify) w.member_bool("insecure-skip-tls-verify", true);
    if (const std::string pem = authority_pem(access.tls); !pem.empty())
      w.member("certificate-authority-data", base64_text(pem));
    if (!access.proxy.empty()) w.member("proxy-url", access.proxy);
    w.end_object();
  }
  w.end_object().end_object();
  return w.take();
}

std::vector<std::string> child_environment(const ExecPlugin& plugin, const Access& access) {
  std::vector<std::string> variables;
  const auto is_replaced = [&](std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('='));
    if (name == "KUBERNETES_EXEC_INFO") return true;
    for (const auto& [own, value] : plugin.environment)
      if (name == own) return true;
    return false;
  };
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!is_replaced(*variable)) variables.emplace_back(*variable);
  for (const auto& [name, value] : plugin.environment) variables.push_back(std::string(name).append("=").append(value));
  variables.push_back("KUBERNETES_EXEC_INFO=" + exec_info(plugin, access));
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

/// Reads both pipes until they close or the time is over; false on timeout.
bool read_both(int out_fd, int err_fd, steady_clock::time_point deadline, std::string& out, std::string& err) {
  pollfd fds[2] = {{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}};
  std::string* texts[2] = {&out, &err};
  for (int open = 2; open > 0;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0) return false;
    if (poll(fds, 2, static_cast<int>(left)) < 0 && errno != EINTR) return false;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t count = read(fds[i].fd, buffer, sizeof buffer);
      if (count > 0 && texts[i]->size() < kOutputBytesMax) texts[i]->append(buffer, static_cast<std::size_t>(count));
      if (count == 0) {
        fds[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

}  // namespace

Result<ExecCredential> parse_exec_credential(const std::string& text) {
  ExecCredential credential;
  std::string kind, problem;
  bool has_status = false;
  try {
    simdjson::ondemand::document document = json::Parser::of_thread().parse(text);
    json::each_field(document.get_value().value(), [&](std::string_view key, json::Value member) {
      if (key == "kind") kind = json::text_of(member);
      if (key != "status") return;
      has_status = true;
      json::each_field(member, [&](std::string_view name, json::Value part) {
        if (name == "token")
          credential.token = json::text_of(part);
        else if (name == "clientCertificateData")
          credential.cert_pem = json::text_of(part);
        else if (name == "clientKeyData")
          credential.key_pem = json::text_of(part);
        else if (name == "expirationTimestamp" && !json::is_null(part)) {
          Result<Millis> time = parse_moment(json::text_of(part));
          if (time)
            credential.expires = *time;
          else
            problem = "status.expirationTimestamp: " + time.error().message;
        }
      });
    });
  } catch (const simdjson::simdjson_error& error) {
    return json::to_error(error, "the credential");
  }
  if (kind != "ExecCredential") return invalid("kind is \"" + kind + "\", not ExecCredential");
  if (!problem.empty()) return invalid(problem);
  if (!has_status || (credential.token.empty() && credential.cert_pem.empty()))
    return invalid("status has neither token nor clientCertificateData");
  if (credential.cert_pem.empty() != credential.key_pem.empty())
    return invalid("status must have both clientCertificateData and clientKeyData");
  return credential;
}

Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const Access& access, Millis timeout) {
  const auto denied = [&](const std::string& why) {
    return Error{Error::Kind::kDenied, "credential plugin " + plugin.command + ": " + why};
  };
  Pipe out, err;
  if (!out.open() || !err.open()) return denied(std::strerror(errno));
  std::vector<std::string> arguments{plugin.command};
  arguments.insert(arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
  std::vector<std::string> variables = child_environment(plugin, access);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end, 1);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // a separate group, so that its children can be killed with it
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, plugin.command.c_str(), &actions, &attributes, pointers(arguments).data(),
                                  pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    return denied(std::string(std::strerror(failed)) + (plugin.install_hint.empty() ? "" : "; " + plugin.install_hint));
  out.close_write();
  err.close_write();

  std::string answer, complaint;
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(timeout.value);
  bool in_time = read_both(out.read_end, err.read_end, deadline, answer, complaint);
  int status = 0;
  while (in_time && waitpid(child, &status, WNOHANG) == 0) {  // both outputs are closed, so it is about to exit
    in_time = steady_clock::now() < deadline;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!in_time) {
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (!in_time) return denied("no answer within " + std::to_string(timeout.value) + " ms");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return denied("exit status " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + ": " +
                  last_line(complaint));
  Result<ExecCredential> credential = parse_exec_credential(answer);
  if (!credential) return denied(credential.error().message);
  return credential;
}

}  // namespace ashlar::kube
