// TLS for Loopback, and what makes certificates.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>

#include "loopback.h"

namespace ashlar::http {

/// A self-signed certificate and its key.
struct Certificate {
  explicit Certificate(const std::string& name) : key(EVP_EC_gen("P-256")), x509(X509_new()) {
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -60);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
    X509_set_pubkey(x509, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
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

/// A connection over TLS, on which the server shows `own` and asks for a certificate of whatever issuer. `is_http2`: it
/// agrees to HTTP/2.
class TlsWire : public Wire {
 public:
  TlsWire(int fd, const Certificate& own, bool is_http2 = false)
      : Wire(fd), context_(SSL_CTX_new(TLS_server_method())) {
    if (is_http2) SSL_CTX_set_alpn_select_cb(context_, choose_http2, nullptr);
    SSL_CTX_use_certificate(context_, own.x509);
    SSL_CTX_use_PrivateKey(context_, own.key);
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context_, SSL_OP_NO_TICKET);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
    tls_ = SSL_new(context_);
    SSL_set_fd(tls_, fd);
  }
  ~TlsWire() override {
    SSL_shutdown(tls_);
    SSL_free(tls_);
    SSL_CTX_free(context_);
  }
  bool begin() override { return SSL_accept(tls_) == 1; }
  ssize_t read(char* to, std::size_t size) override { return SSL_read(tls_, to, static_cast<int>(size)); }
  ssize_t write(const char* from, std::size_t size) override { return SSL_write(tls_, from, static_cast<int>(size)); }
  std::string peer() const override {
    X509* shown = SSL_get1_peer_certificate(tls_);
    char name[100] = "nobody";
    if (shown != nullptr) X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    X509_free(shown);
    return name;
  }

 private:
  static int choose_http2(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char*, unsigned,
                          void*) {
    static constexpr unsigned char kHttp2[] = {'h', '2'};
    *chosen = kHttp2;
    *size = sizeof kHttp2;
    return SSL_TLSEXT_ERR_OK;
  }

  SSL_CTX* context_;
  SSL* tls_ = nullptr;
};

/// For Loopback; `own` outlives the server. OpenSSL writes without MSG_NOSIGNAL: a client that has hung up must not end
/// the process.
inline Loopback::MakeWire over_tls(const Certificate& own, bool is_http2 = false) {
  std::signal(SIGPIPE, SIG_IGN);
  return [&own, is_http2](int fd) { return std::make_unique<TlsWire>(fd, own, is_http2); };
}

}  // namespace ashlar::http
