#include "app/cli/verb.h"

#include "app/cli/examples.h"

namespace pennyweight {

std::string examples_footer(std::string_view verb) {
  return "Examples:\n" + examples_section(embedded::cli_examples(), verb);
}

}  // namespace pennyweight
