// Any bytes at all: the reader gives an object or a reason, and what a state makes of the object is
// in order.
#include <cstdint>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"
#include "ingest/schedulers/kubernetes/object_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  using namespace pennyweight::kubernetes;
  ObjectReader reader;
  const auto object = reader.read({reinterpret_cast<const char*>(data), size});
  if (!object) {
    CHECK(!object.error().message.empty(), "a refusal says why");
    return 0;
  }
  CHECK(!object_meta(*object).uid.empty(), "an object has a uid");
  const Instant now = from_unix_seconds(1'800'000'000);
  ClusterState state({.cluster = ClusterId("c"),
                      .labels = {},
                      .wait_for = {},
                      .gpu_nodes_only = false,
                      .known = {}});
  state.apply(*object, now - std::chrono::minutes(2));
  for (int minute = 1; minute <= 2; ++minute) {
    const Facts facts = state.facts(now + std::chrono::minutes(minute));
    for (const Holding& holding : facts.holdings) {
      CHECK(!holding.attempt.empty(), "a holding is of a pod");
      CHECK(parse_device(to_text(holding.device)) == holding.device, "a device parses back");
      CHECK(parse_placement(to_text(holding.placement)) == holding.placement, "so does its place");
      for (const auto& [key, value] : holding.labels.entries()) {
        CHECK(is_plain_text(key) && is_plain_text(value), "what is kept is UTF-8");
      }
    }
    CHECK(minute == 1 || facts.nodes.empty(), "a node is stated once");
  }
  state.apply_deleted(*object, now + std::chrono::minutes(3));
  for (const Holding& holding : state.facts(now + std::chrono::minutes(4)).holdings) {
    CHECK(holding.ended, "what is deleted has ended");
  }
  CHECK(state.counts().pods == 0, "and is forgotten");
  return 0;
}
