// Scenarios in one line: "nodes=-20;spot=2%;price=35%", for links and the API.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/plain_text.h"
#include "insight/what_if/option_reader.h"

namespace pennyweight::what_if {

std::string scenario_line(const ScenarioTexts& texts) {
  const ScenarioTexts plain;
  std::string line;
  const auto add = [&](std::string_view key, std::string_view value) {
    line += fmt::format("{}{}={}", line.empty() ? "" : ";", key, value);
  };
  const auto add_text = [&](std::string_view key, const std::string& value,
                            const std::string& usual) {
    if (value != usual) add(key, value);
  };
  const auto add_number = [&](std::string_view key, std::optional<std::uint64_t> value,
                              std::optional<std::uint64_t> usual) {
    if (value && value != usual) add(key, std::to_string(*value));
  };
  add_text("scheduler", texts.order, plain.order);
  add_text("blocked", texts.blocked, plain.blocked);
  add_text("placement", texts.placement, plain.placement);
  if (texts.preempts) line += line.empty() ? "preempt" : ";preempt";
  add_number("restart", texts.restart_s, {});
  add_number("depth", texts.depth, {});
  add_number("seed", texts.seed, plain.seed);
  for (const auto& [key, values] :
       {std::pair{"weight", &texts.weights}, std::pair{"nodes", &texts.nodes},
        std::pair{"demand", &texts.demand}, std::pair{"price", &texts.prices},
        std::pair{"slice", &texts.slices}, std::pair{"mig-nodes", &texts.mig_nodes},
        std::pair{"quota", &texts.quotas}, std::pair{"off-peak", &texts.windows},
        std::pair{"outage", &texts.outages}, std::pair{"new-team", &texts.new_teams},
        std::pair{"repeat", &texts.repeated}, std::pair{"autoscale", &texts.autoscaled},
        std::pair{"slo", &texts.slos}, std::pair{"power", &texts.power},
        std::pair{"commitment-end", &texts.commitments},
        std::pair{"list-price", &texts.list_prices}, std::pair{"replace-model", &texts.models},
        std::pair{"bound", &texts.bounds}, std::pair{"commitment-buy", &texts.purchases}}) {
    for (const std::string& value : *values) add(key, value);
  }
  if (texts.any_model) line += line.empty() ? "any-model" : ";any-model";
  if (texts.fitted) line += line.empty() ? "fitted" : ";fitted";
  add_text("lengths", texts.lengths, plain.lengths);
  add_text("spot", texts.spot, "");
  add_text("spot-trace", texts.spot_trace, "");
  add_text("policy", texts.policy, "");
  add_number("replaced-after", texts.replaced_min, {});
  add_number("checkpoint", texts.checkpoint_min, {});
  add_number("guard", texts.guard_min, {});
  add_number("same-rack", texts.same_rack, {});
  add_text("spill-over", texts.spill_over, "");
  add_number("seeds", texts.seeds, plain.seeds);
  add_number("demand-range", texts.demand_range, plain.demand_range);
  add_number("fewest-nodes", texts.fewest_nodes, {});
  add_text("fewest-model", texts.fewest_model, "");
  add_number("cheapest-tiers", texts.cheapest_tiers, {});
  add_text("tier-model", texts.tier_model, "");
  add_text("committed", texts.committed, "");
  add_text("spot-tier", texts.spot_tier, "");
  add_number("tier-kept", texts.tier_kept_min, {});
  add_number("best-mig", texts.best_mig, {});
  add_text("mig-model", texts.mig_model, "");
  add_number("tries", texts.tries, {});
  return line;
}

Result<ScenarioTexts> parse_scenario_line(std::string_view line) {
  if (line.size() > kScenarioBytesMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("a scenario has at most {} bytes, and this one {}", kScenarioBytesMax,
                            line.size()));
  }
  if (!is_plain_text(line)) return fail(ErrorCode::kBadValue, "a scenario is a text in UTF-8");
  ScenarioTexts texts;
  texts.dashes = "";
  const std::map<std::string_view, std::string*> once = {{"scheduler", &texts.order},
                                                         {"blocked", &texts.blocked},
                                                         {"placement", &texts.placement},
                                                         {"lengths", &texts.lengths},
                                                         {"spot", &texts.spot},
                                                         {"spill-over", &texts.spill_over},
                                                         {"fewest-model", &texts.fewest_model},
                                                         {"tier-model", &texts.tier_model},
                                                         {"committed", &texts.committed},
                                                         {"spot-tier", &texts.spot_tier},
                                                         {"mig-model", &texts.mig_model}};
  const std::map<std::string_view, std::vector<std::string>*> many = {
      {"weight", &texts.weights},
      {"nodes", &texts.nodes},
      {"demand", &texts.demand},
      {"price", &texts.prices},
      {"mig-nodes", &texts.mig_nodes},
      {"slice", &texts.slices},
      {"quota", &texts.quotas},
      {"off-peak", &texts.windows},
      {"outage", &texts.outages},
      {"new-team", &texts.new_teams},
      {"repeat", &texts.repeated},
      {"autoscale", &texts.autoscaled},
      {"slo", &texts.slos},
      {"power", &texts.power},
      {"commitment-end", &texts.commitments},
      {"list-price", &texts.list_prices},
      {"replace-model", &texts.models},
      {"bound", &texts.bounds},
      {"commitment-buy", &texts.purchases},
  };
  const std::map<std::string_view, std::function<void(std::uint32_t)>> numbers = {
      {"restart", [&](std::uint32_t number) { texts.restart_s = number; }},
      {"depth", [&](std::uint32_t number) { texts.depth = number; }},
      {"seed", [&](std::uint32_t number) { texts.seed = number; }},
      {"replaced-after", [&](std::uint32_t number) { texts.replaced_min = number; }},
      {"checkpoint", [&](std::uint32_t number) { texts.checkpoint_min = number; }},
      {"guard", [&](std::uint32_t number) { texts.guard_min = number; }},
      {"same-rack", [&](std::uint32_t number) { texts.same_rack = number; }},
      {"seeds", [&](std::uint32_t number) { texts.seeds = number; }},
      {"demand-range", [&](std::uint32_t number) { texts.demand_range = number; }},
      {"fewest-nodes", [&](std::uint32_t number) { texts.fewest_nodes = number; }},
      {"cheapest-tiers", [&](std::uint32_t number) { texts.cheapest_tiers = number; }},
      {"tier-kept", [&](std::uint32_t number) { texts.tier_kept_min = number; }},
      {"best-mig", [&](std::uint32_t number) { texts.best_mig = number; }},
      {"tries", [&](std::uint32_t number) { texts.tries = number; }}};
  std::set<std::string, std::less<>> seen;
  while (!line.empty()) {
    const std::size_t cut = line.find(';');
    const std::string_view part = ascii::trim(line.substr(0, cut));
    line.remove_prefix(cut == std::string_view::npos ? line.size() : cut + 1);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    const std::string value(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    const auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'{}': {}", printable_text(part, kShownBytesMax), what));
    };
    if (key == "spot-trace") {
      return wrong(
          "a trace is a file, for replay on the command line; write outage for each node "
          "that is away, or spot for a rate");
    }
    if (key == "policy") {
      return wrong("a policy is a file, for replay on the command line");
    }
    if (const auto list = many.find(key); list != many.end()) {
      if (value.empty()) return wrong("it has no value");
      list->second->push_back(value);
      continue;
    }
    if (!seen.insert(key).second) return wrong("it is there twice");
    if (key == "preempt" || key == "any-model" || key == "fitted") {
      if (equals != std::string_view::npos) return wrong("it has no value");
      (key == "preempt"     ? texts.preempts
       : key == "any-model" ? texts.any_model
                            : texts.fitted) = true;
    } else if (const auto text = once.find(key); text != once.end()) {
      if (value.empty()) return wrong("it has no value");
      *text->second = value;
    } else if (const auto number = numbers.find(key); number != numbers.end()) {
      const auto read = parse_number<std::uint32_t>(value);
      if (!read) return wrong("it is not a whole number below 4294967296");
      number->second(*read);
    } else {
      return wrong(
          "no such change; use scheduler, blocked, placement, preempt, restart, depth, seed, "
          "weight, nodes, demand, price, slice, any-model, lengths, spot, replaced-after, "
          "checkpoint, quota, off-peak, guard, outage, new-team, repeat, mig-nodes, autoscale, "
          "slo, power, "
          "same-rack, spill-over, fitted, commitment-end, list-price, replace-model, bound, "
          "commitment-buy, "
          "seeds, demand-range, fewest-nodes, fewest-model, cheapest-tiers, tier-model, committed, "
          "spot-tier, tier-kept, best-mig, mig-model or tries");
    }
  }
  return texts;
}

}  // namespace pennyweight::what_if
