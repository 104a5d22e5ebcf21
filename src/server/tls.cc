#include "server/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/crypto/sha256.h"
#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight::server {
namespace {

// TLS 1.2: forward secrecy and AEAD (RFC 9325, section 4.2). TLS 1.3 has nothing else.
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256";

// Clients that offer protocols must offer HTTP/1.1 (RFC 7301), so that one for another protocol
// can't be led here (cross-protocol attacks).
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned int offered_bytes, void*) {
  static constexpr std::string_view kHttp11 = "http/1.1";
  for (unsigned int at = 0; at < offered_bytes;) {
    const unsigned int bytes = offered[at];
    if (bytes > offered_bytes - at - 1) break;
    const std::string_view name(reinterpret_cast<const char*>(offered) + at + 1, bytes);
    if (name == kHttp11) {
      *chosen = offered + at + 1;
      *chosen_bytes = static_cast<unsigned char>(bytes);
      return SSL_TLSEXT_ERR_OK;
    }
    at += bytes + 1;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

constexpr std::size_t kPemBytesMax = 1u << 20;

// Equal for equal bytes. Times, sizes and inodes will not do: a file can be replaced by one of the
// same size in the same tick of the file system's clock.
std::string content_hash(const std::string& path) {
  const auto content = read_file(path, kPemBytesMax);
  return content ? sha256(*content) : "unreadable";
}

// Refuses clients without a certificate that one of the file has signed.
Result<void> demand_client_certificates(SSL_CTX& context, const std::string& ca_file) {
  static constexpr unsigned char kSessions[] = "pennyweight";  // needed to resume verified sessions
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(ca_file.c_str());
  if (names == nullptr || SSL_CTX_load_verify_locations(&context, ca_file.c_str(), nullptr) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    ERR_clear_error();
    return fail(ErrorCode::kConfig,
                fmt::format("cannot use {} to check clients: it must be a readable PEM file of "
                            "certificates",
                            ca_file));
  }
  SSL_CTX_set_client_CA_list(&context, names);
  SSL_CTX_set_session_id_context(&context, kSessions, sizeof kSessions - 1);
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  // A ticket would outlive the client's certificate, and the list of those who sign.
  SSL_CTX_set_options(&context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(&context, 0);
  return {};
}

}  // namespace

Result<std::shared_ptr<SSL_CTX>> open_tls(const TlsFiles& files) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(ErrorCode::kIo, "TLS could not be initialised");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Buffers are released between records: a thousand idle connections hold next to nothing.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  // Sessions resume by tickets, which clients keep; the server keeps none.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  if (SSL_CTX_set_cipher_list(context.get(), kCiphers12) != 1) {
    ERR_clear_error();
    return fail(ErrorCode::kIo, "TLS could not be initialised: OpenSSL lacks the cipher suites");
  }
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.cert_file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), files.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    ERR_clear_error();
    return fail(
        ErrorCode::kConfig,
        fmt::format(
            "cannot use the certificate {} with the key {}: both must be readable PEM files "
            "that belong together",
            files.cert_file, files.key_file));
  }
  if (!files.client_ca_file.empty())
    TRY(demand_client_certificates(*context, files.client_ca_file));
  return context;
}

Result<std::vector<std::string>> certificate_names(const std::string& cert_file) {
  const std::unique_ptr<BIO, void (*)(BIO*)> file(BIO_new_file(cert_file.c_str(), "r"),
                                                  BIO_free_all);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(
      file ? PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
  ERR_clear_error();
  if (!certificate) return fail(ErrorCode::kConfig, cert_file + " has no certificate in it");
  const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> found(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  std::vector<std::string> names;
  for (int i = 0; found && i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type != GEN_DNS) continue;
    std::string text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                     static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    const bool is_plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
    if (is_plain && !text.empty()) names.push_back(std::move(text));
  }
  return names;
}

TlsCertificate::TlsCertificate(TlsFiles files) : files_(std::move(files)) {}

Result<std::unique_ptr<TlsCertificate>> TlsCertificate::open(TlsFiles files) {
  auto opened = std::make_unique<TlsCertificate>(std::move(files));
  opened->read_fingerprint_ = opened->fingerprint();
  opened->context_ = TRY(open_tls(opened->files_));
  return opened;
}

std::shared_ptr<SSL_CTX> TlsCertificate::current() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

Result<void> TlsCertificate::reload_if_changed() {
  std::string now = fingerprint();
  if (now == read_fingerprint_) return {};
  read_fingerprint_ = std::move(now);
  auto fresh = TRY(open_tls(files_));
  const std::lock_guard lock(mutex_);
  context_ = std::move(fresh);
  return {};
}

std::string TlsCertificate::fingerprint() const {
  std::string hashes = content_hash(files_.cert_file) + content_hash(files_.key_file);
  if (!files_.client_ca_file.empty()) hashes += content_hash(files_.client_ca_file);
  return hashes;
}

}  // namespace pennyweight::server
