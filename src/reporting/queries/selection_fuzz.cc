// Filters and dimensions of anybody's words: refused with a reason, or a filter that a query takes.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "config/config.h"
#include "core/check.h"
#include "reporting/queries/selection.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  static const Policy kPolicy = default_config().policy;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filters = parse_filter(text, kPolicy);
  if (filters) {
    CHECK(!filters->empty(), "a filter filters");
    for (const SummaryFilter& filter : *filters) {
      CHECK(parse_dimensions({filter.dimension}, kPolicy).has_value(), "by a dimension there is");
      CHECK(!filter.values.empty(), "of some value");
    }
    CHECK(filters->size() == 1 || !filters->front().negate, "a kind stands for itself only");
  } else {
    CHECK(filters.error().code == ErrorCode::kBadValue && !filters.error().message.empty(),
          "it is said why not");
  }
  const auto dimensions = parse_dimensions({std::string(text)}, kPolicy);
  if (dimensions) {
    auto sorted = *dimensions;
    std::ranges::sort(sorted);
    CHECK(std::ranges::adjacent_find(sorted) == sorted.end(), "each once");
  }
  return 0;
}
