// RecentPurchases: how commitments and spot nodes of this billing month and the one before are
// used, asked again and again while `serve` runs.
//
// All charges of a month are read for it while nobody else can use the ledger. So each month is
// read by itself, and not again before its charges have changed; for spot nodes, also when the
// nodes have.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/instant.h"
#include "insight/queries/commitment_use.h"
#include "insight/queries/spot_use.h"
#include "ledger/store.h"

namespace pennyweight {

class SharedLedger;

// One thread at a time uses it.
class RecentPurchases {
 public:
  // `join_rules` outlive it.
  explicit RecentPurchases(std::span<const JoinRule> join_rules) : join_rules_(join_rules) {}

  Result<std::vector<CommitmentUse>> commitments(SharedLedger& ledger, Instant now);
  // `labelled`: nodes whose labels say that they are of spot, billed or not.
  Result<std::vector<SpotUse>> spot(SharedLedger& ledger, const std::set<SpotNodeName>& labelled,
                                    Instant now);

  // The same of one month.
  Result<std::vector<CommitmentUse>> month_commitments(Store& store, const std::string& month,
                                                       Instant now);
  Result<std::set<SpotNodeName>> month_spot_nodes(Store& store, std::span<const Node> nodes,
                                                  const std::string& month, Instant now);
  // How many months were read; for tests.
  std::uint64_t months_read() const { return months_read_; }

 private:
  struct KeptCommitments {
    std::uint64_t imports = 0;  // the number of the last import that it has read
    std::vector<CommitmentUse> uses = {};
  };
  struct KeptSpotNodes {
    std::uint64_t imports = 0;
    Hash128 nodes = {};  // as they were when it was read
    std::set<SpotNodeName> names = {};
  };
  const std::span<const JoinRule> join_rules_;
  std::map<std::string, KeptCommitments> commitments_;  // by month
  std::map<std::string, KeptSpotNodes> spot_nodes_;     // by month
  std::uint64_t months_read_ = 0;
};

}  // namespace pennyweight
