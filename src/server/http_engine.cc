#include "server/http_engine.h"

namespace pennyweight::server {

bool HttpEngine::process(Connection& connection,
                         const std::function<void(httplib::Request&)>& prepare) {
  bool is_closed = false;
  return process_request(connection, false, is_closed, prepare) && !is_closed;
}

}  // namespace pennyweight::server
