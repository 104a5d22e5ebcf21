// price: creates charges for what no provider bills: owned hardware, and estimates for nodes
// without a bill.
//
// Each pricing run replaces the month's earlier one: a charge that it no longer has is retired. So
// pricing a month twice changes nothing, and a node whose bill has come loses its estimate.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/pricing/owned.h"
#include "allocation/pricing/rate_card.h"
#include "app/audit_events/audit_events.h"
#include "app/cli/verb.h"
#include "app/context/price_files.h"
#include "app/run/price_month.h"
#include "core/try.h"
#include "ingest/bills/rated/owned_charges.h"
#include "reporting/minor_unit.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

struct PriceArguments {
  std::string month;
  std::string owned;
  std::string energy;
  std::string rate_card;
  std::string organisation;
  std::string reason;
};

Result<PriceInputs> read_inputs(const PriceArguments& arguments) {
  PriceInputs inputs;
  const auto read = [](const std::string& path, auto load, auto& into) -> Result<void> {
    if (path.empty()) return {};
    auto loaded = TRY(load(path));
    into = std::move(loaded);
    return {};
  };
  Result<void> ok = read(arguments.owned, load_owned_assets, inputs.assets);
  if (ok) ok = read(arguments.energy, load_energy, inputs.energy);
  if (ok) ok = read(arguments.rate_card, load_rate_card, inputs.card);
  if (!ok) return std::unexpected(ok.error());
  return inputs;
}

PricingRequest to_pricing_request(const PriceArguments& arguments) {
  std::string name = arguments.owned;
  for (const std::string& file : {arguments.energy, arguments.rate_card}) {
    if (!file.empty()) name += (name.empty() ? "" : ", ") + file;
  }
  return {.name = std::move(name),
          .reason = arguments.reason,
          .organisation = arguments.organisation,
          .owned = !arguments.owned.empty(),
          .estimates = !arguments.rate_card.empty()};
}

std::string describe_pricing(const std::vector<Charge>& charges, const ImportOutcome& outcome,
                             const std::string& month) {
  const auto number = [](std::uint64_t count) {
    return format_count(count, Thousands::kSeparated);
  };
  std::map<std::pair<std::string, Currency>, Money> sums;  // by account
  for (const Charge& charge : charges) {
    const Money cost = charge.costs.effective;
    const auto [at, is_new] = sums.try_emplace({charge.billing_account_id, cost.currency()}, cost);
    if (!is_new) at->second += cost;
  }
  std::string text =
      fmt::format("{}  {} lines: {} new, {} already there", month, number(charges.size()),
                  number(outcome.charges.created), number(outcome.charges.existing));
  if (outcome.restated.removed > 0) {
    text += fmt::format(", {} retired", number(outcome.restated.removed));
  }
  if (outcome.restated.reversed > 0) {
    text += fmt::format(", {} of a closed month reversed", number(outcome.restated.reversed));
  }
  text += '\n';
  for (const auto& [key, sum] : sums) {
    text += fmt::format("  {}  {} {}\n", key.first, format_minor(sum), key.second.text());
  }
  return text;
}

// The files of the command line, or else the configured ones. Configured energy belongs to the
// configured machines.
PriceArguments completed(PriceArguments arguments, const Config& config) {
  if (arguments.owned.empty() && arguments.rate_card.empty()) {
    arguments.owned = config.owned_file;
    arguments.rate_card = config.rate_card_file;
  }
  if (arguments.energy.empty() && arguments.owned == config.owned_file) {
    arguments.energy = config.energy_file;
  }
  if (arguments.organisation.empty()) arguments.organisation = config.organisation;
  return arguments;
}

Result<ExitCode> run(const PriceArguments& given, Context& context) {
  const PriceArguments arguments = completed(given, context.config);
  if (arguments.owned.empty() && arguments.rate_card.empty()) {
    return usage_error(
        "price: use --owned, --rate-card or both, or set prices.owned or prices.rate_card in the "
        "configuration");
  }
  if (!arguments.energy.empty() && arguments.owned.empty()) {
    return usage_error("price: --energy needs --owned, the file of the machines that it measures");
  }
  const Instant now = context.clock.now();
  const auto month = rated::priced_month(arguments.month, now);
  if (!month) return usage_error(fmt::format("--month: {}", month.error().message));
  const auto inputs = TRY(read_inputs(arguments));
  const auto store = TRY(create_ledger(context.config));
  const PricingRequest order = to_pricing_request(arguments);
  const auto lines = TRY(price_charges(*store, inputs, order, *month, context.config.join_rules));
  for (const std::string& note : lines.notes) context.console.warn(note);
  if (lines.charges.empty()) {
    context.console.print(fmt::format("{}  nothing to price\n", arguments.month));
    return ExitCode::kDone;
  }
  const auto outcome = TRY(with_intent(
      context, "price", "month " + arguments.month,
      JsonObjectBuilder().text("name", order.name).json(), [&]() -> Result<ImportOutcome> {
        auto stored = TRY(store_priced_charges(*store, lines.charges, order, now));
        TRY(record_pricing(context, arguments.month, order.name, stored));
        return stored;
      }));
  context.console.print(describe_pricing(lines.charges, outcome, arguments.month));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_price(CLI::App& app) {
  const auto options = std::make_shared<PriceArguments>();
  CLI::App* command = app.add_subcommand(
      "price", "Price what no provider bills: owned hardware, nodes without a bill");
  command->add_option("--month", options->month, "The billing month, such as 2026-03, in UTC")
      ->required();
  command->add_option("--owned", options->owned,
                      "Owned machines: purchase, life, power, colocation; default: prices.owned");
  command->add_option("--energy", options->energy, "Their measured energy, by node and day");
  command->add_option("--rate-card", options->rate_card,
                      "Prices of instance types and GPUs, for nodes without a bill; default: "
                      "prices.rate_card");
  command->add_option("--organisation", options->organisation,
                      "The provider that the lines name; default: prices.organisation");
  command->add_option("--reason", options->reason, "Why the month is priced again, for the record");
  command->footer(examples_footer("price"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
