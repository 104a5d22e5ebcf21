#include "app/verb.h"

#include <fmt/format.h>

#include <utility>

#include "app/examples.h"

namespace pennyweight {

std::string examples_of(std::string_view verb) {
  return "Examples:\n" + examples_section(embedded::cli_examples(), verb);
}

std::unexpected<Error> wrong_usage(std::string message) {
  return fail(ErrorCode::kConfig, std::move(message));
}

std::unexpected<Error> as_usage(Error error) {
  if (error.code == ErrorCode::kBadValue) error.code = ErrorCode::kConfig;
  return std::unexpected(std::move(error));
}

}  // namespace pennyweight
