// A server that says exactly what a test wants, byte for byte, so that the client meets answers no decent server gives.
// Plain, or over TLS (tls.h).
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>

namespace ashlar::http {

/// One connection, as the server has it; closed with this object.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}
  virtual ~Wire() { close(fd_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// False where the two sides do not come to terms.
  virtual bool begin() { return true; }
  /// Number of bytes; 0 at the end, below 0 where it broke.
  virtual ssize_t read(char* to, std::size_t size) { return recv(fd_, to, size, 0); }
  virtual ssize_t write(const char* from, std::size_t size) { return send(fd_, from, size, MSG_NOSIGNAL); }
  /// Who the client says to be, by its certificate.
  virtual std::string peer() const { return "nobody"; }

  void say(const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = write(text.data() + sent, text.size() - sent);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

class Loopback {
 public:
  using MakeWire = std::function<std::unique_ptr<Wire>(int fd)>;

  /// `talk(wire)` or `talk(wire, request)` runs on a thread of its own, for one connection after the other, once the
  /// request's headers are read.
  template <class Talk>
  explicit Loopback(Talk talk, MakeWire over_tls = {})
      : make_wire_(std::move(over_tls)), scheme_(make_wire_ ? "https" : "http") {
    if constexpr (std::is_invocable_v<Talk, Wire&>)
      talk_ = [talk](Wire& wire, const std::string&) { talk(wire); };
    else
      talk_ = talk;
    if (!make_wire_) make_wire_ = [](int fd) { return std::make_unique<Wire>(fd); };
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 16) != 0) std::abort();
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Loopback() {
    shutdown(listener_, SHUT_RDWR);
    close(listener_);
    thread_.join();
  }
  std::string url() const { return scheme_ + "://127.0.0.1:" + std::to_string(port_); }

  static std::string chunk(const std::string& text) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return size + text + "\r\n";
  }

 private:
  void serve() {
    for (;;) {
      const int fd = accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      const std::unique_ptr<Wire> wire = make_wire_(fd);
      if (wire->begin()) converse(*wire);
    }
  }
  void converse(Wire& wire) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = wire.read(buffer, sizeof buffer);
      if (count <= 0) break;
      request.append(buffer, static_cast<std::size_t>(count));
    }
    talk_(wire, request);
  }

  std::function<void(Wire&, const std::string&)> talk_;
  MakeWire make_wire_;
  std::string scheme_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace ashlar::http
