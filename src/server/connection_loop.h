// Connection loop: accepts connections and turns their bytes into whole requests, within limits.
//
// One thread of Boost.Asio serves all connections; it never waits for a client, a file or a worker.
// Nothing of ours runs, and no worker is taken, before the head of a request is whole, and a body
// is read only once a worker has asked for it. Every phase of a connection has a deadline or a
// least rate, every buffer a size, and every address and the whole a number of connections. Where
// there are too many, the one that has dawdled longest makes room, so that a newcomer with a whole
// request is served whatever the others do.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "server/exchange.h"
#include "server/head_scanner.h"

namespace pennyweight::server {

struct ConnectionLimits {
  HeadLimits head = {};
  std::size_t connections_max = 4096;
  // Of IPv6: per /64. Beyond it dawdlers make room; requests that wait for workers may be as many
  // again.
  std::size_t connections_per_address_max = 512;
  // TLS handshakes that have begun and are not complete, each of which takes some 65 KB. Beyond it
  // the oldest makes room.
  std::size_t handshakes_max = 512;
  std::chrono::milliseconds handshake_max{10'000};
  std::chrono::milliseconds head_max{10'000};  // from its first byte to its last
  std::chrono::milliseconds idle_max{30'000};  // between requests
  // A body must arrive, and an answer be taken, at this rate: bodies on average over rate_window,
  // answers over idle_max.
  std::uint64_t bytes_per_second_min = 1024;
  std::chrono::milliseconds rate_window{10'000};
  // Of all connections together: bodies that arrive or wait for a worker, and answers that wait for
  // their readers.
  std::uint64_t bodies_bytes_max = 512u << 20;
  std::uint64_t answers_bytes_max = 64u << 20;
  // How long stop() lets clients finish sending or receiving.
  std::chrono::milliseconds stop_grace{2'000};
};

// Why the connection loop ended a connection, or refused a request, by itself.
enum class ConnectionEnd {
  kSlowHandshake,
  kSlowHead,
  kSlowBody,
  kSlowReader,
  kMalformed,
  kHeadTooLong,
  kAddressLimit,
  kTotalLimit,
  kHandshakeLimit,
  kBodyMemory,
  kAnswerMemory,
};
inline constexpr std::array<std::string_view, 11> kConnectionEndNames = {
    "slow_handshake",  "slow_head",     "slow_body",     "slow_reader",
    "malformed",       "head_too_long", "address_limit", "total_limit",
    "handshake_limit", "body_memory",   "answer_memory"};

struct ConnectionCounts {
  std::uint64_t open = 0;                                            // connections now
  std::uint64_t accepted = 0;                                        // connections since the start
  std::array<std::uint64_t, kConnectionEndNames.size()> ended = {};  // by ConnectionEnd
};

enum class BodyOutcome { kWhole, kTooLarge, kMalformed, kNoMemory };

// What the connection loop asks of the server. All are called on the network thread and must not
// wait.
class ConnectionHandler {
 public:
  virtual ~ConnectionHandler() = default;
  virtual void head_arrived(const ExchangePtr& exchange) = 0;
  // The body of an exchange that asked for it. Unless it is whole, the connection ends after the
  // answer.
  virtual void body_arrived(const ExchangePtr& exchange, BodyOutcome outcome) = 0;
  // The answer to a head that can't be read. The connection ends after it.
  virtual WireAnswer refuse_head(const HeadProblem& problem) = 0;
  // Whether the limit of connections per address does not hold for this one: a trusted proxy.
  virtual bool is_exempt(std::string_view address) = 0;
  // The network thread has caught an exception: no memory is left. The connection in question ends.
  virtual void network_failed(std::string_view what) = 0;
};

struct ConnectionLoopOptions {
  std::string host;
  std::uint16_t port = 0;  // 0: any that is free
  ConnectionLimits limits = {};
  // For each new connection; null, or without a value: plain HTTP.
  std::function<std::shared_ptr<SSL_CTX>()> tls = {};
};

class ConnectionLoop {
 public:
  // It listens when this returns. `handler` outlives it.
  static Result<std::unique_ptr<ConnectionLoop>> open(const ConnectionLoopOptions& options,
                                                      ConnectionHandler& handler);
  struct Impl;
  explicit ConnectionLoop(std::unique_ptr<Impl> impl);
  // REQUIRES: stop() has returned, and no exchange is left.
  ~ConnectionLoop();
  ConnectionLoop(const ConnectionLoop&) = delete;
  ConnectionLoop& operator=(const ConnectionLoop&) = delete;

  std::uint16_t port() const;
  ConnectionCounts counts() const;
  // Accepts no new connection and no new request. Cuts streams, and after the grace also clients
  // that have not sent their whole request or received their whole answer. Waits for exchanges that
  // are with a worker.
  void stop();

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace pennyweight::server
