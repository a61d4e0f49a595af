// Stands before an API server, counts every request by the moment of its arrival, and plays an outage: from a moment on
// nothing goes further, and every request is answered with one status, left without an answer, or has its connection
// cut.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ashlar::kube {

class CountingGate {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kSilent = 0, kCut = -1;  ///< instead of a status
  using Seen = std::pair<Clock::time_point, std::string>;

  /// To a server on that port of loopback. The outage begins with the first request whose first line has
  /// `first_of_outage`.
  CountingGate(std::uint16_t server_port, std::string first_of_outage, int how)
      : server_port_(server_port),
        first_of_outage_(std::move(first_of_outage)),
        how_(how),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 256) != 0) std::abort();
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~CountingGate() {
    is_ending_ = true;
    thread_.join();
    for (const Line& line : lines_) close_both(line);
    close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  /// When the outage began; the end of time where it has not.
  Clock::time_point outage_began() {
    const std::lock_guard lock(lock_);
    return outage_began_;
  }
  /// The first lines of what arrived (or, with kCut, "connection") in that time.
  std::vector<std::string> between(Clock::time_point from, Clock::time_point end) {
    const std::lock_guard lock(lock_);
    std::vector<std::string> found;
    for (const Seen& one : seen_)
      if (one.first >= from && one.first < end) found.push_back(one.second);
    return found;
  }

 private:
  struct Line {
    int client = -1, server = -1;
    std::string pending;  ///< of a request that has not come whole
  };

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  static void close_both(const Line& line) {
    for (const int fd : {line.client, line.server})
      if (fd >= 0) close(fd);
  }
  static bool say(int fd, const std::string& text) {
    return send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  bool is_out() const { return outage_began_ != Clock::time_point::max(); }

  void serve() {
    while (!is_ending_) {
      std::vector<pollfd> waits{{listener_, POLLIN, 0}};
      for (const Line& line : lines_)
        for (const int fd : {line.client, line.server}) waits.push_back({fd, POLLIN, 0});  // below 0: passed over
      poll(waits.data(), waits.size(), 20);
      std::size_t at = 1;
      for (auto line = lines_.begin(); line != lines_.end(); at += 2) {
        const bool is_over = ((waits[at].revents != 0) && !take_from_client(*line)) ||
                             ((waits[at + 1].revents != 0) && !take_from_server(*line));
        if (is_over) close_both(*line);
        line = is_over ? lines_.erase(line) : std::next(line);
      }
      if (waits[0].revents != 0) take_connection();
    }
  }
  void take_connection() {
    const int fd = accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    if (is_out() && how_ == kCut) {
      note("connection");
      const linger at_once{1, 0};
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      close(fd);
      return;
    }
    lines_.push_back({.client = fd, .pending = {}});
  }
  void note(std::string what) {
    const std::lock_guard lock(lock_);
    seen_.emplace_back(Clock::now(), std::move(what));
  }
  bool take_from_client(Line& line) {
    char buffer[16384];
    const ssize_t count = recv(line.client, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count <= 0) return false;
    line.pending.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t size = whole(line.pending); size > 0; size = whole(line.pending)) {
      const std::string request = line.pending.substr(0, size);
      line.pending.erase(0, size);
      if (!take_request(line, request)) return false;
    }
    return true;
  }
  /// Bytes of the first request, 0 where it has not come whole.
  static std::size_t whole(const std::string& bytes) {
    const std::size_t head = bytes.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    std::string lower = bytes.substr(0, head);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t length = lower.find("\r\ncontent-length:");
    const std::size_t size = head + 4 + (length == std::string::npos ? 0 : std::stoul(lower.substr(length + 17)));
    return bytes.size() < size ? 0 : size;
  }
  bool take_request(Line& line, const std::string& request) {
    std::string first = request.substr(0, request.find(" HTTP/"));
    if (!is_out() && first.find(first_of_outage_) != std::string::npos) {
      const std::lock_guard lock(lock_);
      outage_began_ = Clock::now();
    }
    note(std::move(first));
    if (!is_out()) return pass_on(line, request);
    if (how_ == kSilent) return true;
    if (how_ == kCut) return false;
    const std::string body = R"({"kind":"Status","message":"an outage"})";
    return say(line.client, "HTTP/1.1 " + std::to_string(how_) +
                                " No\r\nContent-Type: application/json\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  bool pass_on(Line& line, const std::string& request) {
    if (line.server < 0) {
      line.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = loopback(server_port_);
      if (connect(line.server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
    }
    return say(line.server, request);
  }
  bool take_from_server(Line& line) {
    char buffer[16384];
    const ssize_t count = recv(line.server, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count <= 0) return false;
    return (is_out() && how_ == kSilent) || say(line.client, std::string(buffer, static_cast<std::size_t>(count)));
  }

  std::uint16_t server_port_, port_ = 0;
  std::string first_of_outage_;
  int how_, listener_;
  std::atomic<bool> is_ending_{false};
  std::list<Line> lines_;
  std::mutex lock_;
  Clock::time_point outage_began_ = Clock::time_point::max();
  std::vector<Seen> seen_;
  std::thread thread_;
};

}  // namespace ashlar::kube
