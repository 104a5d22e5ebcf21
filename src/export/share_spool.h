// ShareSpool: the shares of a month, sorted by charge, however many there are.
//
// Runs give their postings scope by scope, and the bill's lines come by id over all scopes. The
// shares wait in an engine of their own that spills to `temp_directory`, and come back in one
// sorted stream, so that memory does not depend on the month.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "export/share.h"

namespace pennyweight {

class ShareSpool {
 public:
  static Result<ShareSpool> create(const std::string& temp_directory);
  ShareSpool(ShareSpool&&) noexcept;
  ShareSpool& operator=(ShareSpool&&) noexcept;
  ~ShareSpool();

  Result<void> append(const ChargeShare& share);
  // After the last one. From here on next() reads.
  Result<void> sort();
  // All shares of the next charge, or transfer: by scope, then owner, nobody's first. Empty at the
  // end.
  Result<std::vector<ChargeShare>> next();

 private:
  struct State;
  explicit ShareSpool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight
