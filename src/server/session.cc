#include "server/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <tuple>

#include "core/check.h"

namespace pennyweight::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using SocketState = SocketStream::State;

constexpr milliseconds kLinger{2'000};
constexpr std::uint64_t kLingerBytesMax = 1u << 20;
// A body that nobody wants is read up to this size, so that its connection can go on.
constexpr std::uint64_t kDiscardedBytesMax = 64u << 10;
// Lines of chunks, beside as many bytes as the body has.
constexpr std::uint64_t kBodyOverheadMax = 64u << 10;
// Bodies up to this size are sent in one piece with their head.
constexpr std::size_t kCopiedBytesMax = 16u << 10;
// Steps of one connection before the others have their turn, and reads of a step.
constexpr int kStepsMax = 32;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

constexpr bool is_of_transfer(Session::Phase phase) {
  return phase == Session::Phase::kBody || phase == Session::Phase::kDiscarding ||
         phase == Session::Phase::kAnswering || phase == Session::Phase::kLingering;
}

constexpr bool is_of_waiting(Session::Phase phase) {
  return phase == Session::Phase::kHandshake || phase == Session::Phase::kIdle ||
         phase == Session::Phase::kHead;
}

// An exchange of a session. Everything it asks is done on the network thread.
class SessionExchange final : public Exchange,
                              public std::enable_shared_from_this<SessionExchange> {
 public:
  SessionExchange(ConnectionLoopShared& loop, std::shared_ptr<Session> session)
      : loop_(loop), session_(std::move(session)) {}
  ~SessionExchange() override {
    loop_.body_bytes -= held_bytes;
    if (is_answered_) return;
    boost::asio::post(loop_.network, [session = session_] { session->close(); });
  }
  SessionExchange(const SessionExchange&) = delete;
  SessionExchange& operator=(const SessionExchange&) = delete;

  void read_body(std::uint64_t bytes_max) override {
    boost::asio::post(loop_.network, [self = shared_from_this(), bytes_max] {
      self->session_->begin_body(bytes_max, self);
    });
  }
  void answer(WireAnswer answer) override {
    is_answered_ = true;
    boost::asio::post(loop_.network, [session = session_, answer = std::move(answer)]() mutable {
      session->begin_answer(std::move(answer));
    });
  }
  void begin_stream(WireAnswer wire, bool is_until_cut) override {
    is_answered_ = true;
    pipe_ = std::make_shared<AnswerPipe>([&loop = loop_, session = session_] {
      boost::asio::post(loop.network, [session] { session->take_from_pipe(); });
    });
    boost::asio::post(loop_.network, [session = session_, wire = std::move(wire), pipe = pipe_,
                                      is_until_cut]() mutable {
      session->begin_stream(std::move(wire), std::move(pipe), is_until_cut);
    });
  }
  bool write(std::string_view piece) override { return pipe_->write(piece); }
  void end_stream(bool is_whole) override { pipe_->end(is_whole); }

  std::uint64_t held_bytes = 0;  // of ConnectionLoopShared::body_bytes

 private:
  ConnectionLoopShared& loop_;
  const std::shared_ptr<Session> session_;
  std::shared_ptr<AnswerPipe> pipe_;
  bool is_answered_ = false;
};

}  // namespace

Session::Session(ConnectionLoopShared& loop, int socket, std::shared_ptr<SSL_CTX> tls,
                 std::string peer, std::string address)
    : loop_(loop),
      socket_(loop.network),
      peer_(std::move(peer)),
      address_(std::move(address)),
      phase_begin_(steady_clock::now()),
      listed_since_(phase_begin_),
      window_begin_(phase_begin_) {
  socket_.assign(boost::asio::ip::tcp::v6(), socket);
  stream_.emplace(socket, std::move(tls));
  ++loop_.all.size;
  if (!address_.empty()) ++loop_.addresses[address_].size;
  ++loop_.open;
}

Session::~Session() { --loop_.open; }

void Session::start() {
  enter(stream_->is_secure() ? Phase::kHandshake : Phase::kIdle);
  wait(true);
}

// ---- Its place among the others

void Session::enter(Phase phase) {
  if (phase_ == Phase::kClosed) return;
  const bool goes_on_waiting =
      is_of_waiting(phase) && listed_ == &SessionGroup::waiting && phase == Phase::kHead;
  phase_ = phase;
  phase_begin_ = steady_clock::now();
  window_begin_ = phase_begin_;
  moved_bytes_ = 0;
  if (goes_on_waiting) return;  // a first byte does not make an old connection a new one
  leave_groups();
  listed_ = is_of_waiting(phase)    ? &SessionGroup::waiting
            : is_of_transfer(phase) ? &SessionGroup::transfer
                                    : nullptr;
  if (listed_ == nullptr) return;
  listed_since_ = phase_begin_;
  in_all_ = (loop_.all.*listed_).insert((loop_.all.*listed_).end(), this);
  if (address_.empty()) return;
  SessionList& list = loop_.addresses[address_].*listed_;
  in_address_ = list.insert(list.end(), this);
}

void Session::leave_groups() {
  if (listed_ == nullptr) return;
  (loop_.all.*listed_).erase(in_all_);
  if (!address_.empty()) (loop_.addresses[address_].*listed_).erase(in_address_);
  listed_ = nullptr;
}

void Session::close_because(ConnectionEnd end) {
  loop_.count(end);
  close();
}

void Session::close() {
  if (phase_ == Phase::kClosed) return;
  leave_groups();
  leave_handshakes();
  phase_ = Phase::kClosed;
  if (pipe_) pipe_->cut();
  pipe_.reset();
  exchange_.reset();
  parser_.reset();
  drop_out();
  stream_.reset();  // before the socket: it says goodbye
  boost::system::error_code ignored;
  std::ignore = socket_.close(ignored);
  --loop_.all.size;
  if (!address_.empty()) {
    const auto group = loop_.addresses.find(address_);
    if (--group->second.size == 0) loop_.addresses.erase(group);
  }
  loop_.sessions.erase(this);  // handlers that are pending keep it alive
}

void Session::drop_out() {
  loop_.unsent_bytes -= out_.size() + next_out_.size();
  out_ = {};
  next_out_ = {};
  out_begin_ = 0;
  constant_out_ = {};
}

// ---- Reading and writing

void Session::wait(bool for_reading) {
  bool& is_waiting = for_reading ? is_waiting_to_read_ : is_waiting_to_write_;
  if (is_waiting || phase_ == Phase::kClosed) return;
  is_waiting = true;
  socket_.async_wait(
      for_reading ? boost::asio::socket_base::wait_read : boost::asio::socket_base::wait_write,
      [self = shared_from_this(), for_reading](const boost::system::error_code& error) {
        (for_reading ? self->is_waiting_to_read_ : self->is_waiting_to_write_) = false;
        if (!error) self->pump();
      });
}

Session::Step Session::wait_after(SocketState state) {
  switch (state) {
    case SocketState::kWantsRead:
      wait(true);
      return Step::kWait;
    case SocketState::kWantsWrite:
      wait(false);
      return Step::kWait;
    case SocketState::kDone:
      return Step::kAgain;
    case SocketState::kEnded:
    case SocketState::kFailed:
      close();
      return Step::kWait;
  }
  return Step::kWait;
}

bool Session::read_more() {
  const auto got = stream_->read(loop_.scratch);
  if (got.state == SocketState::kDone) {
    in_.append(loop_.scratch.data(), got.bytes);
    moved_bytes_ += got.bytes;
    return true;
  }
  wait_after(got.state);
  return false;
}

bool Session::write_out() {
  while (true) {
    if (out_begin_ == out_.size() && !next_out_.empty()) {
      loop_.unsent_bytes -= out_.size();
      out_ = std::exchange(next_out_, {});
      out_begin_ = 0;
    }
    const bool is_constant = out_begin_ == out_.size();
    if (is_constant && constant_out_.empty()) break;
    const auto put =
        stream_->write(is_constant ? constant_out_ : std::string_view(out_).substr(out_begin_));
    if (put.state != SocketState::kDone) {
      wait_after(put.state);
      return false;
    }
    moved_bytes_ += put.bytes;
    if (is_constant) {
      constant_out_.remove_prefix(put.bytes);
    } else {
      out_begin_ += put.bytes;
    }
  }
  drop_out();
  return true;
}

// ---- The steps of a connection

void Session::pump() {
  if (is_pumping_) return;
  const auto self = shared_from_this();
  is_pumping_ = true;
  try {
    int steps = 0;
    while (phase_ != Phase::kClosed && step() == Step::kAgain) {
      if (++steps < kStepsMax) continue;
      boost::asio::post(loop_.network, [self] { self->pump(); });
      break;
    }
  } catch (const std::bad_alloc& error) {
    close();
    loop_.handler.network_failed(error.what());
  }
  is_pumping_ = false;
}

Session::Step Session::step() {
  switch (phase_) {
    case Phase::kHandshake:
      return step_handshake();
    case Phase::kIdle:
    case Phase::kHead:
      return step_head();
    case Phase::kBody:
    case Phase::kDiscarding:
      return step_body();
    case Phase::kAnswering:
      return step_answer();
    case Phase::kStreaming:
      return step_stream();
    case Phase::kLingering:
      return step_linger();
    case Phase::kWorking:
    case Phase::kClosed:
      return Step::kWait;
  }
  return Step::kWait;
}

Session::Step Session::step_handshake() {
  if (!in_handshakes_) {
    if (!stream_->has_client_hello()) {
      wait(true);
      return Step::kWait;
    }
    begin_handshake();
  }
  const SocketState state = stream_->handshake();
  if (state == SocketState::kDone) {
    leave_handshakes();
    enter(Phase::kIdle);
  }
  return wait_after(state);
}

void Session::begin_handshake() {
  if (loop_.handshakes.size() >= loop_.limits.handshakes_max) {
    loop_.handshakes.front()->close_because(ConnectionEnd::kHandshakeLimit);
  }
  in_handshakes_ = loop_.handshakes.insert(loop_.handshakes.end(), this);
}

void Session::leave_handshakes() {
  if (in_handshakes_) loop_.handshakes.erase(*in_handshakes_);
  in_handshakes_.reset();
}

Session::Step Session::step_head() {
  if (loop_.is_stopping) {
    close();
    return Step::kWait;
  }
  // One blank line before a request is tolerated (RFC 9112, section 2.2).
  if (!has_skipped_blank_line_ && in_.starts_with("\r\n")) {
    in_.erase(0, 2);
    has_skipped_blank_line_ = true;
  }
  if (in_.empty() || in_ == "\r") return read_more() ? Step::kAgain : Step::kWait;
  if (phase_ == Phase::kIdle) {
    enter(Phase::kHead);
    scanner_.emplace(loop_.limits.head);
  }
  if (const auto problem = scanner_->scan(in_)) {
    refuse(*problem);
    return Step::kAgain;
  }
  if (!scanner_->head_bytes()) return read_more() ? Step::kAgain : Step::kWait;
  begin_request(*scanner_->head_bytes());
  return Step::kAgain;
}

void Session::refuse(const HeadProblem& problem) {
  loop_.count(problem.status == 431 || problem.status == 414 ? ConnectionEnd::kHeadTooLong
                                                             : ConnectionEnd::kMalformed);
  framing_ = {};
  line_ = {};
  is_body_read_ = true;
  WireAnswer answer = loop_.handler.refuse_head(problem);
  answer.closes = true;
  send(std::move(answer), false);
}

void Session::begin_request(std::size_t head_bytes) {
  framing_ = {};
  const std::string_view head = std::string_view(in_).substr(0, head_bytes);
  if (const auto problem = check_head(head, framing_)) return refuse(*problem);
  const auto exchange = std::make_shared<SessionExchange>(loop_, shared_from_this());
  parser_ = std::make_unique<MessageParser>();
  if (!parser_->parse_head(head, exchange->head)) {
    exchange->answer({});  // goes nowhere: the phase is another by then
    return refuse({400, "The head is malformed."});
  }
  in_.erase(0, head_bytes);
  scanner_.reset();
  has_skipped_blank_line_ = false;
  line_.is_http10 = exchange->head.is_http10;
  line_.keeps_alive = exchange->head.keeps_alive;
  is_body_read_ = !framing_.has_body();
  body_overhead_ = 0;
  closes_ = false;
  exchange->framing = framing_;
  exchange->peer = peer_;
  exchange->is_secure = stream_->is_secure();
  enter(Phase::kWorking);
  loop_.handler.head_arrived(exchange);
}

void Session::begin_body(std::uint64_t bytes_max, ExchangePtr exchange) {
  if (phase_ != Phase::kWorking) return;
  exchange_ = std::move(exchange);
  parser_->limit_body(bytes_max);
  enter(Phase::kBody);
  if (framing_.expects_continue && in_.empty()) {
    out_ = kContinue;
    loop_.unsent_bytes += out_.size();
  }
  pump();
}

Session::Step Session::step_body() {
  if (!write_out()) return Step::kWait;
  const std::size_t received = in_.size();
  const std::size_t body_before = parser_->body_bytes();
  auto progress = parser_->parse_body(in_);
  const std::size_t grown = parser_->body_bytes() - body_before;
  body_overhead_ += received - in_.size() - grown;
  if (body_overhead_ > kBodyOverheadMax + parser_->body_bytes()) {
    progress = MessageParser::Progress::kMalformed;
  }
  using Progress = MessageParser::Progress;
  if (phase_ == Phase::kDiscarding) {
    if (progress == Progress::kNeedsMore) return read_more() ? Step::kAgain : Step::kWait;
    is_body_read_ = progress == Progress::kWhole;
    WireAnswer answer = *std::exchange(pending_, std::nullopt);
    answer.closes = answer.closes || !is_body_read_;
    send(std::move(answer), false);
    return Step::kAgain;
  }
  auto& exchange = static_cast<SessionExchange&>(*exchange_);
  exchange.held_bytes += grown;
  loop_.body_bytes += grown;
  BodyOutcome outcome = BodyOutcome::kWhole;
  if (loop_.body_bytes > loop_.limits.bodies_bytes_max && grown > 0) {
    loop_.count(ConnectionEnd::kBodyMemory);
    outcome = BodyOutcome::kNoMemory;
  } else if (progress == Progress::kNeedsMore) {
    return read_more() ? Step::kAgain : Step::kWait;
  } else if (progress == Progress::kTooLarge) {
    outcome = BodyOutcome::kTooLarge;
  } else if (progress == Progress::kMalformed) {
    loop_.count(ConnectionEnd::kMalformed);
    outcome = BodyOutcome::kMalformed;
  }
  if (outcome == BodyOutcome::kWhole) {
    is_body_read_ = true;
    exchange.body = parser_->take_body();
  } else {
    closes_ = true;
    is_body_read_ = true;  // nothing after it can be trusted, so nothing of it is read
  }
  parser_.reset();
  enter(Phase::kWorking);
  loop_.handler.body_arrived(std::exchange(exchange_, nullptr), outcome);
  return Step::kWait;
}

// ---- The answer

void Session::begin_answer(WireAnswer answer) {
  if (phase_ != Phase::kWorking) return;
  if (is_body_read_) {
    send(std::move(answer), false);
  } else if (!(framing_.expects_continue && in_.empty()) &&
             framing_.content_length.value_or(0) <= kDiscardedBytesMax) {
    pending_ = std::move(answer);
    parser_->limit_body(kDiscardedBytesMax);
    enter(Phase::kDiscarding);
  } else {
    answer.closes = true;
    send(std::move(answer), false);
  }
  pump();
}

void Session::begin_stream(WireAnswer head, std::shared_ptr<AnswerPipe> pipe, bool is_until_cut) {
  if (phase_ != Phase::kWorking || loop_.is_stopping) {
    pipe->cut();
    if (phase_ == Phase::kWorking) close();
    return;
  }
  if (!is_body_read_) head.closes = true;
  pipe_ = std::move(pipe);
  is_until_cut_ = is_until_cut;
  send(std::move(head), true);
  pump();
}

void Session::send(WireAnswer answer, bool is_stream) {
  closes_ = closes_ || answer.closes || !line_.keeps_alive || loop_.is_stopping;
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n{}", answer.status, status_text(answer.status), answer.fields);
  if (closes_) {
    head += "Connection: close\r\n\r\n";
  } else {
    if (line_.is_http10) head += "Connection: keep-alive\r\n";
    head += fmt::format("Keep-Alive: timeout={}\r\n\r\n",
                        std::chrono::ceil<std::chrono::seconds>(loop_.limits.idle_max).count());
  }
  drop_out();
  out_ = std::move(head);
  if (answer.body.size() < kCopiedBytesMax) {
    out_ += answer.body;
  } else {
    next_out_ = std::move(answer.body);
  }
  loop_.unsent_bytes += out_.size() + next_out_.size();
  constant_out_ = answer.constant_body;
  parser_.reset();
  enter(is_stream ? Phase::kStreaming : Phase::kAnswering);
}

Session::Step Session::step_answer() {
  if (!write_out()) return Step::kWait;
  finish_answer();
  return Step::kAgain;
}

void Session::finish_answer() {
  if (closes_ || is_input_ended_) {
    stream_->end_writing();
    enter(Phase::kLingering);
    return;
  }
  if (in_.empty()) in_ = {};
  enter(Phase::kIdle);
}

void Session::take_from_pipe() {
  if (phase_ == Phase::kStreaming) pump();
}

Session::Step Session::step_stream() {
  // Noticed here: that the client goes, or asks for more.
  while (!is_input_ended_ && in_.size() < loop_.scratch.size()) {
    const auto got = stream_->read(loop_.scratch);
    if (got.state == SocketState::kDone) {
      in_.append(loop_.scratch.data(), got.bytes);
      continue;
    }
    if (got.state != SocketState::kEnded) {
      if (wait_after(got.state); phase_ == Phase::kClosed) return Step::kWait;
      break;
    }
    is_input_ended_ = true;
    if (is_until_cut_) {
      close();
      return Step::kWait;
    }
  }
  while (true) {
    const bool was_pending = unsent_bytes() > 0;
    if (!write_out()) return Step::kWait;
    if (was_pending) {
      window_begin_ = steady_clock::now();
      moved_bytes_ = 0;
    }
    AnswerPipe::State state = AnswerPipe::State::kOpen;
    out_ = pipe_->take(state);
    loop_.unsent_bytes += out_.size();
    if (!out_.empty()) continue;
    if (state == AnswerPipe::State::kOpen) return Step::kWait;
    pipe_.reset();
    if (state == AnswerPipe::State::kCut) {
      close();
      return Step::kWait;
    }
    finish_answer();
    return Step::kAgain;
  }
}

Session::Step Session::step_linger() {
  const auto got = stream_->read(loop_.scratch);
  lingered_bytes_ += got.bytes;
  if (lingered_bytes_ > kLingerBytesMax) close();
  return wait_after(got.state);
}

// ---- Time

bool Session::is_too_slow(Time now, milliseconds window) {
  if (now < window_begin_ + window) return false;
  const auto moved_min =
      loop_.limits.bytes_per_second_min * static_cast<std::uint64_t>(window.count()) / 1000;
  const bool is_slow = moved_bytes_ < moved_min;
  window_begin_ = now;
  moved_bytes_ = 0;
  return is_slow;
}

void Session::check_deadlines(Time now) {
  const ConnectionLimits& limits = loop_.limits;
  switch (phase_) {
    case Phase::kHandshake:
      if (now >= phase_begin_ + std::min(limits.handshake_max, limits.idle_max)) {
        close_because(ConnectionEnd::kSlowHandshake);
      }
      return;
    case Phase::kIdle:
      if (now >= phase_begin_ + limits.idle_max) close();
      return;
    case Phase::kHead:
      if (now >= phase_begin_ + std::min(limits.head_max, limits.idle_max)) {
        close_because(ConnectionEnd::kSlowHead);
      }
      return;
    case Phase::kBody:
    case Phase::kDiscarding:
      if (is_too_slow(now, std::min(limits.rate_window, limits.idle_max))) {
        close_because(ConnectionEnd::kSlowBody);
      }
      return;
    case Phase::kAnswering:
      if (is_too_slow(now, limits.idle_max)) close_because(ConnectionEnd::kSlowReader);
      return;
    case Phase::kStreaming:
      // Between two events nothing is to be read.
      if (unsent_bytes() == 0) {
        window_begin_ = now;
        moved_bytes_ = 0;
      } else if (is_too_slow(now, limits.idle_max)) {
        close_because(ConnectionEnd::kSlowReader);
      }
      return;
    case Phase::kLingering:
      if (now >= phase_begin_ + kLinger) close();
      return;
    case Phase::kWorking:
    case Phase::kClosed:
      return;
  }
}

void Session::hurry(bool is_grace_over) {
  switch (phase_) {
    case Phase::kHandshake:
    case Phase::kIdle:
    case Phase::kHead:
    case Phase::kStreaming:
    case Phase::kLingering:
      close();
      return;
    case Phase::kBody:
    case Phase::kDiscarding:
    case Phase::kAnswering:
      if (is_grace_over) close();
      return;
    case Phase::kWorking:
    case Phase::kClosed:
      return;
  }
}

}  // namespace pennyweight::server
