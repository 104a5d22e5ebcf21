#include "server/connection.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace pennyweight::server {
namespace {

using std::chrono::steady_clock;

using GetAddress = int (*)(int, sockaddr*, socklen_t*);

void read_address(int socket, GetAddress get_address, std::string& ip, int& port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (get_address(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    port = ntohs(four.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
    port = ntohs(six.sin6_port);
  }
  ip = text.data();
}

}  // namespace

Connection::Connection(int socket, SSL_CTX* tls, std::chrono::milliseconds idle_timeout)
    : socket_(socket), idle_timeout_(idle_timeout), tls_context_(tls) {}

Connection::~Connection() {
  // Sends the closing alert without waiting for the answer.
  if (tls_ && SSL_is_init_finished(tls_.get()) != 0) {
    SSL_shutdown(tls_.get());
    ERR_clear_error();
  }
  ::close(socket_);
}

bool Connection::handshake() {
  if (tls_context_ == nullptr || tls_) return true;
  tls_.reset(SSL_new(tls_context_));
  if (!tls_ || SSL_set_fd(tls_.get(), socket_) != 1) return false;
  const Deadline until = steady_clock::now() + idle_timeout_;
  while (true) {
    ERR_clear_error();
    const int result = SSL_accept(tls_.get());
    if (result == 1) return true;
    if (!wait_for_tls(result, until)) return false;
  }
}

void Connection::begin_head() {
  has_deadline_ = true;
  head_until_ = steady_clock::now() + idle_timeout_;
}

void Connection::hang_up() const { ::shutdown(socket_, SHUT_RDWR); }

bool Connection::has_buffered() const {
  return begin_ < end_ || (tls_ && SSL_pending(tls_.get()) > 0);
}

bool Connection::is_closed_by_peer() const {
  pollfd watched{.fd = socket_, .events = POLLRDHUP, .revents = 0};
  return ::poll(&watched, 1, 0) > 0 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool Connection::is_readable() const { return has_buffered() || wait(POLLIN, steady_clock::now()); }

bool Connection::is_writable() const { return !is_closed_by_peer() && wait(POLLOUT, deadline()); }

Connection::Deadline Connection::deadline() const {
  const Deadline idle = steady_clock::now() + idle_timeout_;
  return has_deadline_ ? std::min(idle, head_until_) : idle;
}

bool Connection::wait(short events, Deadline until) const {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    pollfd watched{.fd = socket_, .events = events, .revents = 0};
    const int found = ::poll(&watched, 1, static_cast<int>(std::clamp<long>(left, 0, INT_MAX)));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
    if (found == 0 && left <= 0) return false;
  }
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (begin_ == end_) {
    // Large reads bypass the buffer.
    if (size >= buffer_.size()) return receive(to, size);
    const ssize_t got = receive(buffer_.data(), buffer_.size());
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  const std::size_t taken = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, taken);
  begin_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t Connection::receive(char* to, std::size_t size) {
  const Deadline until = deadline();
  while (true) {
    if (tls_) {
      ERR_clear_error();
      const int got =
          SSL_read(tls_.get(), to, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
      if (got > 0) return got;
      if (SSL_get_error(tls_.get(), got) == SSL_ERROR_ZERO_RETURN) return 0;
      if (!wait_for_tls(got, until)) return -1;
      continue;
    }
    const ssize_t got = ::recv(socket_, to, size, MSG_DONTWAIT);
    if (got >= 0) return got;
    if (errno == EINTR) continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait(POLLIN, until)) return -1;
  }
}

ssize_t Connection::write(const char* from, std::size_t size) {
  return size == 0 ? 0 : send(from, size);
}

ssize_t Connection::send(const char* from, std::size_t size) {
  const Deadline until = steady_clock::now() + idle_timeout_;
  while (true) {
    if (tls_) {
      ERR_clear_error();
      const int put =
          SSL_write(tls_.get(), from, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
      if (put > 0) return put;
      if (!wait_for_tls(put, until)) return -1;
      continue;
    }
    const ssize_t put = ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) return put;
    if (put < 0 && errno == EINTR) continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait(POLLOUT, until)) return -1;
  }
}

bool Connection::wait_for_tls(int result, Deadline until) {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return wait(POLLIN, until);
    case SSL_ERROR_WANT_WRITE:
      return wait(POLLOUT, until);
    default:
      return false;
  }
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  read_address(
      socket_, [](int s, sockaddr* a, socklen_t* n) { return ::getpeername(s, a, n); }, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  read_address(
      socket_, [](int s, sockaddr* a, socklen_t* n) { return ::getsockname(s, a, n); }, ip, port);
}

}  // namespace pennyweight::server
