#include "app/verb.h"

#include <fmt/format.h>

#include "app/examples.h"

namespace pennyweight {

std::string examples_of(std::string_view verb) {
  return "Examples:\n" + examples_section(embedded::cli_examples(), verb);
}

std::unexpected<Error> wrong_usage(std::string message) {
  return fail(ErrorCode::kConfig, std::move(message));
}

}  // namespace pennyweight
