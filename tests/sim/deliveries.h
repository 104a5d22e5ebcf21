// How the facts of a world reach a ledger: file by file, as people import them, and then with
// everything that goes wrong on the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "world.h"

namespace pennyweight::sim {

// What one import brings.
struct Delivery {
  std::string name;
  std::vector<Charge> charges;
  std::vector<Holding> holdings;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<Usage> usages;
  std::vector<Correction> corrections;
  // How many of its rows say something else about a thing that was told before.
  std::uint64_t restated = 0;
};

// Each file once, in good order. Jobs that were still running when a file was written stand in it
// as running, and in a later one as ended.
std::vector<Delivery> deliveries_of(const World& world);

// The same facts late, in another order, twice, and mixed up within their files; behind them rows
// that contradict what was delivered. The ledger must come out the same.
std::vector<Delivery> disturbed(const World& world, std::uint64_t seed);

Result<ImportOutcome> import(Store& store, const Delivery& delivery);

// Begins the import, appends a part of it and lets go without a commit, as after an error.
Result<void> import_and_fail(Store& store, const Delivery& delivery);

}  // namespace pennyweight::sim
