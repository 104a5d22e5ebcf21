// StreamWriter: puts the pieces of a long answer onto the wire: compressed if the client takes it,
// in chunks (RFC 9112, section 7.1), and gathered, so that a table of a million rows does not
// become a million writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/exchange.h"
#include "server/gzip.h"

namespace pennyweight::server {

struct StreamWriterOptions {
  bool chunked = true;  // false: the end of the connection ends the answer (HTTP/1.0)
  bool gzip = false;
  bool gathers = true;  // false: each piece goes out at once
};

class StreamWriter {
 public:
  StreamWriter(Exchange& exchange, const StreamWriterOptions& options);

  // False: the client is gone, or the server stops. An empty piece sends what was gathered.
  bool write(std::string_view piece);
  // Sends the rest and the end. False: the same.
  bool finish();

 private:
  bool send();

  static constexpr std::size_t kGatheredBytes = 32u << 10;

  Exchange& exchange_;
  const StreamWriterOptions options_;
  std::optional<GzipWriter> gzip_;
  std::string gathered_;
};

}  // namespace pennyweight::server
