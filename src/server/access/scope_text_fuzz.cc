// Any text is refused, or is a scope that survives writing and parsing.
#include <cstdint>

#include "core/check.h"
#include "server/access/scope_text.h"

namespace {

using Scope = std::vector<pennyweight::SummaryFilter>;

bool same(const Scope& a, const Scope& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].dimension != b[i].dimension || a[i].values != b[i].values ||
        a[i].negate != b[i].negate) {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scope = access::parse_scope(text);
  if (!scope) return 0;
  CHECK(access::check_scope(*scope).has_value(), "a parsed scope is valid");
  CHECK(!scope->empty() || text == "everything", "nobody sees everything by mistake");
  const std::string written = access::format_scope(*scope);
  const auto again = access::parse_scope(written);
  CHECK(again.has_value() && same(*scope, *again), "a written scope is parsed as the same");
  CHECK(access::format_scope(*again) == written, "there is one way to write it");
  return 0;
}
