// Connection: one asker's socket, plain or with TLS, as the library reads and writes it.
//
// It lives through all requests of a connection: what was read too far stays for the next one. The
// socket does not block; waiting is bounded, by idle_timeout between two bytes and for the whole
// head of a request, so that nobody holds a thread by sending a letter now and then. One thread
// uses it at a time; phase(), hang_up() may be called from any.
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
  // What its thread is busy with: what stop() may cut short, and what it waits for.
  enum class Phase { kHead, kBody, kHandler, kAnswer, kStream };

  // Owns the socket from here on. `tls`: null without.
  Connection(int socket, SSL_CTX* tls, std::chrono::milliseconds idle_timeout);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Before the first request: TLS, where it is wanted. False: there is no talking to this one.
  bool greet();
  // From here on the head of a request must arrive within idle_timeout.
  void begin_head();
  void end_head() { has_deadline_ = false; }

  Phase phase() const { return phase_; }
  void enter(Phase phase) { phase_ = phase; }
  // Ends all reading and writing.
  void hang_up() const;
  // Whether bytes wait here that the socket does not know of any more.
  bool has_buffered() const;
  // Whether the asker has closed his side.
  bool is_gone() const;
  bool is_secure() const { return tls_ != nullptr; }

  bool is_readable() const override;
  bool is_writable() const override;
  // 0: the end; -1: an error, or it took too long.
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
  // After an SSL call that gave `result`: whether to try again.
  bool wait_for_tls(int result, Deadline until);

  const int socket_;
  const std::chrono::milliseconds idle_timeout_;
  SSL_CTX* const wanted_;
  SslOwner tls_;
  bool has_deadline_ = false;
  Deadline head_until_;
  std::atomic<Phase> phase_{Phase::kHead};
  std::array<char, 8192> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is buffered
};

}  // namespace pennyweight::server
