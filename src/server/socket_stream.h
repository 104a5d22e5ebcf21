// SocketStream: a client's socket, plain or with TLS, read and written without ever waiting.
//
// Each call does what is possible now and says what to wait for. One thread at a time uses it.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "server/address.h"

namespace pennyweight::server {

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslOwner = std::unique_ptr<SSL, SslDeleter>;

class SocketStream {
 public:
  enum class State { kDone, kWantsRead, kWantsWrite, kEnded, kFailed };
  struct Transfer {
    State state = State::kFailed;
    std::size_t bytes = 0;  // with kDone
  };

  // Does not own the socket, which does not block. `tls`: null for plain HTTP; a certificate that
  // is replaced later counts for later connections.
  SocketStream(int socket, std::shared_ptr<SSL_CTX> tls);
  // Sends the closing alert without waiting for the answer.
  ~SocketStream();
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  bool is_secure() const { return context_ != nullptr; }
  // Whether the first message of a TLS handshake is here as a whole, or something else that
  // handshake() will refuse. False: the socket becomes readable when it is, or has ended. Until
  // then a connection costs no state of TLS.
  bool has_client_hello();
  // Goes on with the TLS handshake; kDone once it is complete, at once for plain HTTP. The state of
  // TLS is made by the first call.
  State handshake();
  Transfer read(std::span<char> to);
  Transfer write(std::string_view from);
  // Tells the client that nothing more comes; reading goes on.
  void end_writing();

 private:
  State state_after(int result) const;

  const int socket_;
  const std::shared_ptr<SSL_CTX> context_;
  SslOwner ssl_;
  int hello_bytes_ = 0;  // of the first message, when it was looked at
};

// The address of the other side, as text; "" if the connection is gone.
std::string peer_address(int socket);

}  // namespace pennyweight::server
