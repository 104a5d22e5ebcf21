// Exchange: one request and its answer, between the network thread and the worker that answers it.
//
// The network thread makes it when the head of a request is whole. From then on one other thread at
// a time decides: it asks for the body, or answers. An exchange that is dropped without an answer
// ends its connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/head_scanner.h"
#include "server/message_parser.h"

namespace pennyweight::server {

// An answer as it goes onto the wire.
struct WireAnswer {
  int status = 200;
  std::string fields = {};  // "Name: value\r\n", but for those about the connection
  std::string body = {};
  std::string_view constant_body = {};  // instead of `body`: bytes that live as long as the program
  bool closes = false;                  // the connection takes no further request
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // The rest of the request is read, up to this many bytes; then the connection loop calls
  // body_arrived(). REQUIRES: the request has a body that was not asked for before.
  virtual void read_body(std::uint64_t bytes_max) = 0;
  // Sends the answer. What was not read of a body is discarded.
  virtual void answer(WireAnswer answer) = 0;

  // Sends the head of an answer that comes in pieces. `is_until_cut`: events, which end when the
  // client goes; an end of its sending alone ends no other answer.
  virtual void begin_stream(WireAnswer head, bool is_until_cut) = 0;
  // Waits until there is room for a piece. False: the client is gone or too slow, or the loop
  // closes. An empty piece only checks.
  virtual bool write(std::string_view piece) = 0;
  // Ends the answer; one that is not whole is cut off, so that the client notices.
  virtual void end_stream(bool is_whole) = 0;

  // All of these are set when the exchange is made and do not change, but for `body`, which is set
  // before body_arrived().
  RequestHead head = {};
  Framing framing = {};
  std::string peer = {};  // the connection's address
  bool is_secure = false;
  std::string body = {};
  // The server's own notes about this request. They must not hold the exchange.
  std::shared_ptr<void> notes = {};
};
using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace pennyweight::server
