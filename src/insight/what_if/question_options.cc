// What is asked of a scenario besides its replay: ranges and searches.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/try.h"
#include "insight/what_if/option_reader.h"

namespace pennyweight::what_if {
namespace {

class QuestionOptions : public OptionReader {
 public:
  using OptionReader::OptionReader;

  Result<Questions> read() const {
    Questions questions;
    if (texts_.seeds == 0 || texts_.seeds > kSeedsMax) {
      return wrong("seeds", std::to_string(texts_.seeds), "write a number from 1 to 50");
    }
    if (texts_.demand_range > kDemandRangeMax) {
      return wrong("demand-range", std::to_string(texts_.demand_range), "at most 90 percent");
    }
    if (texts_.tries && (*texts_.tries == 0 || *texts_.tries > kTriesMax)) {
      return wrong("tries", std::to_string(*texts_.tries), "write a number from 1 to 1000");
    }
    questions.seeds = texts_.seeds;
    questions.demand_range_percent = texts_.demand_range;
    const bool has_tiers = texts_.cheapest_tiers.has_value();
    const bool has_mig = texts_.best_mig.has_value();
    TRY(check_needed(!texts_.fewest_nodes && !texts_.fewest_model.empty(), "fewest-model",
                     "fewest-nodes"));
    TRY(check_needed(!has_tiers && !texts_.tier_model.empty(), "tier-model", "cheapest-tiers"));
    TRY(check_needed(!has_tiers && !texts_.committed.empty(), "committed", "cheapest-tiers"));
    TRY(check_needed(!has_tiers && !texts_.spot_tier.empty(), "spot-tier", "cheapest-tiers"));
    TRY(check_needed(!has_tiers && texts_.tier_kept_min, "tier-kept", "cheapest-tiers"));
    TRY(check_needed(!has_mig && !texts_.mig_model.empty(), "mig-model", "best-mig"));
    TRY(check_needed(!has_mig && !has_tiers && texts_.tries, "tries",
                     "cheapest-tiers or best-mig"));
    TRY(check_needed(has_mig && texts_.slices.empty(), "best-mig", "slice"));
    if ((has_mig || has_tiers || texts_.fewest_nodes) && has_outages()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}{2} can't be combined with {0}{1}: which nodes are away would "
                              "differ from fleet to fleet",
                              texts_.dashes,
                              has_mig     ? "best-mig"
                              : has_tiers ? "cheapest-tiers"
                                          : "fewest-nodes",
                              outage_option()));
    }
    if (has_mig && !texts_.spot.empty()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{0}best-mig can't be combined with {0}spot: its nodes stay", texts_.dashes));
    }
    const bool is_fair = texts_.order == "max-min" || texts_.order == "fair-share" ||
                         texts_.order == "drf" || texts_.order == "proportion";
    if (has_mig && (is_fair || !texts_.quotas.empty())) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}best-mig can't be combined with {1}: instances and whole GPUs "
                              "are replayed apart, and what a team holds of both isn't added up",
                              texts_.dashes,
                              is_fair ? "the order " + texts_.order
                                      : fmt::format("{}quota", texts_.dashes)));
    }
    if (texts_.fewest_nodes) {
      TRY(check_model(texts_.fewest_model, "fewest-model", texts_.fewest_model));
      questions.fleet = {.wait_p95_max_us = TRY(minutes_us(*texts_.fewest_nodes, "fewest-nodes")),
                         .gpu_model = texts_.fewest_model};
    }
    if (has_tiers) questions.tiers = TRY(read_tiers());
    if (has_mig) {
      TRY(check_model(texts_.mig_model, "mig-model", texts_.mig_model));
      questions.mig = {.wait_p95_max_us = TRY(minutes_us(*texts_.best_mig, "best-mig")),
                       .gpu_model = texts_.mig_model,
                       .tries_max = texts_.tries.value_or(kTries)};
    }
    return questions;
  }

 private:
  // An option without the one that it belongs to.
  Result<void> check_needed(bool is_there, std::string_view option, std::string_view needed) const {
    if (!is_there) return {};
    return fail(ErrorCode::kBadValue, fmt::format("{0}{1} belongs to {0}{2}; give that too",
                                                  texts_.dashes, option, needed));
  }

  Result<TierGoal> read_tiers() const {
    TierGoal goal{.wait_p95_max_us = TRY(minutes_us(*texts_.cheapest_tiers, "cheapest-tiers")),
                  .gpu_model = texts_.tier_model,
                  .prices = {},
                  .tries_max = texts_.tries.value_or(kTries)};
    TRY(check_model(goal.gpu_model, "tier-model", goal.gpu_model));
    goal.prices.kept_us =
        TRY(minutes_us(texts_.tier_kept_min.value_or(kTierKeptMinutes), "tier-kept"));
    if (!texts_.committed.empty()) {
      goal.prices.committed_percent = parse_percent_of_price(texts_.committed);
      if (!goal.prices.committed_percent) {
        return wrong("committed", texts_.committed,
                     "write what it costs of the price on demand, such as 60% (0% to 100%)");
      }
    }
    if (!texts_.spot_tier.empty()) {
      const std::size_t at = texts_.spot_tier.find('@');
      const auto share = at == std::string::npos
                             ? std::nullopt
                             : parse_hourly_share(texts_.spot_tier.substr(at + 1));
      goal.prices.spot_percent = parse_percent_of_price(texts_.spot_tier.substr(0, at));
      if (!share || !goal.prices.spot_percent) {
        return wrong("spot-tier", texts_.spot_tier,
                     "write what it costs of the price on demand, and the share of nodes that is "
                     "taken back each hour, such as 35%@2%");
      }
      goal.prices.reclaimed_per_hour = *share;
      if (!texts_.spot.empty()) {
        return fail(ErrorCode::kBadValue,
                    fmt::format("{0}spot makes nodes spot capacity already; with {0}spot-tier the "
                                "search chooses how many",
                                texts_.dashes));
      }
    }
    return goal;
  }
};

}  // namespace

Result<Questions> parse_questions(const ScenarioTexts& texts) {
  return QuestionOptions(texts).read();
}

}  // namespace pennyweight::what_if
