// Connection: a client's socket, plain or with TLS, as a stream of the HTTP library.
//
// It lives as long as the connection: bytes read ahead stay buffered for the next request. The
// socket does not block; waiting is bounded by idle_timeout, between two bytes and for the whole
// head of a request, so that a client that trickles bytes can't hold a thread. One thread at a time
// uses it; phase() and hang_up() may be called from any.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace pennyweight::server {

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslOwner = std::unique_ptr<SSL, SslDeleter>;

class Connection : public httplib::Stream {
 public:
  // What its thread is doing, which decides what stop() cuts short and what it waits for.
  enum class Phase { kHead, kBody, kHandler, kAnswer, kStream };

  // Takes ownership of the socket. `tls`: null for plain HTTP.
  Connection(int socket, SSL_CTX* tls, std::chrono::milliseconds idle_timeout);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Negotiates TLS, if configured, before the first request. False: the connection is unusable.
  bool handshake();
  // From now on, the head of a request must arrive within idle_timeout.
  void begin_head();
  void end_head() { has_deadline_ = false; }

  Phase phase() const { return phase_; }
  void enter(Phase phase) { phase_ = phase; }
  // Ends all reading and writing.
  void hang_up() const;
  // Whether bytes are buffered here, so that polling the socket would miss them.
  bool has_buffered() const;
  // Whether the client has closed its side.
  bool is_closed_by_peer() const;
  bool is_secure() const { return tls_ != nullptr; }

  bool is_readable() const override;
  bool is_writable() const override;
  // 0: the end; -1: an error or a timeout.
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  int socket() const override { return socket_; }

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  Deadline deadline() const;
  bool wait(short events, Deadline until) const;
  ssize_t receive(char* to, std::size_t size);
  ssize_t send(const char* from, std::size_t size);
  // Waits after an SSL call that returned `result`. Whether to try again.
  bool wait_for_tls(int result, Deadline until);

  const int socket_;
  const std::chrono::milliseconds idle_timeout_;
  SSL_CTX* const tls_context_;
  SslOwner tls_;
  bool has_deadline_ = false;
  Deadline head_until_;
  std::atomic<Phase> phase_{Phase::kHead};
  std::array<char, 8192> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of the buffered bytes
};

}  // namespace pennyweight::server
