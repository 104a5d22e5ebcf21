// ShareSpool: sorts the shares of a month by charge, on disk.
//
// Shares come scope by scope, but charges by id over all scopes. A DuckDB instance sorts the shares
// and spills to `temp_directory`, so memory use does not depend on the size of the month.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "reporting/export/share.h"

namespace pennyweight {

class ShareSpool {
 public:
  static Result<ShareSpool> create(const std::string& temp_directory);
  ShareSpool(ShareSpool&&) noexcept;
  ShareSpool& operator=(ShareSpool&&) noexcept;
  ~ShareSpool();

  Result<void> append(const ChargeShare& share);
  // After the last append(); next() follows.
  Result<void> sort();
  // All shares of the next charge or transfer: by scope, then owner, unowned first. Empty at the
  // end.
  Result<std::vector<ChargeShare>> next();

 private:
  struct State;
  explicit ShareSpool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight
