#include "server/socket_stream.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace pennyweight::server {
namespace {

// A TLS record (RFC 8446, section 5.1): type, version and length, before its content.
constexpr int kRecordHead = 5;
constexpr unsigned char kHandshakeRecord = 22;
constexpr int kRecordBytesMax = 16'384;

// How many bytes must have arrived before the socket counts as readable.
void set_readable_from(int socket, int bytes) {
  ::setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
}

int bytes_at_once(std::size_t bytes) {
  return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX));
}

}  // namespace

SocketStream::SocketStream(int socket, std::shared_ptr<SSL_CTX> tls)
    : socket_(socket), context_(std::move(tls)) {}

SocketStream::~SocketStream() {
  if (ssl_ && SSL_is_init_finished(ssl_.get()) != 0) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
}

bool SocketStream::has_client_hello() {
  std::array<unsigned char, kRecordHead> head{};
  const ssize_t got = ::recv(socket_, head.data(), head.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  int arrived = 0;
  const bool is_record =
      got > 0 && head[0] == kHandshakeRecord && ::ioctl(socket_, FIONREAD, &arrived) == 0;
  const int needed = got < kRecordHead ? kRecordHead : kRecordHead + head[3] * 256 + int{head[4]};
  // No more than before has arrived: the client has ended.
  if (!is_record || arrived >= std::max(needed, kRecordHead + 1) || arrived <= hello_bytes_ ||
      needed > kRecordHead + kRecordBytesMax) {
    if (hello_bytes_ > 0) set_readable_from(socket_, 1);
    return true;
  }
  hello_bytes_ = arrived;
  set_readable_from(socket_, std::max(needed, kRecordHead));
  return false;
}

SocketStream::State SocketStream::handshake() {
  if (!context_) return State::kDone;
  if (!ssl_) {
    ssl_.reset(SSL_new(context_.get()));
    if (!ssl_ || SSL_set_fd(ssl_.get(), socket_) != 1) return State::kFailed;
  }
  ERR_clear_error();
  const int result = SSL_accept(ssl_.get());
  return result == 1 ? State::kDone : state_after(result);
}

SocketStream::State SocketStream::state_after(int result) const {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return State::kWantsRead;
    case SSL_ERROR_WANT_WRITE:
      return State::kWantsWrite;
    case SSL_ERROR_ZERO_RETURN:
      return State::kEnded;
    default:
      return State::kFailed;
  }
}

SocketStream::Transfer SocketStream::read(std::span<char> to) {
  if (ssl_) {
    ERR_clear_error();
    const int got = SSL_read(ssl_.get(), to.data(), bytes_at_once(to.size()));
    if (got > 0) return {State::kDone, static_cast<std::size_t>(got)};
    return {state_after(got), 0};
  }
  while (true) {
    const ssize_t got = ::recv(socket_, to.data(), to.size(), MSG_DONTWAIT);
    if (got > 0) return {State::kDone, static_cast<std::size_t>(got)};
    if (got == 0) return {State::kEnded, 0};
    if (errno == EINTR) continue;
    return {errno == EAGAIN || errno == EWOULDBLOCK ? State::kWantsRead : State::kFailed, 0};
  }
}

SocketStream::Transfer SocketStream::write(std::string_view from) {
  if (ssl_) {
    ERR_clear_error();
    const int put = SSL_write(ssl_.get(), from.data(), bytes_at_once(from.size()));
    if (put > 0) return {State::kDone, static_cast<std::size_t>(put)};
    return {state_after(put), 0};
  }
  while (true) {
    const ssize_t put = ::send(socket_, from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) return {State::kDone, static_cast<std::size_t>(put)};
    if (put < 0 && errno == EINTR) continue;
    return {errno == EAGAIN || errno == EWOULDBLOCK ? State::kWantsWrite : State::kFailed, 0};
  }
}

void SocketStream::end_writing() {
  if (ssl_ && SSL_is_init_finished(ssl_.get()) != 0) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
  ::shutdown(socket_, SHUT_WR);
}

std::string peer_address(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

}  // namespace pennyweight::server
