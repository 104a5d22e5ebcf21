#include "insight/queries/advice_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "core/billing_period.h"
#include "core/decimal.h"
#include "core/try.h"
#include "insight/advice/commitments.h"
#include "insight/queries/activity_windows.h"
#include "reporting/number_format.h"
#include "reporting/queries/holding_dimensions.h"
#include "reporting/queries/ledger_month.h"

namespace pennyweight {
namespace {

using advising::Proposal;

constexpr int kAdviceDigits = 2;
constexpr std::string_view kMeteredCost = "effective";
constexpr std::size_t kMeteredSeriesMax = 200;
constexpr std::string_view kOtherTeams = "(others)";
constexpr std::size_t kTeamsNamedMax = 10;
constexpr std::size_t kFirstMoney = 5;  // the column "low"; after it "expected" and "high"

Result<Money Costs::*> cost_of_name(const std::string& name) {
  if (name == "effective") return &Costs::effective;
  if (name == "billed") return &Costs::billed;
  if (name == "list") return &Costs::list;
  if (name == "contracted") return &Costs::contracted;
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a cost; use effective, billed, list or contracted", name));
}

std::string shown(const Money& money) {
  return fmt::format("{} {}", format_rounded(money.amount(), kAdviceDigits, Thousands::kSeparated),
                     money.currency().text());
}

Result<std::string> chosen_month(const StoreOverview& overview, const std::string& asked) {
  if (overview.months.empty()) {
    return fail(ErrorCode::kNotFound, "the ledger has no charges: import a bill");
  }
  if (asked.empty()) return overview.months.back();
  if (std::ranges::find(overview.months, asked) == overview.months.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there are no charges in {}; there are in {}",
                                                  asked, fmt::join(overview.months, ", ")));
  }
  return asked;
}

Table table_of(const AdviceResult& result, Currency currency) {
  Table table;
  table.title = fmt::format("Advice from {}, {} a month of {} hours", result.month, currency.text(),
                            advising::kHoursPerMonth);
  table.currency = currency;
  table.columns = {
      {"id", "id", ColumnKind::kId},
      {"kind", "kind", ColumnKind::kText},
      {"cluster", "cluster", ColumnKind::kText},
      {"subject", "what", ColumnKind::kText},
      {"change", "change", ColumnKind::kText},
      {"low", "low", ColumnKind::kMoney},
      {"expected", "expected", ColumnKind::kMoney},
      {"high", "high", ColumnKind::kMoney},
      {"confidence", "confidence", ColumnKind::kText},
      {"in_total", "in total", ColumnKind::kText},
      {"team", result.team_dimension.empty() ? "team" : result.team_dimension, ColumnKind::kText},
      {"effort", "effort", ColumnKind::kText},
      {"state", "state", ColumnKind::kText}};

  return table;
}

// It was followed before the month began.
bool is_found_again(const std::string& month, const advising::AdviceLife& life) {
  if (life.state != advising::AdviceState::kDone &&
      life.state != advising::AdviceState::kVerified) {
    return false;
  }
  const AdviceStep* done = life.done();
  const auto begin = parse_date(month + "-01");
  return done != nullptr && begin && *done->day <= *begin;
}

// What was decided about it, each step in a row.
void add_life(Table& table, const AdviceResult& result, const std::string& id, bool has_proposal) {
  const auto life = result.lives.find(id);
  const auto state = life == result.lives.end() ? advising::AdviceState::kNew : life->second.state;
  const bool is_again =
      has_proposal && life != result.lives.end() && is_found_again(result.month, life->second);
  if (is_again) {
    table.rows.push_back(
        {std::string("evidence"),
         fmt::format("it was {} before {}: what is found there is left over or came back",
                     to_text(state), result.month)});
  }
  table.rows.push_back(
      {std::string("state"), std::string(to_text(is_again ? advising::AdviceState::kNew : state))});
  if (life == result.lives.end()) return;
  for (const AdviceStep& step : life->second.steps) {
    std::string text =
        fmt::format("{} by {} at {}", to_text(step.action), step.by, to_text(step.at));
    if (step.day) {
      text += fmt::format(", {} {}",
                          step.action == AdviceAction::kDismiss  ? "until"
                          : step.action == AdviceAction::kVerify ? "with days up to"
                                                                 : "in effect since",
                          to_text(*step.day));
    }
    if (!step.reason.empty()) text += ": " + step.reason;
    table.rows.push_back({std::string("decided"), std::move(text)});
    if (step.realised) {
      table.rows.push_back({std::string("realised a month"), shown(*step.realised)});
    }
    for (const std::string& finding : step.findings) {
      table.rows.push_back({std::string("found"), finding});
    }
  }
}

// An advice that the month no longer gives, and that something was decided about.
Result<Table> decided_detail(const AdviceResult& result, const std::string& id) {
  const AdviceStep* step = nullptr;
  for (const auto& [known, life] : result.lives) {
    if (id.empty() || !known.starts_with(id)) continue;
    if (step != nullptr) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("'{}' begins the ids of several advices: {} and {}", id, step->advice,
                              known));
    }
    step = life.last();
  }
  if (step == nullptr) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no advice of {} has the id '{}'", result.month, id));
  }
  Table table;
  table.title = fmt::format("Advice {} from {}", step->advice, step->month);
  table.currency = step->expected.currency();
  table.columns = {{"field", "", ColumnKind::kText}, {"value", "", ColumnKind::kId}};
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) table.rows.push_back({std::string(name), std::move(value)});
  };
  add("id", step->advice);
  add("change", step->change);
  add("kind", step->kind);
  add("cluster", step->cluster);
  add("what", step->subject);
  add("saves a month", fmt::format("{} (low {}, high {}), as of {}", shown(step->expected),
                                   shown(step->low), shown(step->high), step->month));
  add("workload", step->workload);
  for (const auto& [dimension, value] : step->owner.entries()) {
    if (value != kNoValue) table.rows.push_back({dimension, value});
  }
  add("evidence",
      fmt::format("{} no longer has this advice; it is shown as it was decided", result.month));
  add_life(table, result, step->advice, false);
  return table;
}

}  // namespace

Result<void> check_advice_words(const AdviceQuery& query) {
  for (const std::string& kind : query.kinds) {
    if (!advising::parse_advice_kind(kind)) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("kind '{}' is none of {}", kind,
                              fmt::join(advising::advice_kind_names(), ", ")));
    }
  }
  if (!query.effort.empty() && !advising::parse_effort(query.effort)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not an effort; use low, medium or high", query.effort));
  }
  if (!query.confidence.empty() && !advising::parse_confidence(query.confidence)) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("confidence: '{}' is not a level of confidence; use low, medium or high",
                    query.confidence));
  }
  return {};
}

std::optional<Interval> billed_span(std::span<const Charge> charges) {
  std::optional<Interval> span;
  for (const Charge& charge : charges) {
    if (charge.charge_category != ChargeCategory::kUsage) continue;
    const auto period = charge.charge_period.overlap(charge.billing_period);
    if (!period) continue;
    span = span ? Interval(std::min(span->begin(), period->begin()),
                           std::max(span->end(), period->end()))
                : period;
  }
  return span;
}

std::string team_dimension_of(const Policy& policy) {
  const auto team = std::ranges::find(policy.dimensions, "team", &DimensionRule::dimension);
  if (team != policy.dimensions.end()) return team->dimension;
  return policy.dimensions.empty() ? std::string() : policy.dimensions.front().dimension;
}

std::string team_of(const AdviceResult& result, const Proposal& proposal) {
  return team_of(proposal.owner, result.team_dimension);
}

std::string team_of(const Labels& owner, std::string_view team_dimension) {
  const auto value = owner.find(team_dimension);
  return value && *value != kNoValue ? std::string(*value) : std::string();
}

Result<std::vector<AdviceStep>> query_advice_steps(Store& store) {
  const auto imports = TRY(store.imports());
  std::vector<AdviceStep> steps;
  for (const ImportRecord& import : imports) {
    if (import.source.format != kAdviceStepFormat) continue;
    auto step = TRY(parse_advice_step(import.statement));
    if (step) steps.push_back(*std::move(step));
  }
  return steps;
}

advising::AdviceState state_of(const AdviceResult& result, const Proposal& proposal) {
  const auto life = result.lives.find(proposal.id);
  if (life == result.lives.end() || is_found_again(result.month, life->second)) {
    return advising::AdviceState::kNew;
  }
  return life->second.state;
}

void keep_asked_lives(std::map<std::string, advising::AdviceLife>& lives, const AdviceQuery& query,
                      std::string_view team_dimension) {
  std::erase_if(lives, [&](const auto& entry) {
    const AdviceStep& step = *entry.second.last();
    const bool is_kind =
        query.kinds.empty() || std::ranges::find(query.kinds, step.kind) != query.kinds.end();
    const bool is_cluster = query.cluster.empty() || step.cluster == query.cluster;
    const bool is_team = query.team.empty() || team_of(step.owner, team_dimension) == query.team;
    return !is_kind || !is_cluster || !is_team;
  });
}

advising::Portfolio open_portfolio(const AdviceResult& result) {
  std::vector<Proposal> open;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    const advising::AdviceState state = state_of(result, result.proposals[i]);
    if (state == advising::AdviceState::kDone || state == advising::AdviceState::kVerified ||
        state == advising::AdviceState::kDismissed) {
      continue;
    }
    open.push_back(result.proposals[i]);
    places.push_back(i);
  }
  advising::Portfolio portfolio = advising::combine(open);
  std::vector<bool> chosen(result.proposals.size());
  for (std::size_t i = 0; i < places.size(); ++i) chosen[places[i]] = portfolio.chosen[i];
  portfolio.chosen = std::move(chosen);
  return portfolio;
}

Result<void> keep_asked(AdviceResult& result, const AdviceQuery& query) {
  TRY(check_advice_words(query));
  const auto effort = advising::parse_effort(query.effort);
  const auto at_least = advising::parse_confidence(query.confidence);
  std::erase_if(result.proposals, [&](const Proposal& proposal) {
    if (!query.kinds.empty() &&
        std::ranges::find(query.kinds, advising::to_text(proposal.kind)) == query.kinds.end()) {
      return true;
    }
    if (!query.team.empty() && team_of(result, proposal) != query.team) return true;
    if (effort && advising::effort_of(proposal.kind) > *effort) return true;
    return at_least && proposal.confidence < *at_least;
  });
  return {};
}

namespace {

advising::WorkManager manager_of(std::span<const ClusterConfig> clusters,
                                 const ClusterId& cluster) {
  const auto found = std::ranges::find(clusters, cluster, &ClusterConfig::name);
  if (found == clusters.end()) return advising::WorkManager::kUnknown;
  switch (found->kind) {
    case ClusterKind::kSlurm:
      return advising::WorkManager::kSlurm;
    case ClusterKind::kKubernetes:
      return advising::WorkManager::kKubernetes;
    case ClusterKind::kUnknown:
      break;
  }
  return advising::WorkManager::kUnknown;
}

Result<void> check_team(const AdviceQuery& query, const AdviceResult& result,
                        const std::set<std::string>& teams) {
  if (query.team.empty() || !query.knows_teams || teams.contains(query.team)) return {};
  if (result.team_dimension.empty()) {
    return fail(ErrorCode::kBadValue, "team: the policy has no dimensions, and so no teams");
  }
  std::vector<std::string> names(teams.begin(), teams.end());
  const std::size_t more = names.size() > kTeamsNamedMax ? names.size() - kTeamsNamedMax : 0;
  names.resize(names.size() - more);
  return fail(ErrorCode::kBadValue,
              fmt::format("team: no job or pod of {} has the {} '{}'; there {}{}", result.month,
                          result.team_dimension, query.team,
                          names.empty() ? "is none" : fmt::format("is {}", fmt::join(names, ", ")),
                          more == 0 ? "" : fmt::format(" and {} more", more)));
}

Result<WorkedOutAdvice> work_out_advice(Store& store, const AdviceCache::Key& key,
                                        const AdviceSettings& settings) {
  ActivityKeep* keep = settings.cache == nullptr ? nullptr : &settings.cache->activity();
  const auto cost = TRY(cost_of_name(key.cost));
  const std::string team_dimension = team_dimension_of(settings.policy);
  WorkedOutAdvice all;
  auto month = TRY(LedgerMonth::load(store, key.month, settings.join_rules));
  // Commitments that nothing used name no node, so most of them are of no cluster.
  std::optional<Interval> span;
  for (const ClusterId& cluster : month.clusters()) {
    const auto billed = billed_span(month.charges(cluster));
    if (!billed) continue;
    span = span ? Interval(std::min(span->begin(), billed->begin()),
                           std::max(span->end(), billed->end()))
                : billed;
  }
  if (key.cluster.empty() && span) {
    all.proposals =
        advising::find_unused_commitments(ClusterId(""), month.charges(ClusterId("")), cost, *span);
  }
  for (const ClusterId& cluster : month.clusters()) {
    if (cluster.empty()) continue;
    all.clusters.push_back(cluster.text());
    if (!key.cluster.empty() && cluster.text() != key.cluster) continue;
    const ClusterFacts facts = TRY(month.take_facts(store, cluster));
    const auto period = billed_span(facts.charges);
    if (!period) continue;
    const ClusterMonth cluster_month{.cluster = cluster,
                                     .charges = facts.charges,
                                     .nodes = facts.nodes,
                                     .gpus = facts.gpus,
                                     .holdings = facts.holdings,
                                     .catalog = settings.catalog,
                                     .join_rules = settings.join_rules};
    // A reading before the period may hold into it.
    const std::chrono::milliseconds before(
        std::max(settings.policy.usage.hold_ms(), kUsageSpanMaxMs));
    const Interval sampled(period->begin() - before, period->end());
    advising::Advice advice = TRY(advising::advise(
        {.facts = cluster_month,
         .outages = facts.outages,
         .policy = settings.policy,
         .period = *period,
         .prices_at = key.prices_at,
         .cost = cost,
         .manager = manager_of(settings.clusters, cluster),
         .team_dimension = team_dimension,
         .telemetry = [&](advising::ActivityProfiles& profiles) {
           return read_activity(
               store,
               {.cluster = cluster, .month = key.month, .sampled = sampled, .end = period->end()},
               keep, profiles);
         }}));
    std::move(advice.proposals.begin(), advice.proposals.end(), std::back_inserter(all.proposals));
    all.teams.merge(advice.teams);
    all.teams.erase(kNoValue);
    for (const std::string& gap : advice.gaps) {
      all.gaps.push_back(fmt::format("{}: {}", cluster.text(), gap));
    }
  }
  return all;
}

// Of what can be followed together and is not done yet.
SavingsByTeam savings_by_team(const AdviceResult& result) {
  const advising::Portfolio portfolio = open_portfolio(result);
  SavingsByTeam savings;
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    if (!portfolio.chosen[i]) continue;
    const Proposal& each = result.proposals[i];
    const Money& expected = each.monthly.expected;
    savings
        .try_emplace(
            {std::string(advising::to_text(each.kind)), team_of(result, each), expected.currency()},
            Money::zero(expected.currency()))
        .first->second += expected;
  }
  // A bounded number of series, whatever the label rules give.
  std::vector<std::pair<SavingsKey, Money>> order(savings.begin(), savings.end());
  std::ranges::stable_sort(
      order, [](const auto& a, const auto& b) { return a.second.ticks() > b.second.ticks(); });
  for (std::size_t i = kMeteredSeriesMax; i < order.size(); ++i) {
    const auto& [key, money] = order[i];
    savings.erase(key);
    savings
        .try_emplace({key.kind, std::string(kOtherTeams), key.currency}, Money::zero(key.currency))
        .first->second += money;
  }
  return savings;
}

}  // namespace

Result<AdviceResult> query_advice(Store& store, const AdviceQuery& query,
                                  const AdviceSettings& settings) {
  TRY(check_advice_words(query));
  std::ignore = TRY(cost_of_name(query.cost));
  AdviceResult result;
  result.team_dimension = team_dimension_of(settings.policy);
  const auto overview = TRY(store.overview());
  const auto month_name = TRY(chosen_month(overview, query.month));
  result.month = month_name;
  // List prices change from one day to another, so an hour's are the same.
  const AdviceCache::Key key{.month = result.month,
                             .cluster = query.cluster,
                             .cost = query.cost,
                             .prices_at = std::chrono::floor<std::chrono::hours>(query.prices_at)};
  const auto work_out = [&] { return work_out_advice(store, key, settings); };
  const std::shared_ptr<const WorkedOutAdvice> worked_out =
      settings.cache != nullptr ? TRY(settings.cache->get(store, key, work_out))
                                : std::make_shared<const WorkedOutAdvice>(TRY(work_out()));
  result.proposals = worked_out->proposals;
  result.gaps = worked_out->gaps;
  if (!query.cluster.empty() &&
      std::ranges::find(worked_out->clusters, query.cluster) == worked_out->clusters.end()) {
    return fail(ErrorCode::kBadValue,
                fmt::format("there is no cluster '{}' in {}; there is {}", query.cluster,
                            result.month, fmt::join(worked_out->clusters, ", ")));
  }
  TRY(check_team(query, result, worked_out->teams));
  const auto steps = TRY(query_advice_steps(store));
  result.lives = advising::lives_of(steps, query.today);
  const bool is_newest = result.month == overview.months.back() && query.cluster.empty();
  // Not at the prices of another day, which somebody chose. `today` is a day of a time zone.
  const auto priced_on = std::chrono::floor<std::chrono::days>(query.prices_at);
  const bool is_now = priced_on + std::chrono::days(1) >= query.today &&
                      priced_on <= query.today + std::chrono::days(1);
  if (settings.cache != nullptr && is_newest && is_now && query.cost == kMeteredCost) {
    settings.cache->keep_savings(savings_by_team(result));
  }
  if (!query.dismissed) {
    result.dismissed = std::erase_if(result.proposals, [&](const Proposal& proposal) {
      return state_of(result, proposal) == advising::AdviceState::kDismissed;
    });
  }
  TRY(keep_asked(result, query));
  advising::rank(result.proposals);
  return result;
}

Result<void> convert_advice(AdviceResult& result, const AdviceConversion& convert) {
  for (Proposal& each : result.proposals) {
    for (Money* const amount : {&each.monthly.low, &each.monthly.expected, &each.monthly.high,
                                &each.observed, &each.moved}) {
      *amount = TRY(convert(*amount));
    }
  }
  advising::rank(result.proposals);
  return {};
}

std::vector<Table> advice_tables(const AdviceResult& result) {
  const advising::Portfolio portfolio = open_portfolio(result);
  const auto in_total = [&](std::size_t i) -> std::string {
    if (portfolio.chosen[i]) return "yes";
    const advising::AdviceState state = state_of(result, result.proposals[i]);
    const bool is_open =
        state == advising::AdviceState::kNew || state == advising::AdviceState::kAccepted;
    return is_open ? "instead" : std::string(to_text(state));
  };
  std::vector<Table> tables;
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    const Proposal& each = result.proposals[i];
    const Currency currency = each.monthly.expected.currency();
    if (tables.empty() || tables.back().currency != currency) {
      tables.push_back(table_of(result, currency));
    }
    tables.back().rows.push_back(
        {each.id, std::string(advising::to_text(each.kind)), each.cluster.text(), each.subject,
         each.change, each.monthly.low, each.monthly.expected, each.monthly.high,
         std::string(advising::to_text(each.confidence)), in_total(i), team_of(result, each),
         std::string(to_text(advising::effort_of(each.kind))),
         std::string(to_text(state_of(result, each)))});
  }
  for (Table& table : tables) {
    for (const advising::MonthlySaving& total : portfolio.totals) {
      if (total.expected.currency() != table.currency) continue;
      table.total = Row(table.columns.size(), std::string());
      table.total->front() = std::string("total");
      (*table.total)[kFirstMoney] = total.low;
      (*table.total)[kFirstMoney + 1] = total.expected;
      (*table.total)[kFirstMoney + 2] = total.high;
    }
    table.notes.push_back(
        "The total has what can be followed together; 'instead' stands for an alternative to a "
        "row above it, and is not in it.");
  }
  if (tables.empty()) {
    Table none;
    none.title = fmt::format("Advice from {}", result.month);
    none.columns = {{"id", "id", ColumnKind::kId}};
    none.notes.push_back("There is nothing to advise from what the ledger has.");
    tables.push_back(std::move(none));
  }
  if (result.dismissed > 0) {
    tables.back().notes.push_back(
        counted(result.dismissed, "advice") +
        " dismissed and not shown; --dismissed, and in the API dismissed=true, shows it");
  }
  for (const std::string& gap : result.gaps) tables.back().notes.push_back(gap);
  return tables;
}

Result<const Proposal*> find_proposal(const AdviceResult& result, const std::string& id) {
  const Proposal* found = nullptr;
  for (const Proposal& each : result.proposals) {
    if (id.empty() || !each.id.starts_with(id)) continue;
    if (found != nullptr) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("'{}' begins the ids of several pieces of advice for {}: {} and {}",
                              id, result.month, found->id, each.id));
    }
    found = &each;
  }
  return found;
}

Result<Table> advice_detail(const AdviceResult& result, const std::string& id) {
  const Proposal* found = TRY(find_proposal(result, id));
  if (found == nullptr) return decided_detail(result, id);
  Table table;
  table.title = fmt::format("Advice {} from {}", found->id, result.month);
  table.currency = found->monthly.expected.currency();
  table.columns = {{"field", "", ColumnKind::kText}, {"value", "", ColumnKind::kId}};
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) table.rows.push_back({std::string(name), std::move(value)});
  };
  add("id", found->id);
  add("change", found->change);
  add("kind", std::string(advising::to_text(found->kind)));
  add("cluster", found->cluster.text());
  add("what", found->subject);
  add("saves a month", fmt::format("{} (low {}, high {})", shown(found->monthly.expected),
                                   shown(found->monthly.low), shown(found->monthly.high)));
  add("in the period", shown(found->observed));
  if (!found->moved.is_zero()) add("moves to nobody", shown(found->moved));
  add("figures from", std::string(advising::to_text(found->basis)));
  add("confidence",
      fmt::format("{}: {}", advising::to_text(found->confidence), found->confidence_reason));
  add("effort", std::string(to_text(advising::effort_of(found->kind))));
  add("workload", found->workload.text());
  for (const auto& [dimension, value] : found->owner.entries()) {
    if (value != kNoValue) table.rows.push_back({dimension, value});
  }
  for (const std::string& line : found->evidence) add("evidence", line);
  add("risk", found->risk);
  for (std::size_t begin = 0; begin < found->apply.size();) {
    const std::size_t end = std::min(found->apply.find('\n', begin), found->apply.size());
    table.rows.push_back({std::string("apply"), found->apply.substr(begin, end - begin)});
    begin = end + 1;
  }
  add_life(table, result, found->id, true);
  return table;
}

}  // namespace pennyweight
