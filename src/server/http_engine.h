// HttpEngine: cpp-httplib's server, made to process one request of a connection that we accepted.
//
// ConnectionLoop accepts connections and owns the threads, but the library offers no public way to
// process a request on a stream of ours. So this class uses two protected members of
// httplib::Server, and is the only place in the program that touches protected ones:
//   svr_sock_          the listening socket, which bind_to_port() and bind_to_any_port() open
//   process_request()  reads one request from a stream, routes it and writes the answer
// To replace the library, start here; Connection only implements the public httplib::Stream.
#pragma once

#include <httplib.h>

#include <functional>

#include "server/connection.h"

namespace pennyweight::server {

class HttpEngine : public httplib::Server {
 public:
  // The listening socket; -1 before a bind has succeeded.
  int listening_socket() const { return svr_sock_; }

  // Processes the next request of a connection: calls `prepare` with its line and headers, then
  // routes and answers it. Returns whether the connection can take another request.
  bool process(Connection& connection, const std::function<void(httplib::Request&)>& prepare);
};

}  // namespace pennyweight::server
