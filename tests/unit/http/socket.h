// A plain connection to a server of this process, so that every byte and its moment is the test's.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "http/server.h"

namespace ashlar::http {

class Socket {
 public:
  explicit Socket(const Server& server) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    is_connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool is_connected() const { return is_connected_; }
  /// Our own.
  std::uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }
  /// False where the other side has closed.
  bool say(std::string_view text) const { return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) >= 0; }
  void get(const std::string& path) const { say("GET " + path + " HTTP/1.1\r\nHost: test\r\n\r\n"); }
  /// What has come by the time that a whole small answer is there, the other side has closed, or `patience` is over.
  std::string hear(int patience_ms = 5000) const {
    std::string heard;
    char buffer[4096];
    pollfd waits{fd_, POLLIN, 0};
    while (heard.find("\r\n\r\n") == std::string::npos && poll(&waits, 1, patience_ms) > 0) {
      const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      heard.append(buffer, static_cast<std::size_t>(count));
    }
    return heard;
  }
  /// Everything that comes until the other side closes.
  std::string hear_all() const {
    std::string heard;
    char buffer[4096];
    pollfd waits{fd_, POLLIN, 0};
    while (poll(&waits, 1, 10'000) > 0) {
      const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      heard.append(buffer, static_cast<std::size_t>(count));
    }
    return heard;
  }
  /// Has the other side closed within `patience`?
  bool is_closed_within(int patience_ms) const {
    char byte = 0;
    pollfd waits{fd_, POLLIN, 0};
    return poll(&waits, 1, patience_ms) > 0 && recv(fd_, &byte, 1, 0) <= 0;
  }

 private:
  int fd_ = -1;
  bool is_connected_ = false;
};

/// Sockets of this process whose other side has this port.
inline std::vector<int> sockets_to(std::uint16_t port) {
  std::vector<int> found;
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_in other{};
    socklen_t size = sizeof other;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&other), &size) == 0 && ntohs(other.sin_port) == port)
      found.push_back(fd);
  }
  return found;
}
inline int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  getsockopt(fd, level, name, &value, &size);
  return value;
}

}  // namespace ashlar::http
