#include "server/stream_writer.h"

#include <fmt/format.h>

namespace pennyweight::server {

StreamWriter::StreamWriter(Exchange& exchange, const StreamWriterOptions& options)
    : exchange_(exchange), options_(options) {
  if (options_.gzip) gzip_.emplace();
}

bool StreamWriter::write(std::string_view piece) {
  if (piece.empty()) {
    if (gzip_) gzip_->flush(gathered_);
    return send() && exchange_.write({});
  }
  if (gzip_) {
    gzip_->add(piece, gathered_);
  } else {
    gathered_ += piece;
  }
  return (options_.gathers && gathered_.size() < kGatheredBytes) || send();
}

bool StreamWriter::finish() {
  if (gzip_) gzip_->finish(gathered_);
  if (!send()) return false;
  return !options_.chunked || exchange_.write("0\r\n\r\n");
}

bool StreamWriter::send() {
  if (gathered_.empty()) return true;
  bool is_sent = true;
  if (options_.chunked) {
    std::string chunk = fmt::format("{:x}\r\n", gathered_.size());
    chunk += gathered_;
    chunk += "\r\n";
    is_sent = exchange_.write(chunk);
  } else {
    is_sent = exchange_.write(gathered_);
  }
  gathered_.clear();
  return is_sent;
}

}  // namespace pennyweight::server
