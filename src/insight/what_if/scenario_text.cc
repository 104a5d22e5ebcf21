#include "insight/what_if/scenario_text.h"

#include <fmt/format.h>

#include "core/plain_text.h"
#include "core/try.h"
#include "insight/what_if/option_reader.h"

namespace pennyweight::what_if {
namespace {

// The options about scheduling, and then those of the other ideas.
class ScenarioReader : public OptionReader {
 public:
  using OptionReader::OptionReader;

  Result<Scenario> read() const {
    Scenario scenario;
    scenario.scheduling = TRY(parse_scheduling(texts_.order, texts_.blocked, texts_.placement));
    if (texts_.preempts && replay::is_fair(scenario.scheduling.order)) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}preempt can't be combined with {0}scheduler {1}: a fair queue "
                              "interrupts no job",
                              texts_.dashes, texts_.order));
    }
    scenario.scheduling.preempts = texts_.preempts;
    TRY(check_effect(scenario.scheduling));
    const std::uint32_t depth = texts_.depth.value_or(kDepth);
    if (depth == 0 || depth > kDepthMax) {
      return wrong("depth", std::to_string(depth), "write a number from 1 to 1000000");
    }
    scenario.scheduling.depth = depth;
    scenario.scheduling.seed = texts_.seed;
    const bool has_spot = !texts_.spot.empty() || !texts_.spot_tier.empty() || has_outages();
    if (texts_.restart_s && !texts_.preempts && !has_spot) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{0}restart is what an interruption costs; give {0}preempt or {0}spot or "
                      "{0}outage too",
                      texts_.dashes));
    }
    if (texts_.restart_s && *texts_.restart_s > kRestartSecondsMax) {
      return wrong("restart", std::to_string(*texts_.restart_s), "at most 86400 seconds");
    }
    scenario.restart_us = std::int64_t{texts_.restart_s.value_or(kRestartSeconds)} * 1'000'000;
    TRY(read_team_options(texts_, scenario));
    scenario.any_model = texts_.any_model;
    scenario.fitted = texts_.fitted;
    scenario.uses_limits = TRY(parse_lengths(texts_.lengths));
    TRY(read_fleet_options(texts_, scenario));
    TRY(read_price_options(texts_, scenario));
    TRY(read_model_options(texts_, scenario));
    return scenario;
  }

 private:
  // An option that the chosen scheduling doesn't read is a mistake, not a change.
  Result<void> check_effect(const replay::Scheduling& scheduling) const {
    using replay::QueueOrder;
    using replay::WhenBlocked;
    if (!texts_.weights.empty() && !replay::is_fair(scheduling.order)) {
      return without_effect("weight",
                            fmt::format("weights are for fair queues; give {}scheduler max-min, "
                                        "fair-share, drf or proportion",
                                        texts_.dashes));
    }
    if (texts_.preempts && scheduling.when_blocked != WhenBlocked::kBackfill) {
      return without_effect("blocked", fmt::format("with {}preempt whoever fits runs, and others "
                                                   "are interrupted for the first",
                                                   texts_.dashes));
    }
    if (texts_.depth && !texts_.preempts && scheduling.when_blocked == WhenBlocked::kWait) {
      return without_effect(
          "depth",
          fmt::format("with {}blocked wait no job behind the first is tried", texts_.dashes));
    }
    const bool reads_lengths =
        scheduling.order == QueueOrder::kShortestJob ||
        scheduling.order == QueueOrder::kShortestRemaining ||
        scheduling.order == QueueOrder::kShortestRemainingWork ||
        (!texts_.preempts && scheduling.when_blocked == WhenBlocked::kBackfill);
    if (texts_.lengths == "limit" && !reads_lengths) {
      return without_effect("lengths", fmt::format("only {0}blocked backfill and {0}scheduler sjf, "
                                                   "srtf and srsf look at how long a job takes",
                                                   texts_.dashes));
    }
    const bool draws = scheduling.placement == replay::PlacementRule::kRandom ||
                       !texts_.spot.empty() || !texts_.spot_tier.empty() || texts_.fitted;
    if (texts_.seed != 1 && !draws) {
      return without_effect(
          "seed",
          fmt::format("only {0}placement random, {0}spot and {0}fitted draw", texts_.dashes));
    }
    return {};
  }
};

}  // namespace

Result<replay::Scheduling> parse_scheduling(const std::string& order, const std::string& blocked,
                                            const std::string& placement) {
  replay::Scheduling scheduling;
  const auto queue = replay::parse_queue_order(order);
  if (!queue) {
    return fail(ErrorCode::kBadValue,
                fmt::format("scheduler '{}' is unknown; use one of {}",
                            printable_text(order, kShownBytesMax), replay::queue_order_names()));
  }
  const auto rule = replay::parse_when_blocked(blocked);
  if (!rule) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a rule for when the first job is blocked; use one of {}",
                            printable_text(blocked, kShownBytesMax), replay::when_blocked_names()));
  }
  const auto place = replay::parse_placement_rule(placement);
  if (!place) {
    return fail(ErrorCode::kBadValue, fmt::format("placement '{}' is unknown; use one of {}",
                                                  printable_text(placement, kShownBytesMax),
                                                  replay::placement_rule_names()));
  }
  scheduling.order = *queue;
  scheduling.when_blocked = *rule;
  scheduling.placement = *place;
  return scheduling;
}

Result<bool> parse_lengths(const std::string& text) {
  if (text == "true" || text == "limit") return text == "limit";
  return fail(ErrorCode::kBadValue, fmt::format("lengths '{}' is unknown; use true or limit",
                                                printable_text(text, kShownBytesMax)));
}

Result<Scenario> parse_scenario(const ScenarioTexts& texts) { return ScenarioReader(texts).read(); }

}  // namespace pennyweight::what_if
