#include "app/context/context.h"

#include <utility>

namespace pennyweight {

std::unexpected<Error> usage_error(std::string message) {
  return fail(ErrorCode::kConfig, std::move(message));
}

std::unexpected<Error> as_usage_error(Error error) {
  if (error.code == ErrorCode::kBadValue) error.code = ErrorCode::kConfig;
  return std::unexpected(std::move(error));
}

}  // namespace pennyweight
