#include "server/socket_stream.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace pennyweight::server {
namespace {

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
