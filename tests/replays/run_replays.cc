// Runs tests/replays/*.case: a few nodes and jobs, what is changed, and what comes of it, as text
// that an accountant can check by hand.
//
// A case is a list of lines, `#` begins a comment:
//   period FROM..TO
//   node NAME gpus=8 [pool= model=]
//   charge NAME FROM..TO USD 96.00 [node=NAME] [tier=on_demand|spot|committed] [unused]
//   job NAME team=nlp gpus=4 (NODE,NODE | anywhere) FROM..TO [submit=TIME] [limit=MINUTES]
//       when it held its GPUs in the month; without submit= it was submitted then
//   used NAME seen=100% used=40%
//       how much of its GPU time telemetry saw, and saw it use
//   policy [unallocated=proportional|even]
//       by which the scenario is divided instead of the month's, which keeps what nobody held apart
//   ran scheduler=… blocked=… placement=…
//       the scheduling that really ran; as `replay --calibrate-…`
//   scenario LINE
//       what is changed, as in a link of the page What if
//   result
//     the expected tables: jobs by when they ran, the GPUs' hours, teams, cost by team and by tier
// Times are 2026-03-01 or 2026-03-01T12:00:00Z. UPDATE_CASES=1 rewrites the results; read the diff
// before you commit it. That GPU-hours add up to the capacity, and costs to the bill, is checked
// with ==.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "core/decimal.h"
#include "insight/what_if/scenario_text.h"
#include "insight/what_if/what_if.h"
#include "ledger/summary.h"

namespace pennyweight::what_if {
namespace {

using ReplayWords = std::vector<std::string>;
using ReplayOptions = std::map<std::string, std::string>;

std::pair<std::string, std::string> cut_at(const std::string& text, const std::string& at) {
  const std::size_t position = text.find(at);
  if (position == std::string::npos) return {text, ""};
  return {text.substr(0, position), text.substr(position + at.size())};
}

Interval span_of(const std::string& text) {
  const auto [from, to] = cut_at(text, "..");
  return {parse_instant(from).value(), parse_instant(to).value()};
}

std::string hours(Int128 milli_us) {
  constexpr Int128 kHour = Int128{1000} * 3600 * 1'000'000;
  const Int128 hundredths = milli_us * 100 / kHour;
  const bool is_exact = hundredths * kHour == milli_us * 100;
  return fmt::format("{}.{:02}{} h", static_cast<std::int64_t>(hundredths / 100),
                     static_cast<std::int64_t>(hundredths % 100), is_exact ? "" : "+");
}

std::string length(std::int64_t us) {
  const std::int64_t minutes = us / 60'000'000;
  const std::int64_t rest = us / 1'000'000 % 60;
  return rest == 0 ? fmt::format("{} min", minutes) : fmt::format("{} min {} s", minutes, rest);
}

class ReplayCase {
 public:
  explicit ReplayCase(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) read(line);
  }

  std::string rendered() const {
    std::string out;
    for (const std::string& line : lines_) {
      out += line + "\n";
      if (line == "result") out += result();
    }
    return out;
  }

 private:
  void read(const std::string& line) {
    if (line.starts_with("  ")) return;  // of a result: written anew
    lines_.push_back(line);
    ReplayWords words;
    std::istringstream in(line.substr(0, line.find('#')));
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty() || words[0] == "result") return;
    if (words[0] == "scenario") {  // its values may have what separates words
      scenario_ = line.substr(line.find("scenario") + 9);
      return;
    }
    ReplayWords plain;
    ReplayOptions options;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto [key, value] = cut_at(words[i], "=");
      if (words[i].find('=') == std::string::npos) {
        plain.push_back(words[i]);
      } else {
        options[key] = value;
      }
    }
    if (words[0] == "period")
      period_ = span_of(plain.at(0));
    else if (words[0] == "node")
      add_node(plain.at(0), options);
    else if (words[0] == "charge")
      add_charge(plain, options);
    else if (words[0] == "job")
      add_job(plain, options);
    else if (words[0] == "used")
      add_used(plain.at(0), options);
    else if (words[0] == "policy")
      set_policy(options);
    else if (words[0] == "ran")
      ran_ = options;
    else
      ADD_FAILURE() << "unknown line: " << line;
  }

  void add_node(const std::string& name, ReplayOptions& options) {
    Node node{.cluster = ClusterId("c"),
              .name = NodeId(name),
              .provider_id = name,
              .instance_type = {},
              .region = {},
              .pool = PoolId(options["pool"]),
              .gpu_model = options.contains("model") ? options["model"] : "A100-SXM4-40GB",
              .gpu_count = static_cast<std::uint32_t>(std::stoul(options.at("gpus"))),
              .cpu_milli = {},
              .memory_bytes = {},
              .from = parse_instant("2020-01-01").value(),
              .to = {},
              .id = {},
              .source = {}};
    node.id = numbered(hash_of("node"), nodes_.size());
    nodes_.push_back(std::move(node));
  }

  void add_charge(const ReplayWords& plain, ReplayOptions& options) {
    const Currency currency = Currency::parse(plain.at(2)).value();
    const Money amount = Money::from_decimal(parse_exact_decimal(plain.at(3)).value(), currency);
    const Interval during = span_of(plain.at(1));
    Charge charge(during, during, {amount, amount, amount, amount});
    charge.charge_description = plain.at(0);
    charge.resource_id = options["node"];
    const std::string tier = options.contains("tier") ? options["tier"] : "on_demand";
    for (const PriceTier& each : kPriceTiers) {
      if (each.tier == tier) charge.pricing_category = each.pricing;
    }
    if (tier == "committed") {
      charge.commitment_discount_id = "commitment";
      charge.commitment_discount_status = std::ranges::find(plain, "unused") == plain.end()
                                              ? UsedOrUnused::kUsed
                                              : UsedOrUnused::kUnused;
    }
    charge.id = numbered(hash_of("charge"), charges_.size());
    charges_.push_back(std::move(charge));
  }

  void add_job(const ReplayWords& plain, ReplayOptions& options) {
    const auto gpus = static_cast<std::uint32_t>(std::stoul(options.at("gpus")));
    Placement placement = InPool{.pools = {}, .devices = gpus};
    if (plain.at(1) != "anywhere") {
      OnNodes on;
      std::istringstream in(plain[1]);
      for (std::string node; std::getline(in, node, ',');) on.parts.push_back({NodeId(node), 0});
      for (OnNodes::NodeDevices& part : on.parts) {
        part.devices = gpus / static_cast<std::uint32_t>(on.parts.size());
      }
      placement = on;
    }
    Holding holding(ClusterId("c"), WorkloadId(plain.at(0)), span_of(plain.at(2)), placement);
    EXPECT_TRUE(holding.labels.set("team", options.at("team")));
    if (options.contains("submit")) {
      const Instant at = parse_instant(options["submit"]).value();
      EXPECT_TRUE(holding.labels.set(kSubmitTimeLabel, to_text(at)));
    }
    if (options.contains("limit")) {
      EXPECT_TRUE(holding.labels.set("time_limit_minutes", options["limit"]));
    }
    holding.id = FactId{natural_key(holding)};
    holdings_.push_back(std::move(holding));
  }

  void add_used(const std::string& job, ReplayOptions& options) {
    const auto ppm = [](const std::string& percent) {
      return static_cast<std::uint32_t>(std::stoul(percent)) * 10'000;
    };
    const std::uint32_t seen = ppm(options.at("seen"));
    measured_.emplace(
        WorkloadId(job),
        MeasuredUse{.seen_ppm = seen, .used_ppm = seen / 100 * (ppm(options.at("used")) / 10'000)});
  }

  static Policy month_policy() {
    Policy policy;
    policy.dimensions = {{"team", {"team"}, "(unowned)"}};
    return policy;
  }

  void set_policy(ReplayOptions& options) {
    policy_ = month_policy();
    SpreadRule rule;
    rule.kind = PostingKind::kUnallocated;
    rule.how = options.at("unallocated") == "even" ? Spread::kEven : Spread::kProportional;
    if (rule.how == Spread::kEven) rule.dimension = "team";
    rule.over = SpreadOver::kMonth;
    policy_->spread.push_back(rule);
  }

  Result<WhatIf> replayed() const {
    const auto word = [&](const char* key, const char* otherwise) {
      const auto found = ran_.find(key);
      return found == ran_.end() ? std::string(otherwise) : found->second;
    };
    auto texts = parse_scenario_line(scenario_);
    if (!texts) return std::unexpected(texts.error());
    auto scenario = parse_scenario(*texts);
    if (!scenario) return std::unexpected(scenario.error());
    auto ran = parse_scheduling(word("scheduler", "fcfs"), word("blocked", "skip"),
                                word("placement", "best-fit"));
    if (!ran) return std::unexpected(ran.error());
    const Catalog catalog = Catalog::built_in();
    return what_if({.month = "2026-03",
                    .period = *period_,
                    .cluster = {.facts = {.cluster = ClusterId("c"),
                                          .charges = charges_,
                                          .nodes = nodes_,
                                          .gpus = {},
                                          .holdings = holdings_,
                                          .catalog = catalog}},
                    .policy = month_policy(),
                    .scenario_policy = policy_,
                    .measured = measured_,
                    .scenario = *scenario,
                    .calibration = *ran});
  }

  std::string moment(std::int64_t us) const {
    return to_text(period_->begin() + std::chrono::milliseconds(us / 1000));
  }

  std::string result() const {
    const auto found = replayed();
    if (!found) return "  refused: " + found.error().message + "\n";
    std::string out = "  jobs\n";
    for (const JobTimes& job : found->times) {
      const std::string gpus = hours(Int128{job.milli_gpus} * Int128{job.held_us});
      if (!job.start_us) {
        out += fmt::format("    {:<10} {:<8} never starts\n", job.name, job.team);
        continue;
      }
      out += fmt::format(
          "    {:<10} {:<8} waits {:<9} runs {} to {}, holds {}{}\n", job.name, job.team,
          length(*job.start_us - job.submit_us) + ",", moment(*job.start_us), moment(job.end_us),
          gpus, job.interruptions == 0 ? "" : fmt::format(", interrupted {} x", job.interruptions));
    }
    out += fmt::format("  {:<12} {:>14} {:>14}\n", "GPU-hours", "as it was", "what if");
    const auto add = [&](const char* name, Int128 JobFigures::* figure) {
      if (found->was.*figure == 0 && found->would_be.*figure == 0) return;
      out += fmt::format("    {:<10} {:>14} {:>14}\n", name, hours(found->was.*figure),
                         hours(found->would_be.*figure));
    };
    add("capacity", &JobFigures::capacity);
    add("held", &JobFigures::held);
    add("idle", &JobFigures::idle);
    add("away", &JobFigures::unavailable);
    add("off", &JobFigures::off);
    add("starting", &JobFigures::starting);
    add("done again", &JobFigures::lost);
    add("unfinished", &JobFigures::unfinished);
    for (const JobFigures* each : {&found->was, &found->would_be}) {
      EXPECT_EQ(to_text(each->held + each->idle + each->unavailable + each->off + each->starting),
                to_text(each->capacity));
    }
    if (found->was.seen > 0) {
      const auto share = [](Int128 part, Int128 whole) {
        return whole == 0 ? std::string("-")
                          : fmt::format("{} %", static_cast<std::int64_t>(part * 100 / whole));
      };
      constexpr Int128 kMillion = 1'000'000;
      const auto add_share = [&](const char* name, auto text) {
        out += fmt::format("    {:<10} {:>14} {:>14}\n", name, text(found->was),
                           text(found->would_be));
      };
      add_share("measured",
                [&](const JobFigures& each) { return share(each.seen, each.held * kMillion); });
      add_share("in use", [&](const JobFigures& each) { return share(each.used, each.seen); });
    }
    add_costs(*found, out);
    return out;
  }

  static void add_costs(const WhatIf& found, std::string& out) {
    std::map<std::string, std::pair<Money, Money>> rows;
    const Money none = Money::zero(kUsd);
    const auto add_team = [&](const MethodCosts& costs, Money std::pair<Money, Money>::* side) {
      for (const CostPart& part : costs.parts) {
        const auto owner = costs.owners.find(part.workload);
        const std::string name = part.workload.empty() ? fmt::format("({})", part.bucket)
                                 : owner == costs.owners.end()
                                     ? "(none)"
                                     : std::string(owner->second.find("team").value_or("(none)"));
        rows.try_emplace(name, none, none).first->second.*side += part.cost;
      }
    };
    using Pair = std::pair<Money, Money>;
    add_team(found.cost_was, &Pair::first);
    add_team(found.cost_would_be, &Pair::second);
    const Pair by_team = add_table("cost by team", rows, out);
    rows.clear();
    for (const auto& [costs, side] : {std::pair{&found.tiers_was, &Pair::first},
                                      std::pair{&found.tiers_would_be, &Pair::second}}) {
      for (const auto& [currency, tiers] : *costs) {
        for (const auto& [tier, cost] : tiers) {
          rows.try_emplace(tier, none, none).first->second.*side += cost;
        }
      }
    }
    const Pair by_tier = add_table("cost by tier", rows, out);
    EXPECT_EQ(by_team, by_tier) << "it is the same money";
  }

  static std::pair<Money, Money> add_table(
      const char* title, const std::map<std::string, std::pair<Money, Money>>& rows,
      std::string& out) {
    std::pair<Money, Money> total{Money::zero(kUsd), Money::zero(kUsd)};
    const auto add = [&](const std::string& name, const std::pair<Money, Money>& cost) {
      out += fmt::format("    {:<24} {:>12} {:>12}\n", name, to_text(cost.first.amount()),
                         to_text(cost.second.amount()));
    };
    out += fmt::format("  {:<26} {:>12} {:>12}\n", title, "as it was", "what if");
    for (const auto& [name, cost] : rows) {
      add(name, cost);
      total.first += cost.first;
      total.second += cost.second;
    }
    add("total", total);
    return total;
  }

  std::vector<std::string> lines_;
  std::optional<Interval> period_;
  std::vector<Node> nodes_;
  std::vector<Charge> charges_;
  std::vector<Holding> holdings_;
  std::map<WorkloadId, MeasuredUse> measured_;
  std::optional<Policy> policy_;
  ReplayOptions ran_;
  std::string scenario_;
};

TEST(Replays, ComeOutAsWritten) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PROJECT_ROOT "/tests/replays")) {
    if (entry.path().extension() != ".case") continue;
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::string rendered = ReplayCase(text).rendered();
    if (std::getenv("UPDATE_CASES") != nullptr) std::ofstream(entry.path()) << rendered;
    EXPECT_EQ(rendered, text);
    ++count;
  }
  EXPECT_GE(count, 6u);
}

}  // namespace
}  // namespace pennyweight::what_if
