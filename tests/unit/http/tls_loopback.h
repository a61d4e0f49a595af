// A server with TLS that answers each request with the common name of the client's certificate and closes the connection, and what makes certificates.
#pragma once

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace ashlar::http {

/// A self-signed certificate and its key.
struct Certificate {
  explicit Certificate(const std::string& name) : key(EVP_EC_gen("P-256")), x509(X509_new()) {
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -60);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
    X509_set_pubkey(x509, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(x509, X509_get_subject_name(x509));
    X509_sign(x509, key, EVP_sha256());
  }
  ~Certificate() {
    X509_free(x509);
    EVP_PKEY_free(key);
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;
  std::string cert_pem() const {
    return pem([this](BIO* out) { PEM_write_bio_X509(out, x509); });
  }
  std::string key_pem() const {
    return pem([this](BIO* out) { PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
  }

  EVP_PKEY* key;
  X509* x509;

 private:
  static std::string pem(const std::function<void(BIO*)>& write) {
    BIO* out = BIO_new(BIO_s_mem());
    write(out);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out, &bytes);
    std::string text(bytes, static_cast<std::size_t>(size));
    BIO_free(out);
    return text;
  }
};

class TlsLoopback {
 public:
  TlsLoopback() {
    context_ = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(context_, own_.x509);
    SSL_CTX_use_PrivateKey(context_, own_.key);
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context_, SSL_OP_NO_TICKET);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
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
  ~TlsLoopback() {
    let_go();
    shutdown(listener_, SHUT_RDWR);
    close(listener_);
    thread_.join();
    SSL_CTX_free(context_);
  }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  /// From now on requests are read but not answered.
  void hold() {
    const std::lock_guard lock(lock_);
    is_holding_ = true;
  }
  void let_go() {
    const std::lock_guard lock(lock_);
    is_holding_ = false;
    changed_.notify_all();
  }
  bool has_request() {
    const std::lock_guard lock(lock_);
    return has_request_;
  }

 private:
  void serve() {
    for (;;) {
      const int fd = accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      SSL* tls = SSL_new(context_);
      SSL_set_fd(tls, fd);
      if (SSL_accept(tls) == 1) answer(tls);
      SSL_shutdown(tls);
      SSL_free(tls);
      close(fd);
    }
  }
  void answer(SSL* tls) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const int count = SSL_read(tls, buffer, sizeof buffer);
      if (count <= 0) return;
      request.append(buffer, static_cast<std::size_t>(count));
    }
    {
      std::unique_lock lock(lock_);
      has_request_ = true;
      changed_.wait(lock, [this] { return !is_holding_; });
    }
    X509* shown = SSL_get1_peer_certificate(tls);
    char name[100] = "nobody";
    if (shown != nullptr) X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    X509_free(shown);
    const std::string body = name;
    const std::string text = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    SSL_write(tls, text.data(), static_cast<int>(text.size()));
  }

  Certificate own_{"127.0.0.1"};
  SSL_CTX* context_ = nullptr;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_holding_ = false, has_request_ = false;
  std::thread thread_;
};

}  // namespace ashlar::http
