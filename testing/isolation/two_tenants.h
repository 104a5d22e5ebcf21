// Two tenants in one random ledger: the asker, whom a scope describes, and others. A second ledger
// differs in what the others did, and in nothing that the asker did or caused.
//
// Every node has room for all that is placed on it, since a node that is promised twice is divided
// by what each asks for: that is a rule, and then others matter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "ledger/usage.h"

namespace pennyweight::isolation {

struct Facts {
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Usage> usages;
  std::vector<Charge> charges;
};

struct TwoLedgers {
  std::vector<SummaryFilter> scope;  // of the asker
  Facts one, other;
  // What each is: for the message about a difference.
  std::vector<std::string> changes;
};

inline constexpr const char* kMonths[] = {"2026-02", "2026-03"};

TwoLedgers make_two_ledgers(std::uint64_t seed);

// The facts, imported and allocated.
std::unique_ptr<Store> make_ledger(const Facts& facts);

}  // namespace pennyweight::isolation
