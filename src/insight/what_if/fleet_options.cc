// Options about nodes: how many, at what price, and when each is there.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/gpu/gpu_model.h"
#include "core/instant.h"
#include "core/try.h"
#include "insight/what_if/option_reader.h"

namespace pennyweight::what_if {
namespace {

class FleetOptions : public OptionReader {
 public:
  using OptionReader::OptionReader;

  Result<void> read(Scenario& scenario) const {
    for (const std::string& text : texts_.nodes) scenario.fleet.push_back(TRY(read_nodes(text)));
    TRY(check_added(scenario.fleet));
    for (const std::string& text : texts_.prices) TRY(add_price(text, scenario));
    for (const std::string& text : texts_.power) TRY(add_power(text, scenario));
    for (const std::string& text : texts_.commitments) {
      scenario.commitments.push_back(TRY(read_commitment(text)));
    }
    TRY(add_spot(scenario));
    TRY(add_autoscaled(scenario));
    TRY(add_mig_nodes(scenario));
    TRY(add_racks(scenario));
    return add_spill_over(scenario);
  }

 private:
  // "-20", "+4", "-20:model=H100-SXM5-80GB,pool=train".
  Result<FleetChange> read_nodes(const std::string& text) const {
    const auto misread = [&] {
      return wrong("nodes", text, "write +N or -N, and which: -20:model=H100-SXM5-80GB,pool=train");
    };
    FleetChange change;
    const std::size_t colon = text.find(':');
    std::string_view number = std::string_view(text).substr(0, colon);
    if (number.starts_with('+')) number.remove_prefix(1);
    const auto nodes = parse_number<std::int64_t>(number);
    if (!nodes || *nodes == 0 || *nodes > kNodesMax || *nodes < -kNodesMax) return misread();
    change.nodes = *nodes;
    std::size_t begin = colon;
    while (begin != std::string::npos) {
      const std::size_t end = text.find(',', begin + 1);
      const std::string part =
          text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
      if (part.starts_with("model=") && change.gpu_model.empty() && part.size() > 6) {
        change.gpu_model = part.substr(6);
      } else if (part.starts_with("pool=") && change.pool.empty() && part.size() > 5) {
        change.pool = part.substr(5);
      } else {
        return misread();
      }
      begin = end;
    }
    TRY(check_model(change.gpu_model, "nodes", text));
    return change;
  }

  Result<void> check_added(const std::vector<FleetChange>& changes) const {
    std::int64_t added = 0;  // each is at most kNodesMax
    for (const FleetChange& change : changes) added += std::max<std::int64_t>(0, change.nodes);
    if (added <= static_cast<std::int64_t>(kReplayMachinesMax)) return {};
    return wrong("nodes", fmt::format("+{}", added),
                 fmt::format("a scenario adds at most {} nodes in all", kReplayMachinesMax));
  }

  Result<void> add_price(const std::string& text, Scenario& scenario) const {
    const NamedPercent share = TRY(read_percent(text, "price"));
    TRY(check_model(share.name, "price", text));
    const auto is_same = [&](const PriceChange& other) {
      return other.gpu_model.empty() == share.name.empty() &&
             (share.name.empty() || find_gpu_model(other.gpu_model) == find_gpu_model(share.name));
    };
    if (std::ranges::any_of(scenario.prices, is_same)) {
      return wrong("price", text, "these nodes have a price already");
    }
    scenario.prices.push_back({share.name, share.percent});
    return {};
  }

  // What GPUs draw.
  Result<void> add_power(const std::string& text, Scenario& scenario) const {
    const std::size_t equals = text.rfind('=');
    const std::size_t slash = text.rfind('/');
    PowerRate rate;
    std::optional<std::uint32_t> held;
    std::optional<std::uint32_t> idle;
    if (equals != std::string::npos && slash != std::string::npos && slash > equals) {
      rate.gpu_model = text.substr(0, equals);
      held = parse_number<std::uint32_t>(
          std::string_view(text).substr(equals + 1, slash - equals - 1));
      idle = parse_number<std::uint32_t>(std::string_view(text).substr(slash + 1));
    }
    if (!held || !idle || *held > kWattsMax || *idle > *held || rate.gpu_model.empty()) {
      return wrong("power", text,
                   "write MODEL=HELD/IDLE, the watts that a GPU draws while somebody holds it and "
                   "while nobody does, such as H100-SXM5-80GB=700/100 (up to 10000, and no more "
                   "idle than held)");
    }
    TRY(check_model(rate.gpu_model, "power", text));
    const auto is_same = [&](const PowerRate& other) {
      return find_gpu_model(other.gpu_model) == find_gpu_model(rate.gpu_model);
    };
    if (std::ranges::any_of(scenario.power, is_same)) {
      return wrong("power", text, "this model has its watts already");
    }
    rate.held_watts = *held;
    rate.idle_watts = *idle;
    scenario.power.push_back(std::move(rate));
    return {};
  }

  // "2026-03-15T00:00:00Z", "ID@2026-03-15T00:00:00Z=60%".
  Result<CommitmentChange> read_commitment(const std::string& text) const {
    const std::size_t at = text.rfind('@');
    std::string rest = text.substr(at == std::string::npos ? 0 : at + 1);
    CommitmentChange change;
    if (at != std::string::npos) change.id = text.substr(0, at);
    bool is_read = at != 0;
    if (const std::size_t equals = rest.find('='); equals != std::string::npos) {
      change.percent = parse_percent_of_price(rest.substr(equals + 1));
      is_read = is_read && change.percent.has_value();
      rest.resize(equals);
    }
    const auto from = parse_instant(rest);
    if (!is_read || !from) {
      return wrong("commitment-end", text,
                   "write when it ends, of which one, and what the one costs that it is exchanged "
                   "for: 2026-03-15T00:00:00Z, ID@2026-03-15T00:00:00Z, "
                   "ID@2026-03-15T00:00:00Z=60%");
    }
    change.from_ms = from->time_since_epoch().count();
    return change;
  }

  // "4@2026-03-05T00:00:00Z/24h", "4@2026-03-05T00:00:00Z/24h:model=…,pool=…".
  Result<OutageChange> read_outage(const std::string& text) const {
    const auto misread = [&] {
      return wrong("outage", text,
                   "write N@TIME/LENGTH, and which nodes: "
                   "4@2026-03-05T00:00:00Z/24h:model=H100-SXM5-80GB,pool=train");
    };
    const std::size_t at = text.find('@');
    const std::size_t slash = text.find('/', at == std::string::npos ? 0 : at);
    if (at == std::string::npos || slash == std::string::npos) return misread();
    const std::size_t colon = text.find(':', slash);
    const auto begin = parse_instant(text.substr(at + 1, slash - at - 1));
    const auto length = parse_length(std::string_view(text).substr(
        slash + 1, colon == std::string::npos ? colon : colon - slash - 1));
    // Which nodes is read as for --nodes.
    const auto which =
        read_nodes(text.substr(0, at) + (colon == std::string::npos ? "" : text.substr(colon)));
    if (!begin || !length || !which || which->nodes < 1) return misread();
    return OutageChange{.nodes = static_cast<std::uint32_t>(which->nodes),
                        .begin_ms = begin->time_since_epoch().count(),
                        .length_us = *length,
                        .pool = which->pool,
                        .gpu_model = which->gpu_model};
  }

  Result<void> add_spot(Scenario& scenario) const {
    const bool is_all_spot = !texts_.spot.empty();
    for (const std::string& text : texts_.outages) {
      scenario.outages.push_back(TRY(read_outage(text)));
    }
    if (!is_all_spot && texts_.spot_tier.empty() && !has_outages()) {
      if (!texts_.replaced_min && !texts_.checkpoint_min) return {};
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}{1} is about spot capacity; give {0}spot too", texts_.dashes,
                              texts_.replaced_min ? "replaced-after" : "checkpoint"));
    }
    if (!is_all_spot && texts_.spot_tier.empty() && texts_.replaced_min) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{0}replaced-after is about the rate of {0}spot; {0}{1} says itself how "
                      "long a node is away",
                      texts_.dashes, outage_option()));
    }
    if (texts_.preempts) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}{1} can't be combined with {0}preempt: a replay interrupts for "
                              "one reason only",
                              texts_.dashes,
                              is_all_spot                 ? "spot"
                              : !texts_.spot_tier.empty() ? "spot-tier"
                                                          : outage_option()));
    }
    const std::uint32_t replaced = texts_.replaced_min.value_or(kReplacedMinutes);
    const std::uint32_t checkpoint = texts_.checkpoint_min.value_or(kCheckpointMinutes);
    if (replaced > kMinutesMax) {
      return wrong("replaced-after", std::to_string(replaced), "at most 44640 minutes");
    }
    if (checkpoint > kMinutesMax) {
      return wrong("checkpoint", std::to_string(checkpoint), "at most 44640 minutes");
    }
    if (is_all_spot) scenario.spot = TRY(read_spot());
    scenario.spot.replaced_after_us = std::int64_t{replaced} * 60 * 1'000'000;
    scenario.spot.checkpoint_every_us = std::int64_t{checkpoint} * 60 * 1'000'000;
    scenario.spot.seed = texts_.seed;
    return {};
  }

  // "H100-SXM5-80GB=0.5%", "2%": percent up to 100 with up to four decimals.
  Result<SpotChange> read_spot() const {
    const std::string& text = texts_.spot;
    const std::size_t equals = text.rfind('=');
    SpotChange change;
    if (equals != std::string::npos) change.gpu_model = text.substr(0, equals);
    const auto share =
        parse_hourly_share(text.substr(equals == std::string::npos ? 0 : equals + 1));
    if (!share) {
      return wrong(
          "spot", text,
          "write MODEL=PERCENT% or PERCENT% for all nodes, the share of them that is taken "
          "back each hour, such as H100-SXM5-80GB=0.5% (0.0001% to 100%)");
    }
    change.reclaimed_per_hour = *share;
    TRY(check_model(change.gpu_model, "spot", text));
    return change;
  }

  // "4@5m/10m", "4@5m/10m:model=…,pool=…".
  Result<AutoscaleChange> read_autoscale(const std::string& text) const {
    const auto misread = [&] {
      return wrong("autoscale", text,
                   "write N@START/KEPT or N-MOST@START/KEPT, and which nodes: "
                   "4-20@5m/10m:model=H100-SXM5-80GB,pool=train; at least 4 of at most 20 are on, "
                   "others start in 5 minutes and stop after 10 without work");
    };
    const std::size_t at = text.find('@');
    const std::size_t slash = text.find('/', at == std::string::npos ? 0 : at);
    if (at == std::string::npos || slash == std::string::npos) return misread();
    const std::size_t colon = text.find(':', slash);
    const std::string_view counts = std::string_view(text).substr(0, at);
    const std::size_t dash = counts.find('-');
    const auto least = parse_number<std::uint32_t>(counts.substr(0, dash));
    std::optional<std::uint32_t> most;
    if (dash != std::string_view::npos) {
      most = parse_number<std::uint32_t>(counts.substr(dash + 1));
      if (!most) return misread();
    }
    const std::string_view start_text = std::string_view(text).substr(at + 1, slash - at - 1);
    const auto start =
        start_text == "0m" ? std::optional<std::int64_t>(0) : parse_length(start_text);
    const auto kept = parse_length(std::string_view(text).substr(
        slash + 1, colon == std::string::npos ? colon : colon - slash - 1));
    // Which nodes is read as for --nodes.
    const auto which = read_nodes("1" + (colon == std::string::npos ? "" : text.substr(colon)));
    if (!least || !start || !kept || !which) return misread();
    if (most && *most <= *least) {
      return wrong("autoscale", text,
                   "the most nodes must be more than those that are always on, or nothing scales");
    }
    return AutoscaleChange{.least = *least,
                           .most = most,
                           .start_us = *start,
                           .kept_us = *kept,
                           .pool = which->pool,
                           .gpu_model = which->gpu_model};
  }

  Result<void> add_autoscaled(Scenario& scenario) const {
    if (texts_.autoscaled.empty()) return {};
    for (const std::string& text : texts_.autoscaled) {
      scenario.autoscaled.push_back(TRY(read_autoscale(text)));
    }
    const std::pair<std::string_view, std::string_view> others[] = {
        {texts_.preempts ? "preempt" : "",
         "with it the first job takes room from others instead of asking for nodes"},
        {texts_.cheapest_tiers ? "cheapest-tiers" : "",
         "that search switches nodes on and off itself, and pays for them for tier-kept"},
        {texts_.best_mig ? "best-mig" : "", "nodes that are cut are on all month"}};
    for (const auto& [option, why] : others) {
      if (option.empty()) continue;
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}autoscale can't be combined with {0}{1}: {2}", texts_.dashes,
                              option, why));
    }
    const bool has_most = std::ranges::any_of(scenario.autoscaled,
                                              [](const auto& one) { return one.most.has_value(); });
    if (has_most && texts_.fewest_nodes) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{0}fewest-nodes finds how many nodes there have to be; leave the most "
                      "of {0}autoscale out",
                      texts_.dashes));
    }
    return {};
  }

  // "10=1g.5gb", "10=1g.5gb/08:00-20:00:model=…,pool=…".
  Result<MigNodesChange> read_mig_nodes(const std::string& text) const {
    const auto misread = [&] {
      return wrong("mig-nodes", text,
                   "write how many nodes are cut into what, in which part of the day in UTC if "
                   "not always, and which nodes: "
                   "10=1g.5gb/08:00-20:00:model=A100-SXM4-40GB,pool=notebooks");
    };
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return misread();
    // A part of the day has colons of its own.
    const std::size_t selector = std::min(text.find(":model="), text.find(":pool="));
    const auto which =
        read_nodes(text.substr(0, equals) +
                   (selector == std::string::npos ? std::string() : text.substr(selector)));
    const std::string layout =
        text.substr(equals + 1, selector == std::string::npos ? selector : selector - equals - 1);
    const std::size_t slash = layout.find('/');
    std::optional<replay::DailyWindow> window;
    if (slash != std::string::npos) {
      window = parse_window(std::string_view(layout).substr(slash + 1));
      if (!window) return misread();
    }
    const std::string profile = layout.substr(0, slash);
    if (!which || which->nodes < 1 || profile.empty()) return misread();
    return MigNodesChange{.nodes = static_cast<std::uint32_t>(which->nodes),
                          .profile = profile,
                          .window = window,
                          .pool = which->pool,
                          .gpu_model = which->gpu_model};
  }

  Result<void> add_mig_nodes(Scenario& scenario) const {
    if (texts_.mig_nodes.empty()) return {};
    for (const std::string& text : texts_.mig_nodes) {
      scenario.mig_nodes.push_back(TRY(read_mig_nodes(text)));
    }
    if (texts_.slices.empty()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}mig-nodes belongs to {0}slice, which says whose jobs run on "
                              "instances; give that too",
                              texts_.dashes));
    }
    const bool has_spot = !texts_.spot.empty() || !texts_.spot_tier.empty();
    const std::pair<std::string_view, std::string_view> others[] = {
        {texts_.preempts ? "preempt" : "", "nobody is interrupted for a layout"},
        {has_spot        ? "spot"
         : has_outages() ? outage_option()
                         : "",
         "a node that is cut is always there"},
        {texts_.autoscaled.empty() ? "" : "autoscale", "a node that is cut is always on"},
        {texts_.spill_over.empty() ? "" : "spill-over", "nodes that are cut are of no place"},
        {texts_.best_mig ? "best-mig" : "", "that search cuts nodes itself"},
        {texts_.cheapest_tiers ? "cheapest-tiers" : "", "that search takes whole nodes"},
        {texts_.fewest_nodes ? "fewest-nodes" : "",
         "that search tries fleets with fewer nodes than are cut"}};
    for (const auto& [option, why] : others) {
      if (option.empty()) continue;
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}mig-nodes can't be combined with {0}{1}: {2}", texts_.dashes,
                              option, why));
    }
    return {};
  }

  // Jobs on several nodes get those of one rack.
  Result<void> add_racks(Scenario& scenario) const {
    if (!texts_.same_rack) return {};
    if (*texts_.same_rack == 0 || *texts_.same_rack > kRackNodesMax) {
      return wrong("same-rack", std::to_string(*texts_.same_rack),
                   "write how many nodes a rack has, from 1 to 10000");
    }
    if (!texts_.autoscaled.empty() || texts_.best_mig) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}same-rack can't be combined with {0}{1}: {2}", texts_.dashes,
                              texts_.best_mig ? "best-mig" : "autoscale",
                              texts_.best_mig ? "nodes that are cut are of no rack there"
                                              : "nodes start for a job in any rack"));
    }
    scenario.rack_nodes = *texts_.same_rack;
    scenario.scheduling.same_rack = true;
    return {};
  }

  // "pool@60m", "region@0m".
  Result<void> add_spill_over(Scenario& scenario) const {
    const std::string& text = texts_.spill_over;
    if (text.empty()) return {};
    const std::size_t at = text.find('@');
    const std::string place = text.substr(0, at);
    const std::string length = at == std::string::npos ? "" : text.substr(at + 1);
    const auto after = length == "0m" ? std::optional<std::int64_t>(0) : parse_length(length);
    std::optional<HomeScope> scope;
    for (const HomeScope each : {HomeScope::kPool, HomeScope::kRegion, HomeScope::kCluster}) {
      if (place == home_scope_text(each)) scope = each;
    }
    if (!scope || !after) {
      return wrong("spill-over", text,
                   "write pool@LENGTH, region@LENGTH or cluster@LENGTH: jobs stay in the pool, "
                   "region or cluster in which they ran, and may leave it once they have waited "
                   "so long, such as pool@60m");
    }
    if (texts_.preempts || texts_.best_mig) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}spill-over can't be combined with {0}{1}: {2}", texts_.dashes,
                              texts_.preempts ? "preempt" : "best-mig",
                              texts_.preempts ? "who interrupts whom elsewhere is not replayed"
                                              : "nodes that are cut are of no place there"));
    }
    scenario.spill_over = {.scope = *scope, .after_us = *after};
    return {};
  }

  static constexpr std::int64_t kNodesMax = 100'000;
};

}  // namespace

std::string_view home_scope_text(HomeScope scope) {
  switch (scope) {
    case HomeScope::kPool:
      return "pool";
    case HomeScope::kRegion:
      return "region";
    case HomeScope::kCluster:
      return "cluster";
  }
  CHECK(false, "every scope is listed");
}

Result<void> read_fleet_options(const ScenarioTexts& texts, Scenario& scenario) {
  return FleetOptions(texts).read(scenario);
}

}  // namespace pennyweight::what_if
