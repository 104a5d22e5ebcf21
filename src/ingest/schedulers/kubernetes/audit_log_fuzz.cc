// Any bytes as an audit log: the same facts however they are cut, each in order, and nothing held
// after the last event.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/kubernetes/audit_log.h"

namespace pennyweight::kubernetes {
namespace {

std::string facts_of_log(std::string_view text, std::size_t piece) {
  const Instant now = from_unix_seconds(1'800'000'000);
  std::string all;
  AuditLog log({.file = "f",
                .cluster = ClusterId("c"),
                .now = now,
                .known = {},
                .give = [&](const Facts& facts) -> Result<void> {
                  for (const Holding& one : facts.holdings) {
                    CHECK(one.ended || one.held.end() <= now, "no pod runs into the future");
                    CHECK(parse_placement(to_text(one.placement)) == one.placement,
                          "a placement parses back");
                    all += one.workload.text() + to_text(one.held) + "\n";
                  }
                  for (const Node& node : facts.nodes) all += node.name.text() + "\n";
                  return {};
                },
                .rejected = [&](std::span<const RejectedRow> rows) -> Result<void> {
                  for (const RejectedRow& row : rows) {
                    CHECK(!row.reason.empty() && is_plain_text(row.text), "a refusal can be shown");
                    all += row.reason + "\n";
                  }
                  return {};
                }});
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (const auto fed = log.feed(text.substr(at, piece)); !fed) return all + fed.error().message;
  }
  const auto done = log.finish();
  return done ? all : all + done.error().message;
}

}  // namespace
}  // namespace pennyweight::kubernetes

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CHECK(
      kubernetes::facts_of_log(text, size + 1) == kubernetes::facts_of_log(text, 1 + size / 7 % 97),
      "however it is cut");
  return 0;
}
