#include "app/import/capture_time.h"

#include <fmt/format.h>

namespace pennyweight {

Result<std::optional<Instant>> capture_time(const ParserInput& input) {
  if (input.options.at) return input.options.at;
  if (input.options.from) return input.options.from;
  if (input.changed && *input.changed > input.now) {
    return fail(ErrorCode::kConfig,
                fmt::format("the file was last changed in the future, at {}; say with --at when it "
                            "was captured",
                            to_text(*input.changed)));
  }
  return input.changed;
}

void remark_capture_time(const ParserInput& input, std::optional<Instant> at) {
  if (input.options.at || input.options.from || !at) return;
  input.remarks.push_back(
      fmt::format("it does not say when it was captured; taken to be of {}, when the file was last "
                  "changed; --at says another time",
                  to_text(*at)));
}

}  // namespace pennyweight
