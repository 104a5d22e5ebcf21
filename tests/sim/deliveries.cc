#include "deliveries.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "core/try.h"
#include "testing/generate/random.h"

namespace pennyweight::sim {
namespace {

Delivery named(const std::string& name) {
  return {.name = name,
          .charges = {},
          .holdings = {},
          .nodes = {},
          .gpus = {},
          .outages = {},
          .usages = {},
          .corrections = {}};
}

template <class Fact>
void shuffle(std::vector<Fact>& facts, Random& random) {
  for (std::size_t i = facts.size(); i > 1; --i) {
    std::swap(facts[i - 1], facts[random.between(0, i - 1)]);
  }
}

// Repeats some rows anywhere in the file.
template <class Fact>
void repeat_some(std::vector<Fact>& facts, Random& random) {
  const std::size_t count = facts.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (random.between(0, 4) == 0) facts.push_back(Fact(facts[i]));
  }
  shuffle(facts, random);
}

Result<void> append_all(ImportSession& session, const Delivery& delivery, bool all) {
  const auto part = [&](const auto& facts) {
    return std::span(facts).first(all ? facts.size() : facts.size() / 2);
  };
  Result<void> done = session.append_nodes(part(delivery.nodes));
  if (done) done = session.append_charges(part(delivery.charges));
  if (done) done = session.append_holdings(part(delivery.holdings));
  if (done) done = session.append_gpus(part(delivery.gpus));
  if (done) done = session.append_usages(part(delivery.usages));
  if (done) done = session.append_outages(part(delivery.outages));
  if (done) done = session.append_corrections(part(delivery.corrections));
  return done;
}

ImportSource source_of(const Delivery& delivery) {
  return {.format = "sim",
          .name = delivery.name,
          .file_hash = hash_of(delivery.name),
          .at = *parse_instant("2025-04-01T09:00:00Z")};
}

// The same things with other content, as from a source that changed its mind. They must not change
// the ledger.
Delivery restatements(const World& world, Random& random) {
  Delivery late = named("restated");
  for (const Node& node : world.nodes) {
    if (random.between(0, 3) > 0) continue;
    late.nodes.push_back(node);
    late.nodes.back().gpu_count += 1;
  }
  for (const Holding& holding : world.holdings) {
    if (random.between(0, 5) > 0) continue;
    late.holdings.push_back(holding);
    late.holdings.back().cpu_milli = holding.cpu_milli.value_or(0) + 1;
  }
  for (const BillLine& line : world.bill) {
    const auto same_thing = [&](const BillLine& other) {
      return natural_key(other.charge) == natural_key(line.charge);
    };
    const auto count = std::count_if(world.bill.begin(), world.bill.end(), same_thing);
    if (random.between(0, 9) > 0 || count > 1) continue;
    late.charges.push_back(line.charge);
    late.charges.back().costs.billed += Money::from_units(1, line.charge.costs.currency());
  }
  late.restated = late.nodes.size() + late.holdings.size() + late.charges.size();
  return late;
}

}  // namespace

std::vector<Delivery> ordered_deliveries(const World& world) {
  std::vector<Delivery> all = {named("nodes"), named("gpus")};
  all[0].nodes = world.nodes;
  all[0].outages = world.outages;
  all[1].gpus = world.gpus;
  all[1].corrections = world.corrections;

  Random random(world.seed, "deliveries");
  std::vector<Delivery> jobs = {named("jobs 1"), named("jobs 2"), named("jobs 3")};
  for (const Holding& holding : world.holdings) {
    const std::size_t last = random.between(0, 2);
    jobs[last].holdings.push_back(holding);
    for (std::size_t earlier = 0; earlier < last; ++earlier) {
      const std::uint64_t length = holding.held.length_ms();
      if (length < 4 || random.between(0, 2) > 0) continue;
      Holding running = holding;
      running.ended = false;
      running.held = {holding.held.begin(),
                      holding.held.begin() + std::chrono::milliseconds(length / (3 - earlier))};
      if (running.held == holding.held) continue;
      running.id = FactId{natural_key(running)};
      jobs[earlier].holdings.push_back(running);
    }
  }
  std::move(jobs.begin(), jobs.end(), std::back_inserter(all));

  std::vector<Delivery> bills = {named("bill 1"), named("bill 2"), named("bill 3")};
  for (const BillLine& line : world.bill) bills[line.file].charges.push_back(line.charge);
  std::move(bills.begin(), bills.end(), std::back_inserter(all));

  std::vector<Delivery> samples = {named("samples 1"), named("samples 2")};
  for (std::size_t i = 0; i < world.usages.size(); ++i) {
    samples[i * 2 / world.usages.size()].usages.push_back(world.usages[i]);
  }
  std::move(samples.begin(), samples.end(), std::back_inserter(all));
  return all;
}

std::vector<Delivery> disturbed_deliveries(const World& world, std::uint64_t seed) {
  Random random(seed, "disturbed");
  std::vector<Delivery> all = ordered_deliveries(world);
  for (Delivery& delivery : all) {
    shuffle(delivery.charges, random);  // twice in one file would be two charges
    repeat_some(delivery.holdings, random);
    repeat_some(delivery.nodes, random);
    repeat_some(delivery.gpus, random);
    repeat_some(delivery.outages, random);
    repeat_some(delivery.usages, random);
    repeat_some(delivery.corrections, random);
  }
  const std::size_t files = all.size();
  for (std::size_t i = 0; i < files; ++i) {
    if (random.between(0, 3) == 0) all.push_back(Delivery(all[i]));
  }
  shuffle(all, random);
  all.push_back(restatements(world, random));
  return all;
}

Result<ImportOutcome> import(Store& store, const Delivery& delivery) {
  auto session = TRY(store.begin_import(source_of(delivery)));
  TRY(append_all(*session, delivery, true));
  return session->commit();
}

Result<void> import_and_fail(Store& store, const Delivery& delivery) {
  auto session = TRY(store.begin_import(source_of(delivery)));
  return append_all(*session, delivery, false);
}

}  // namespace pennyweight::sim
