// A request to the server, byte for byte over loopback; it must answer or close, and then serve the next one.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz.h"
#include "http/server.h"

namespace {

using namespace ashlar::http;

Server& server() {
  const auto echo = [](const ServerRequest& r) { return text(200, r.path + r.query_value("name") + r.body); };
  static const auto running = Server::start({.body_bytes_max = 4096, .header_timeout = ashlar::Millis(1000)},
                                            {{"/tree/", echo}, {"/tree/", echo, "POST"}});
  if (!running.ok()) std::abort();
  return **running;
}

void run(std::string_view bytes) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server().port());
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror("the server takes no connection");
    std::abort();
  }
  ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  ::shutdown(fd, SHUT_WR);
  char answer[4096];
  while (::recv(fd, answer, sizeof answer, 0) > 0) {
  }
  ::close(fd);
}

}  // namespace

ASHLAR_FUZZ_TARGET(http_request)
