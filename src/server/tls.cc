#include "server/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>

namespace pennyweight::server {

Result<TlsContext> open_tls(const std::string& cert_file, const std::string& key_file) {
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (!context) return fail(ErrorCode::kIo, "TLS could not be initialised");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context.get(), cert_file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    ERR_clear_error();
    return fail(
        ErrorCode::kConfig,
        fmt::format(
            "cannot use the certificate {} with the key {}: both must be readable PEM files "
            "that belong together",
            cert_file, key_file));
  }
  return context;
}

}  // namespace pennyweight::server
