// Card: what a GPU is, discovered from its series: node, index, model, memory, MIG instances.
//
// A fact `Gpu` is written when a card was seen for two buckets, so that its layout is whole, and
// again, from a later instant on, when the layout, the node, the index or the model became another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ledger/node.h"
#include "live/codec.h"

namespace pennyweight::live {

class Card {
 public:
  // What its series say now. `since_ms`: when that was first so.
  struct Looks {
    NodeId node;
    std::int32_t index;
    std::string model;
    std::int64_t since_ms;
  };
  void looks(Looks looks);
  void seen(std::int64_t first_ms, std::int64_t newest_ms);
  void has_memory(std::uint64_t bytes) { memory_bytes_ = bytes; }
  // Series of a MIG instance were seen from and until there. After it was gone it begins anew.
  void has_instance(const std::string& id, const std::string& profile, std::int64_t first_ms,
                    std::int64_t newest_ms);

  // A fact that is due.
  std::optional<Gpu> next(const ClusterId& cluster, const GpuId& uuid, std::int64_t resolution_ms);

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  struct Instance {
    std::string profile;
    std::int64_t first_ms = 0;
    std::int64_t newest_ms = 0;
    bool is_gone = false;
  };
  struct Told {
    std::string node;
    std::uint32_t index = 0;
    std::string model;
    std::optional<std::uint64_t> memory_bytes;
    std::map<std::string, std::string> instances;
    std::int64_t from_ms = 0;
  };

  Looks looks_{NodeId(""), -1, "", 0};
  std::int64_t first_ms_ = -1;
  std::int64_t newest_ms_ = -1;
  std::optional<std::uint64_t> memory_bytes_;
  std::map<std::string, Instance> instances_;
  std::optional<Told> told_;
};

}  // namespace pennyweight::live
