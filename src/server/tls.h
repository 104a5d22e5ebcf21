// The server's side of TLS: TLS 1.3, and TLS 1.2 with authenticated encryption alone, with a
// certificate that is read again when its file changes.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace pennyweight::server {

// PEM files; that of the certificate may have those that vouch for it after it.
struct TlsFiles {
  std::string cert_file;
  std::string key_file;
  // Where it is not empty: clients must show a certificate that one of these has signed.
  std::string client_ca_file = {};
};

Result<std::shared_ptr<SSL_CTX>> open_tls(const TlsFiles& files);

// The DNS names that a certificate is for (RFC 6125, subjectAltName), as "*.example.com" too. Those
// that are not ASCII are left out. Errors: the file can't be read as a certificate.
Result<std::vector<std::string>> certificate_names(const std::string& cert_file);

// The certificate that new connections get. Safe to use from several threads.
class TlsCertificate {
 public:
  static Result<std::unique_ptr<TlsCertificate>> open(TlsFiles files);

  std::shared_ptr<SSL_CTX> current() const;
  // Reads the files again if the bytes of one changed since they were read. An Error: the new
  // ones can't be used, and the former ones stay; it is returned once for each change.
  Result<void> reload_if_changed();

  explicit TlsCertificate(TlsFiles files);  // for open() alone

 private:
  std::string fingerprint() const;  // of the files' bytes

  const TlsFiles files_;
  std::string read_fingerprint_;  // used by the thread that reloads
  mutable std::mutex mutex_;      // guards the next one
  std::shared_ptr<SSL_CTX> context_;
};

}  // namespace pennyweight::server
