#include "insight/what_if/scenario_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "core/ascii.h"
#include "core/gpu/gpu_model.h"
#include "core/instant.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/replay/spot.h"

namespace pennyweight::what_if {
namespace {

constexpr std::uint32_t kPercentMax = 10'000;
constexpr std::size_t kShownBytesMax = 200;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "2%", "0.5%": percent from 0.0001 to 100, in millionths.
std::optional<std::uint32_t> parse_hourly_share(std::string number) {
  constexpr std::size_t kDecimals = 4;
  if (!number.ends_with('%')) return std::nullopt;
  number.pop_back();
  const std::size_t point = number.find('.');
  std::string decimals = point == std::string::npos ? "" : number.substr(point + 1);
  if (point != std::string::npos && (decimals.empty() || decimals.size() > kDecimals)) {
    return std::nullopt;
  }
  decimals.resize(kDecimals, '0');
  const auto whole = parse_number<std::uint32_t>(std::string_view(number).substr(0, point));
  const auto rest = parse_number<std::uint32_t>(decimals);
  if (!whole || !rest || *whole > 100) return std::nullopt;
  const std::uint32_t share = *whole * 10'000 + *rest;
  if (share == 0 || share > replay::kReclaimParts) return std::nullopt;
  return share;
}

// "60%", up to 100 %.
std::optional<std::uint32_t> parse_percent_of_price(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const auto percent = parse_number<std::uint32_t>(text);
  if (!percent || *percent > 100) return std::nullopt;
  return percent;
}

class ScenarioReader {
 public:
  explicit ScenarioReader(const ScenarioTexts& texts) : texts_(texts) {}

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
    for (const std::string& text : texts_.weights) TRY(add_weight(text, scenario));
    for (const std::string& text : texts_.nodes) scenario.fleet.push_back(TRY(read_nodes(text)));
    TRY(check_added(scenario.fleet));
    for (const std::string& text : texts_.demand) {
      const NamedPercent share = TRY(read_percent(text, "demand"));
      // Of everybody it may be given again, and multiplies: of one team that is a mistake.
      const auto is_same = [&](const auto& other) { return other.team == share.name; };
      if (!share.name.empty() && std::ranges::any_of(scenario.demand, is_same)) {
        return wrong("demand", text, "this team has a demand already");
      }
      scenario.demand.push_back({share.name, share.percent});
    }
    for (const std::string& text : texts_.prices) {
      const NamedPercent share = TRY(read_percent(text, "price"));
      TRY(check_model(share.name, "price", text));
      const auto is_same = [&](const PriceChange& other) {
        return other.gpu_model.empty() == share.name.empty() &&
               (share.name.empty() ||
                find_gpu_model(other.gpu_model) == find_gpu_model(share.name));
      };
      if (std::ranges::any_of(scenario.prices, is_same)) {
        return wrong("price", text, "these nodes have a price already");
      }
      scenario.prices.push_back({share.name, share.percent});
    }
    for (const std::string& text : texts_.slices) {
      scenario.slices.push_back(TRY(read_slice(text)));
    }
    TRY(add_admission(scenario));
    TRY(add_demand(scenario));
    scenario.any_model = texts_.any_model;
    scenario.fitted = texts_.fitted;
    scenario.uses_limits = TRY(parse_lengths(texts_.lengths));
    TRY(add_spot(scenario));
    TRY(add_autoscaled(scenario));
    TRY(add_limits(scenario));
    TRY(add_racks(scenario));
    for (const std::string& text : texts_.commitments) {
      scenario.commitments.push_back(TRY(read_commitment(text)));
    }
    TRY(add_spill_over(scenario));
    return scenario;
  }

  Result<Questions> read_questions() const {
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
  struct NamedPercent {
    std::string name;
    std::uint32_t percent;
  };

  std::unexpected<Error> wrong(std::string_view option, std::string_view text,
                               std::string_view what) const {
    return fail(ErrorCode::kBadValue, fmt::format("{}{} '{}': {}", texts_.dashes, option,
                                                  printable_text(text, kShownBytesMax), what));
  }

  // Whether nodes are away at times that are known.
  bool has_outages() const { return !texts_.outages.empty() || !texts_.spot_trace.empty(); }
  std::string_view outage_option() const {
    return texts_.spot_trace.empty() ? "outage" : "spot-trace";
  }

  std::unexpected<Error> without_effect(std::string_view option, std::string_view why) const {
    return fail(ErrorCode::kBadValue,
                fmt::format("{}{} changes nothing here: {}", texts_.dashes, option, why));
  }

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

  Result<void> check_model(const std::string& model, std::string_view option,
                           const std::string& text) const {
    if (model.empty() || find_gpu_model(model) != nullptr) return {};
    return wrong(option, text,
                 fmt::format("GPU model '{}' is unknown or fits several; write it in full, such as "
                             "H100-SXM5-80GB",
                             printable_text(model, kShownBytesMax)));
  }

  Result<void> add_weight(const std::string& text, Scenario& scenario) const {
    const std::size_t equals = text.rfind('=');
    const auto weight =
        equals == std::string::npos
            ? std::nullopt
            : parse_number<std::uint32_t>(std::string_view(text).substr(equals + 1));
    if (!weight || *weight == 0 || *weight > 1'000'000) {
      return wrong("weight", text, "write TEAM=N, N from 1 to 1000000");
    }
    const bool is_new =
        scenario.scheduling.team_weights.try_emplace(text.substr(0, equals), *weight).second;
    if (!is_new) return wrong("weight", text, "this team has a weight already");
    return {};
  }

  // "NAME=60%", "60%": a name, which may be empty, and percent.
  Result<NamedPercent> read_percent(const std::string& text, std::string_view option) const {
    const std::size_t equals = text.rfind('=');
    const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
    std::string_view number(text);
    number.remove_prefix(equals == std::string::npos ? 0 : equals + 1);
    if (number.ends_with('%')) {
      number.remove_suffix(1);
      const auto percent = parse_number<std::uint32_t>(number);
      if (percent && *percent <= kPercentMax) return NamedPercent{name, *percent};
    }
    return wrong(option, text,
                 "write NAME=PERCENT% or PERCENT% for all, such as nlp=150% (0% to 10000%)");
  }

  // "nlp=1g.5gb@120%", "1g.5gb".
  Result<SliceChange> read_slice(const std::string& text) const {
    SliceChange change;
    std::string rest = text;
    if (const std::size_t equals = rest.rfind('='); equals != std::string::npos) {
      change.team = rest.substr(0, equals);
      rest.erase(0, equals + 1);
    }
    if (const std::size_t at = rest.find('@'); at != std::string::npos) {
      std::string_view number = std::string_view(rest).substr(at + 1);
      std::optional<std::uint32_t> percent;
      if (number.ends_with('%')) {
        number.remove_suffix(1);
        percent = parse_number<std::uint32_t>(number);
      }
      if (!percent || *percent < 100 || *percent > kPercentMax) {
        return wrong("slice", text,
                     "after '@' stands how long a job takes on the slice, from 100% to 10000% of "
                     "what it took");
      }
      change.time_percent = *percent;
      rest.resize(at);
    }
    if (rest.empty()) {
      return wrong("slice", text, "write TEAM=PROFILE or PROFILE for all, such as nlp=1g.5gb@120%");
    }
    change.profile = rest;
    return change;
  }

  // Minutes of a day: "20:00".
  static std::optional<std::uint32_t> parse_minute(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') return std::nullopt;
    const auto hours = parse_number<std::uint32_t>(text.substr(0, 2));
    const auto minutes = parse_number<std::uint32_t>(text.substr(3));
    if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    return *hours * 60 + *minutes;
  }
  // "20:00-06:00".
  static std::optional<replay::DailyWindow> parse_window(std::string_view text) {
    if (text.size() != 11 || text[5] != '-') return std::nullopt;
    const auto from = parse_minute(text.substr(0, 5));
    const auto to = parse_minute(text.substr(6));
    if (!from.has_value() || !to.has_value()) return std::nullopt;
    const replay::DailyWindow window{.from_minute = from.value_or(0), .to_minute = to.value_or(0)};
    return window.from_minute == window.to_minute ? std::nullopt : std::optional(window);
  }
  // "24h", "90m", in microseconds; up to a month.
  static std::optional<std::int64_t> parse_length(std::string_view text) {
    if (!text.ends_with('h') && !text.ends_with('m')) return std::nullopt;
    const std::int64_t unit = text.ends_with('h') ? 60 : 1;
    text.remove_suffix(1);
    const auto count = parse_number<std::uint32_t>(text);
    if (!count || *count == 0 || *count * unit > kMinutesMax) return std::nullopt;
    return *count * unit * 60 * 1'000'000;
  }

  // Quotas and parts of the day, by team.
  Result<void> add_admission(Scenario& scenario) const {
    constexpr std::uint32_t kGpusMax = 1'000'000;
    replay::AdmissionRules& rules = scenario.scheduling.admission;
    if (texts_.preempts && (!texts_.quotas.empty() || !texts_.windows.empty())) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{0}preempt can't be combined with {0}quota or {0}off-peak", texts_.dashes));
    }
    for (const std::string& text : texts_.quotas) {
      const std::size_t equals = text.rfind('=');
      const std::string numbers = equals == std::string::npos ? "" : text.substr(equals + 1);
      const std::size_t plus = numbers.find('+');
      const auto own = parse_number<std::uint32_t>(std::string_view(numbers).substr(0, plus));
      const auto borrowed =
          plus == std::string::npos
              ? std::optional<std::uint32_t>(0)
              : parse_number<std::uint32_t>(std::string_view(numbers).substr(plus + 1));
      if (!own || !borrowed || *own > kGpusMax || *borrowed > kGpusMax || equals == 0) {
        return wrong("quota", text,
                     "write TEAM=GPUS, and how many it may borrow at most: nlp=16+8");
      }
      replay::TeamQuota quota{.milli_gpus = std::uint64_t{*own} * replay::kMilliPerGpu};
      if (plus != std::string::npos) {
        quota.borrowed_milli_max = std::uint64_t{*borrowed} * replay::kMilliPerGpu;
      }
      if (!rules.quotas.try_emplace(text.substr(0, equals), quota).second) {
        return wrong("quota", text, "this team has a quota already");
      }
    }
    for (const std::string& text : texts_.windows) {
      const std::size_t equals = text.rfind('=');
      const std::string times = equals == std::string::npos ? "" : text.substr(equals + 1);
      const auto window = parse_window(times);
      if (!window || equals == 0) {
        return wrong("off-peak", text, "write TEAM=FROM-TO in UTC, such as nlp=20:00-06:00");
      }
      if (!rules.windows.try_emplace(text.substr(0, equals), *window).second) {
        return wrong("off-peak", text, "this team has a part of the day already");
      }
    }
    if (!texts_.guard_min) return {};
    if (texts_.preempts || texts_.blocked == "wait") {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}guard is for {0}blocked skip and backfill, where jobs are "
                              "overtaken, and not for {0}preempt",
                              texts_.dashes));
    }
    if (*texts_.guard_min == 0) {
      return wrong("guard", "0", "write minutes from 1 to 44640; 0 is --blocked wait");
    }
    scenario.scheduling.starvation_guard_us = TRY(minutes_us(*texts_.guard_min, "guard"));
    return {};
  }

  // Teams and jobs that are not there yet.
  Result<void> add_demand(Scenario& scenario) const {
    for (const std::string& text : texts_.new_teams) {
      const std::size_t equals = text.find('=');
      const std::size_t at = text.rfind('@');
      NewTeam team;
      bool is_read = equals != std::string::npos && equals > 0;
      if (is_read) {
        team.name = text.substr(0, equals);
        const bool has_share = at != std::string::npos && at > equals;
        team.like = text.substr(equals + 1, has_share ? at - equals - 1 : std::string::npos);
        if (has_share) {
          const NamedPercent share = TRY(read_percent(text.substr(at + 1), "new-team"));
          is_read = share.name.empty() && share.percent > 0;
          team.percent = share.percent;
        }
      }
      if (!is_read || team.like.empty() || team.like == team.name) {
        return wrong("new-team", text,
                     "write NAME=TEAM@PERCENT%: a new team with so many percent of the jobs of "
                     "one that is there, such as acme=nlp@50%");
      }
      scenario.new_teams.push_back(std::move(team));
    }
    for (const std::string& text : texts_.repeated) {
      scenario.repeated.push_back(TRY(read_repeated(text)));
    }
    return {};
  }

  // "nlp=8x24h@mon 02:00", "nlp=8x24h@daily 02:00".
  Result<RepeatedJob> read_repeated(const std::string& text) const {
    constexpr std::uint32_t kGpusMax = 10'000;
    static constexpr std::string_view kDays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
    const auto misread = [&] {
      return wrong("repeat", text,
                   "write TEAM=GPUSxLENGTH@DAY HH:MM in UTC, DAY mon to sun or daily, such as "
                   "nlp=8x24h@mon 02:00");
    };
    const std::size_t at = text.rfind('@');
    const std::size_t equals = text.rfind('=', at);
    if (at == std::string::npos || equals == std::string::npos || equals == 0) return misread();
    const std::string_view what = std::string_view(text).substr(equals + 1, at - equals - 1);
    const std::string_view when = std::string_view(text).substr(at + 1);
    const std::size_t times = what.find('x');
    const std::size_t space = when.find(' ');
    if (times == std::string_view::npos || space == std::string_view::npos) return misread();
    const auto gpus = parse_number<std::uint32_t>(what.substr(0, times));
    const auto length = parse_length(what.substr(times + 1));
    const auto minute = parse_minute(when.substr(space + 1));
    if (!gpus || *gpus == 0 || *gpus > kGpusMax || !length || !minute) return misread();
    RepeatedJob job{.team = text.substr(0, equals),
                    .gpus = *gpus,
                    .work_us = *length,
                    .weekday = {},
                    .minute = *minute};
    const std::string_view day = when.substr(0, space);
    if (day == "daily") return job;
    const auto* const found = std::ranges::find(kDays, day);
    if (found == std::end(kDays)) return misread();
    job.weekday = static_cast<std::uint32_t>(found - std::begin(kDays));
    return job;
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

  // "4@5m/10m", "4@5m/10m:model=…,pool=…".
  Result<AutoscaleChange> read_autoscale(const std::string& text) const {
    const auto misread = [&] {
      return wrong("autoscale", text,
                   "write N@START/KEPT, and which nodes: 4@5m/10m:model=H100-SXM5-80GB,pool=train; "
                   "at least 4 are on, others start in 5 minutes and stop after 10 without work");
    };
    const std::size_t at = text.find('@');
    const std::size_t slash = text.find('/', at == std::string::npos ? 0 : at);
    if (at == std::string::npos || slash == std::string::npos) return misread();
    const std::size_t colon = text.find(':', slash);
    const auto least = parse_number<std::uint32_t>(std::string_view(text).substr(0, at));
    const std::string_view start_text = std::string_view(text).substr(at + 1, slash - at - 1);
    const auto start =
        start_text == "0m" ? std::optional<std::int64_t>(0) : parse_length(start_text);
    const auto kept = parse_length(std::string_view(text).substr(
        slash + 1, colon == std::string::npos ? colon : colon - slash - 1));
    // Which nodes is read as for --nodes.
    const auto which = read_nodes("1" + (colon == std::string::npos ? "" : text.substr(colon)));
    if (!least || !start || !kept || !which) return misread();
    return AutoscaleChange{.least = *least,
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
    const std::pair<bool, std::string_view> others[] = {
        {texts_.preempts, "preempt"},
        {!texts_.spot.empty(), "spot"},
        {has_outages(), outage_option()},
        {texts_.fewest_nodes.has_value(), "fewest-nodes"},
        {texts_.cheapest_tiers.has_value(), "cheapest-tiers"},
        {texts_.best_mig.has_value(), "best-mig"}};
    for (const auto& [is_there, option] : others) {
      if (!is_there) continue;
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{0}autoscale can't be combined with {0}{1}: {2}", texts_.dashes, option,
                      option == "fewest-nodes" || option == "cheapest-tiers" || option == "best-mig"
                          ? "a search chooses among nodes that are always on"
                          : "which nodes go and come is decided by one of them only"));
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

  // "pool@60m", "region@0m".
  Result<void> add_spill_over(Scenario& scenario) const {
    const std::string& text = texts_.spill_over;
    if (text.empty()) return {};
    const std::size_t at = text.find('@');
    const std::string place = text.substr(0, at);
    const std::string length = at == std::string::npos ? "" : text.substr(at + 1);
    const auto after = length == "0m" ? std::optional<std::int64_t>(0) : parse_length(length);
    if ((place != "pool" && place != "region") || !after) {
      return wrong("spill-over", text,
                   "write pool@LENGTH or region@LENGTH: jobs stay in the pool or region in which "
                   "they ran, and may leave it once they have waited so long, such as pool@60m");
    }
    if (texts_.preempts || texts_.best_mig) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}spill-over can't be combined with {0}{1}: {2}", texts_.dashes,
                              texts_.preempts ? "preempt" : "best-mig",
                              texts_.preempts ? "who interrupts whom elsewhere is not replayed"
                                              : "nodes that are cut are of no place there"));
    }
    scenario.spill_over = {.scope = place == "pool" ? HomeScope::kPool : HomeScope::kRegion,
                           .after_us = *after};
    return {};
  }

  // What is measured besides: how long jobs may wait, and what GPUs draw.
  Result<void> add_limits(Scenario& scenario) const {
    for (const std::string& text : texts_.slos) {
      const std::size_t equals = text.rfind('=');
      const std::string team = equals == std::string::npos ? "" : text.substr(0, equals);
      const auto minutes = parse_number<std::uint32_t>(
          std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1));
      if (!minutes || *minutes > kMinutesMax || equals == 0) {
        return wrong("slo", text,
                     "write TEAM=MINUTES or MINUTES for all others, such as nlp=60 (0 to 44640)");
      }
      const auto is_same = [&](const QueueLimit& other) { return other.team == team; };
      if (std::ranges::any_of(scenario.queue_limits, is_same)) {
        return wrong("slo", text, "there is a limit for these jobs already");
      }
      scenario.queue_limits.push_back(
          {.team = team, .wait_us = std::int64_t{*minutes} * 60 * 1'000'000});
    }
    for (const std::string& text : texts_.power) {
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
        return wrong(
            "power", text,
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
    }
    return {};
  }

  Result<void> check_added(const std::vector<FleetChange>& changes) const {
    std::int64_t added = 0;  // each is at most kNodesMax
    for (const FleetChange& change : changes) added += std::max<std::int64_t>(0, change.nodes);
    if (added <= static_cast<std::int64_t>(kReplayMachinesMax)) return {};
    return wrong("nodes", fmt::format("+{}", added),
                 fmt::format("a scenario adds at most {} nodes in all", kReplayMachinesMax));
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

  Result<std::int64_t> minutes_us(std::uint32_t minutes, std::string_view option) const {
    if (minutes > kMinutesMax) {
      return wrong(option, std::to_string(minutes), "at most 44640 minutes");
    }
    return std::int64_t{minutes} * 60 * 1'000'000;
  }

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

  static constexpr std::int64_t kNodesMax = 100'000;
  const ScenarioTexts& texts_;
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

Result<Questions> parse_questions(const ScenarioTexts& texts) {
  return ScenarioReader(texts).read_questions();
}

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
        std::pair{"slice", &texts.slices}, std::pair{"quota", &texts.quotas},
        std::pair{"off-peak", &texts.windows}, std::pair{"outage", &texts.outages},
        std::pair{"new-team", &texts.new_teams}, std::pair{"repeat", &texts.repeated},
        std::pair{"autoscale", &texts.autoscaled}, std::pair{"slo", &texts.slos},
        std::pair{"power", &texts.power}, std::pair{"commitment-end", &texts.commitments}}) {
    for (const std::string& value : *values) add(key, value);
  }
  if (texts.any_model) line += line.empty() ? "any-model" : ";any-model";
  if (texts.fitted) line += line.empty() ? "fitted" : ";fitted";
  add_text("lengths", texts.lengths, plain.lengths);
  add_text("spot", texts.spot, "");
  add_text("spot-trace", texts.spot_trace, "");
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
      {"weight", &texts.weights},       {"nodes", &texts.nodes},
      {"demand", &texts.demand},        {"price", &texts.prices},
      {"slice", &texts.slices},         {"quota", &texts.quotas},
      {"off-peak", &texts.windows},     {"outage", &texts.outages},
      {"new-team", &texts.new_teams},   {"repeat", &texts.repeated},
      {"autoscale", &texts.autoscaled}, {"slo", &texts.slos},
      {"power", &texts.power},          {"commitment-end", &texts.commitments},
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
          "checkpoint, quota, off-peak, guard, outage, new-team, repeat, autoscale, slo, power, "
          "same-rack, spill-over, fitted, commitment-end, "
          "seeds, demand-range, fewest-nodes, fewest-model, cheapest-tiers, tier-model, committed, "
          "spot-tier, tier-kept, best-mig, mig-model or tries");
    }
  }
  return texts;
}

}  // namespace pennyweight::what_if
