#include "ledger/outcome.h"

#include <fmt/format.h>

namespace pennyweight {
namespace {

Fingerprint key_of(const Outcome& outcome) {
  Fingerprint print;
  print.add("outcome").add(outcome.cluster.text()).add(outcome.workload.text());
  print.add(outcome.measure);
  for (const auto& [key, value] : outcome.labels.entries()) print.add(key).add(value);
  print.add(unix_ms(outcome.during.begin())).add(unix_ms(outcome.during.end()));
  print.add(static_cast<std::int64_t>(outcome.part));
  return print;
}

}  // namespace

Hash128 natural_key(const Outcome& outcome) { return key_of(outcome).hash(); }

Hash128 content_hash(const Outcome& outcome) {
  return key_of(outcome).add(static_cast<std::int64_t>(outcome.count)).hash();
}

std::string difference(const Outcome& there, const Outcome& here) {
  if (there.count == here.count) return "";
  return fmt::format("count {} there, {} here", there.count, here.count);
}

}  // namespace pennyweight
