// Options about teams and their jobs: who has how many, on what, when, and how long they may wait.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/try.h"
#include "insight/replay/cluster_state.h"
#include "insight/what_if/option_reader.h"

namespace pennyweight::what_if {
namespace {

class TeamOptions : public OptionReader {
 public:
  using OptionReader::OptionReader;

  Result<void> read(Scenario& scenario) const {
    for (const std::string& text : texts_.weights) TRY(add_weight(text, scenario));
    for (const std::string& text : texts_.demand) TRY(add_demand(text, scenario));
    for (const std::string& text : texts_.slices) {
      scenario.slices.push_back(TRY(read_slice(text)));
    }
    TRY(add_admission(scenario));
    for (const std::string& text : texts_.new_teams) {
      scenario.new_teams.push_back(TRY(read_new_team(text)));
    }
    for (const std::string& text : texts_.repeated) {
      scenario.repeated.push_back(TRY(read_repeated(text)));
    }
    for (const std::string& text : texts_.slos) TRY(add_limit(text, scenario));
    return {};
  }

 private:
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

  Result<void> add_demand(const std::string& text, Scenario& scenario) const {
    const NamedPercent share = TRY(read_percent(text, "demand"));
    // Of everybody it may be given again, and multiplies: of one team that is a mistake.
    const auto is_same = [&](const auto& other) { return other.team == share.name; };
    if (!share.name.empty() && std::ranges::any_of(scenario.demand, is_same)) {
      return wrong("demand", text, "this team has a demand already");
    }
    scenario.demand.push_back({share.name, share.percent});
    return {};
  }

  // "nlp=1g.5gb@120%", "1g.5gb", "nlp=1g.5gb@120%/08:00-20:00".
  Result<SliceChange> read_slice(const std::string& text) const {
    SliceChange change;
    std::string rest = text;
    // A team may have a slash in its name, and a profile has none.
    const std::size_t profile = rest.rfind('=');
    const std::size_t slash = rest.find('/', profile == std::string::npos ? 0 : profile);
    if (slash != std::string::npos) {
      change.window = parse_window(std::string_view(rest).substr(slash + 1));
      if (!change.window) {
        return wrong("slice", text,
                     "after '/' stands the part of the day in UTC in which such jobs come, such as "
                     "08:00-20:00");
      }
      rest.resize(slash);
    }
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

  // "acme=nlp@50%": a team that is not there yet.
  Result<NewTeam> read_new_team(const std::string& text) const {
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
    return team;
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

  // How long jobs may wait.
  Result<void> add_limit(const std::string& text, Scenario& scenario) const {
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
    return {};
  }
};

}  // namespace

Result<void> read_team_options(const ScenarioTexts& texts, Scenario& scenario) {
  return TeamOptions(texts).read(scenario);
}

}  // namespace pennyweight::what_if
