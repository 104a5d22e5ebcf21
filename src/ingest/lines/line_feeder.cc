#include "ingest/lines/line_feeder.h"

#include <algorithm>

#include "core/limits.h"
#include "core/text_lines.h"
#include "core/try.h"

namespace pennyweight {

Result<void> LineFeeder::feed(std::string_view chunk) {
  while (!chunk.empty()) {
    const std::size_t end = chunk.find('\n');
    const std::string_view part = chunk.substr(0, end);
    if (!is_too_long_ && line_.size() + part.size() > limits::kRowBytesMax) {
      line_.append(part.substr(0, limits::kRejectedTextBytesMax));
      line_.resize(std::min(line_.size(), limits::kRejectedTextBytesMax));
      is_too_long_ = true;
    } else if (!is_too_long_) {
      line_.append(part);
    }
    if (end == std::string_view::npos) return {};
    chunk.remove_prefix(end + 1);
    TRY(end_line());
  }
  return {};
}

Result<void> LineFeeder::finish() { return line_.empty() ? Result<void>() : end_line(); }

Result<void> LineFeeder::end_line() {
  std::string_view line = line_;
  if (number_ == 1) line = without_byte_order_mark(line);
  if (line.ends_with('\r')) line.remove_suffix(1);
  Result<void> done;
  if (!line.empty()) done = take_({.text = line, .number = number_, .is_too_long = is_too_long_});
  line_.clear();
  is_too_long_ = false;
  ++number_;
  return done;
}

}  // namespace pennyweight
