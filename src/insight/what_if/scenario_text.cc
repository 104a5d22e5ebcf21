#include "insight/what_if/scenario_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <system_error>

#include "core/ascii.h"
#include "core/gpu/gpu_model.h"
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
    if (texts_.depth == 0 || texts_.depth > kDepthMax) {
      return wrong("depth", std::to_string(texts_.depth), "write a number from 1 to 1000000");
    }
    scenario.scheduling.depth = texts_.depth;
    scenario.scheduling.seed = texts_.seed;
    if (texts_.restart_s && !texts_.preempts && texts_.spot.empty()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{0}restart is what an interruption costs; give {0}preempt or {0}spot "
                      "too",
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
    scenario.any_model = texts_.any_model;
    scenario.uses_limits = TRY(parse_lengths(texts_.lengths));
    TRY(add_spot(scenario));
    return scenario;
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

  Result<void> add_spot(Scenario& scenario) const {
    if (texts_.spot.empty()) {
      if (!texts_.replaced_min && !texts_.checkpoint_min) return {};
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}{1} is about spot capacity; give {0}spot too", texts_.dashes,
                              texts_.replaced_min ? "replaced-after" : "checkpoint"));
    }
    if (texts_.preempts) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}spot can't be combined with {0}preempt: a replay interrupts for "
                              "one reason only",
                              texts_.dashes));
    }
    const std::uint32_t replaced = texts_.replaced_min.value_or(kReplacedMinutes);
    const std::uint32_t checkpoint = texts_.checkpoint_min.value_or(kCheckpointMinutes);
    if (replaced > kMinutesMax) {
      return wrong("replaced-after", std::to_string(replaced), "at most 44640 minutes");
    }
    if (checkpoint > kMinutesMax) {
      return wrong("checkpoint", std::to_string(checkpoint), "at most 44640 minutes");
    }
    scenario.spot = TRY(read_spot());
    scenario.spot.replaced_after_us = std::int64_t{replaced} * 60 * 1'000'000;
    scenario.spot.checkpoint_every_us = std::int64_t{checkpoint} * 60 * 1'000'000;
    scenario.spot.seed = texts_.seed;
    return {};
  }

  // "H100-SXM5-80GB=0.5%", "2%": percent up to 100 with up to four decimals.
  Result<SpotChange> read_spot() const {
    constexpr std::size_t kDecimals = 4;
    const std::string& text = texts_.spot;
    const std::size_t equals = text.rfind('=');
    SpotChange change;
    if (equals != std::string::npos) change.gpu_model = text.substr(0, equals);
    std::string number = text.substr(equals == std::string::npos ? 0 : equals + 1);
    const auto misread = [&] {
      return wrong(
          "spot", text,
          "write MODEL=PERCENT% or PERCENT% for all nodes, the share of them that is taken "
          "back each hour, such as H100-SXM5-80GB=0.5% (0.0001% to 100%)");
    };
    if (!number.ends_with('%')) return misread();
    number.pop_back();
    const std::size_t point = number.find('.');
    std::string decimals = point == std::string::npos ? "" : number.substr(point + 1);
    if (point != std::string::npos && (decimals.empty() || decimals.size() > kDecimals)) {
      return misread();
    }
    decimals.resize(kDecimals, '0');
    const auto whole = parse_number<std::uint32_t>(std::string_view(number).substr(0, point));
    const auto rest = parse_number<std::uint32_t>(decimals);
    if (!whole || !rest || *whole > 100) return misread();
    change.reclaimed_per_hour = *whole * 10'000 + *rest;
    if (change.reclaimed_per_hour == 0 || change.reclaimed_per_hour > replay::kReclaimParts) {
      return misread();
    }
    TRY(check_model(change.gpu_model, "spot", text));
    return change;
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
                                                         {"spot", &texts.spot}};
  const std::map<std::string_view, std::vector<std::string>*> many = {
      {"weight", &texts.weights}, {"nodes", &texts.nodes},  {"demand", &texts.demand},
      {"price", &texts.prices},   {"slice", &texts.slices},
  };
  const std::map<std::string_view, std::function<void(std::uint32_t)>> numbers = {
      {"restart", [&](std::uint32_t number) { texts.restart_s = number; }},
      {"depth", [&](std::uint32_t number) { texts.depth = number; }},
      {"seed", [&](std::uint32_t number) { texts.seed = number; }},
      {"replaced-after", [&](std::uint32_t number) { texts.replaced_min = number; }},
      {"checkpoint", [&](std::uint32_t number) { texts.checkpoint_min = number; }}};
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
    if (const auto list = many.find(key); list != many.end()) {
      if (value.empty()) return wrong("it has no value");
      list->second->push_back(value);
      continue;
    }
    if (!seen.insert(key).second) return wrong("it is there twice");
    if (key == "preempt" || key == "any-model") {
      if (equals != std::string_view::npos) return wrong("it has no value");
      (key == "preempt" ? texts.preempts : texts.any_model) = true;
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
          "weight, "
          "nodes, demand, price, slice, any-model, lengths, spot, replaced-after or checkpoint");
    }
  }
  return texts;
}

}  // namespace pennyweight::what_if
