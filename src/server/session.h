// Session: one connection, from its handshake to its end. It belongs to the network thread.
#pragma once

// Asio uses std::exchange without including it.
#include <utility>
//
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/answer_pipe.h"
#include "server/connection_loop.h"
#include "server/socket_stream.h"

namespace pennyweight::server {

class Session;

// Sessions in the order in which they began what they are doing: the first has taken longest.
using SessionList = std::list<Session*>;

// The sessions of one address, or all of them.
struct SessionGroup {
  std::size_t size = 0;
  SessionList waiting;   // no whole request is there: handshake, idle, head
  SessionList transfer;  // bytes of a body or an answer are on their way
};

// What all sessions of a connection loop share.
struct ConnectionLoopShared {
  ConnectionLoopShared(const ConnectionLimits& given_limits, ConnectionHandler& given_handler)
      : limits(given_limits), handler(given_handler) {}

  void count(ConnectionEnd end) { ++ended[static_cast<std::size_t>(end)]; }

  const ConnectionLimits limits;
  ConnectionHandler& handler;
  boost::asio::io_context network{1};
  // Of the network thread.
  std::map<Session*, std::shared_ptr<Session>> sessions;
  SessionGroup all;
  std::map<std::string, SessionGroup> addresses;
  SessionList handshakes;  // that have begun, the oldest first
  std::array<char, 64u << 10> scratch{};
  bool is_stopping = false;
  std::uint64_t unsent_bytes = 0;  // of answers
  // Of any thread.
  std::atomic<std::uint64_t> body_bytes = 0;
  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> open = 0;
  std::array<std::atomic<std::uint64_t>, kConnectionEndNames.size()> ended{};
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Phase {
    kHandshake,
    kIdle,        // between requests
    kHead,        // some bytes of a head
    kWorking,     // an exchange is with a worker
    kBody,        // reads the body that a worker asked for
    kDiscarding,  // reads a body that nobody wants, before the answer
    kAnswering,
    kStreaming,
    kLingering,  // the answer is sent; discards what still comes, so that the client can read it
    kClosed
  };

  // Takes ownership of the socket. `address`: of its group; "": exempt from the limit.
  Session(ConnectionLoopShared& loop, int socket, std::shared_ptr<SSL_CTX> tls, std::string peer,
          std::string address);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start();
  void close();
  void close_because(ConnectionEnd end);
  // Ends what has taken too long.
  void check_deadlines(Time now);
  // For stop(): ends what needs no grace, or all that waits for the client.
  void hurry(bool is_grace_over);

  Phase phase() const { return phase_; }
  // Bytes of an answer in memory, and how many of them the client has taken in this window.
  std::size_t unsent_bytes() const { return out_.size() - out_begin_ + next_out_.size(); }
  std::uint64_t moved_bytes() const { return moved_bytes_; }
  Time phase_begin() const { return phase_begin_; }
  // Since when it is in its list of a group.
  Time listed_since() const { return listed_since_; }

  // Asked by the exchange, on the network thread.
  void begin_body(std::uint64_t bytes_max, ExchangePtr exchange);
  void begin_answer(WireAnswer answer);
  void begin_stream(WireAnswer head, std::shared_ptr<AnswerPipe> pipe, bool is_until_cut);
  void take_from_pipe();

 private:
  enum class Step { kAgain, kWait };  // of pump(): go on at once, or when something happens

  void pump();
  Step step();
  Step step_handshake();
  Step step_head();
  Step step_body();
  Step step_answer();
  Step step_stream();
  Step step_linger();
  // Reads once into in_. Nothing: there was nothing to read, and the session waits or is closed.
  bool read_more();
  // False: the socket takes no more now.
  bool write_out();
  void wait(bool for_reading);
  Step wait_after(SocketStream::State state);

  void enter(Phase phase);
  void leave_groups();
  void begin_handshake();
  void leave_handshakes();
  void begin_request(std::size_t head_bytes);
  void refuse(const HeadProblem& problem);
  void send(WireAnswer answer, bool is_stream);
  void finish_answer();
  void drop_out();
  bool is_too_slow(Time now, std::chrono::milliseconds window);

  ConnectionLoopShared& loop_;
  boost::asio::ip::tcp::socket socket_;
  std::optional<SocketStream> stream_;
  const std::string peer_;
  const std::string address_;  // of its group; "": exempt

  Phase phase_ = Phase::kHandshake;
  Time phase_begin_, listed_since_;
  SessionList::iterator in_all_, in_address_;  // while listed_ says so
  SessionList SessionGroup::* listed_ = nullptr;
  std::optional<SessionList::iterator> in_handshakes_;  // of the loop
  bool is_waiting_to_read_ = false, is_waiting_to_write_ = false;
  bool is_pumping_ = false;

  std::string in_;  // received and not used
  bool is_input_ended_ = false;
  bool has_skipped_blank_line_ = false;
  std::optional<HeadScanner> scanner_;
  std::unique_ptr<MessageParser> parser_;
  Framing framing_;
  RequestHead line_;  // its version and whether it keeps the connection
  bool is_body_read_ = false;
  std::uint64_t body_overhead_ = 0;  // bytes around the chunks of a body
  ExchangePtr exchange_;             // while its body arrives

  std::optional<WireAnswer> pending_;  // after discarding
  std::string out_;                    // what is being sent
  std::string next_out_;               // after that
  std::string_view constant_out_;      // after both
  std::size_t out_begin_ = 0;
  bool closes_ = false;
  std::shared_ptr<AnswerPipe> pipe_;
  bool is_until_cut_ = false;

  Time window_begin_;
  std::uint64_t moved_bytes_ = 0;
  std::uint64_t lingered_bytes_ = 0;
};

}  // namespace pennyweight::server
