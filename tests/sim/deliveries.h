// How the facts of a world reach a ledger: file by file in good order, and with everything that
// goes wrong on the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "world.h"

namespace pennyweight::sim {

// What one import contains.
struct Delivery {
  std::string name;
  std::vector<Charge> charges;
  std::vector<Holding> holdings;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<Usage> usages;
  std::vector<Correction> corrections;
  // How many of its rows contradict what was delivered before.
  std::uint64_t restated = 0;
};

// Each file once, in good order. Jobs that still ran when a file was written appear in it as
// running, and in a later one as ended.
std::vector<Delivery> ordered_deliveries(const World& world);

// The same facts late, in another order, repeated, and shuffled within their files, followed by
// rows that contradict what was delivered. The ledger must come out the same.
std::vector<Delivery> disturbed_deliveries(const World& world, std::uint64_t seed);

Result<ImportOutcome> import(Store& store, const Delivery& delivery);

// Begins the import, appends a part of it and drops it without a commit, as after an error.
Result<void> import_and_fail(Store& store, const Delivery& delivery);

}  // namespace pennyweight::sim
