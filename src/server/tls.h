// The server's side of TLS: a certificate with its key, TLS 1.2 and newer.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "core/error.h"

namespace pennyweight::server {

struct TlsDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, TlsDeleter>;

// Both files are PEM; that of the certificate may have those that vouch for it after it.
Result<TlsContext> open_tls(const std::string& cert_file, const std::string& key_file);

}  // namespace pennyweight::server
