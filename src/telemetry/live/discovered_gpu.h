// DiscoveredGpu: what the series of a GPU say about it: node, index, model, memory and MIG
// instances.
//
// A fact `Gpu` is written once a GPU was observed for two buckets, so that its layout is complete,
// and again, from a later instant on, when layout, node, index or model change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ledger/node.h"
#include "telemetry/live/codec.h"

namespace pennyweight::live {

class DiscoveredGpu {
 public:
  // What its series say now, and since when (`since_ms`).
  struct GpuDescription {
    NodeId node;
    std::int32_t index;
    std::string model;
    std::int64_t since_ms;
  };
  void describe(GpuDescription describe);
  void observe_samples(std::int64_t first_ms, std::int64_t newest_ms);
  void observe_memory(std::uint64_t bytes) { memory_bytes_ = bytes; }
  // Series of a MIG instance were observed from `first_ms` to `newest_ms`. An instance that was
  // gone and comes back is new.
  void observe_instance(const std::string& id, const std::string& profile, std::int64_t first_ms,
                        std::int64_t newest_ms);

  // The fact that is to be written now; nothing where none is due.
  std::optional<Gpu> next_fact(const ClusterId& cluster, const GpuId& uuid,
                               std::int64_t resolution_ms);

  void save(ByteWriter& writer) const;
  bool load(ByteReader& reader);

 private:
  struct Instance {
    std::string profile;
    std::int64_t first_ms = 0;
    std::int64_t newest_ms = 0;
    bool is_gone = false;
  };
  struct WrittenFact {
    std::string node;
    std::uint32_t index = 0;
    std::string model;
    std::optional<std::uint64_t> memory_bytes;
    std::map<std::string, std::string> instances;
    std::int64_t from_ms = 0;
  };

  GpuDescription description_{NodeId(""), -1, "", 0};
  std::int64_t first_ms_ = -1;
  std::int64_t newest_ms_ = -1;
  std::optional<std::uint64_t> memory_bytes_;
  std::map<std::string, Instance> instances_;
  std::optional<WrittenFact> written_;
};

}  // namespace pennyweight::live
