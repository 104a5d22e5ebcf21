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

// Both files are PEM; that of the certificate may have those that vouch for it after it.
Result<std::shared_ptr<SSL_CTX>> open_tls(const std::string& cert_file,
                                          const std::string& key_file);

// The DNS names that a certificate is for (RFC 6125, subjectAltName), as "*.example.com" too. Those
// that are not ASCII are left out. Errors: the file can't be read as a certificate.
Result<std::vector<std::string>> certificate_names(const std::string& cert_file);

// The certificate that new connections get. Safe to use from several threads.
class TlsCertificate {
 public:
  static Result<std::unique_ptr<TlsCertificate>> open(const std::string& cert_file,
                                                      const std::string& key_file);

  std::shared_ptr<SSL_CTX> current() const;
  // Reads the files again if the bytes of either changed since they were read. An Error: the new
  // ones can't be used, and the former ones stay; it is returned once for each change.
  Result<void> reload_if_changed();

  TlsCertificate(std::string cert_file, std::string key_file);  // for open() alone

 private:
  std::string fingerprint() const;  // of both files' bytes

  const std::string cert_file_;
  const std::string key_file_;
  std::string read_fingerprint_;  // used by the thread that reloads
  mutable std::mutex mutex_;      // guards the next one
  std::shared_ptr<SSL_CTX> context_;
};

}  // namespace pennyweight::server
