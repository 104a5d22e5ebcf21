// LineFeeder: cuts bytes that come in chunks of any length into numbered lines.
//
// A byte order mark is no part of the first line. A line that is longer than any record may be is
// not kept: its beginning is given, and that it was too long, so that a file of one endless line
// takes no memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace pennyweight {

struct FedLine {
  std::string_view text;  // without its end; of one that is too long, the beginning
  std::uint64_t number;   // from 1
  bool is_too_long;
};

class LineFeeder {
 public:
  using Take = std::function<Result<void>(const FedLine& line)>;

  // `take` gets every line that is not empty. Its first Error is returned, and nothing may be fed
  // after that.
  explicit LineFeeder(Take take) : take_(std::move(take)) {}

  Result<void> feed(std::string_view chunk);
  Result<void> finish();  // gives the last line, if no line end follows it

 private:
  Result<void> end_line();

  const Take take_;
  std::string line_;
  bool is_too_long_ = false;
  std::uint64_t number_ = 1;
};

}  // namespace pennyweight
