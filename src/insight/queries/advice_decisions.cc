#include "insight/queries/advice_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/json_text.h"
#include "core/try.h"
#include "insight/queries/advice_verification.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using advising::AdviceLife;
using advising::AdviceState;

constexpr std::string_view kFleetTeam = "(fleet)";

// The life whose id begins so; null: none. kNotFound: several.
Result<const AdviceLife*> find_life(const std::map<std::string, AdviceLife>& lives,
                                    const std::string& id) {
  const AdviceLife* found = nullptr;
  for (auto at = lives.lower_bound(id); at != lives.end() && at->first.starts_with(id); ++at) {
    if (found != nullptr) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("'{}' begins the ids of several advices: {} and {}", id,
                              found->last()->advice, at->first));
    }
    found = &at->second;
  }
  return found;
}

// The month of an instant or a day, "2026-03".
std::string month_text(Date day) { return to_text(day).substr(0, 7); }
std::string month_text(Instant at) { return month_text(std::chrono::floor<std::chrono::days>(at)); }

struct Progress {
  Money found, accepted, done, realised;
};

}  // namespace

Result<AdviceStep> prepare_advice_step(Store& store, const AdviceDecision& decision,
                                       const AdviceQuery& query, const AdviceSettings& settings,
                                       const MayDecide& may) {
  const auto none = [&] {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no advice{} has the id '{}': 'pennyweight advise' lists those of the last "
                    "month, and --month those of another",
                    query.month.empty() ? std::string() : " of " + query.month, decision.id));
  };
  if (decision.id.empty()) return none();
  const auto steps = TRY(query_advice_steps(store));
  const auto lives = advising::lives_of(steps, decision.today);
  const AdviceLife* life = TRY(find_life(lives, decision.id));
  std::optional<AdviceStep> step;
  bool is_new = life == nullptr;
  // What was decided last says what it is about; a new decision takes the newest figures.
  const bool takes_figures =
      decision.action == AdviceAction::kAccept || decision.action == AdviceAction::kDismiss;
  if (life == nullptr || takes_figures) {
    AdviceQuery all = query;
    all.kinds.clear();
    all.team.clear();
    all.effort.clear();
    all.confidence.clear();
    all.dismissed = true;
    const auto result = query_advice(store, all, settings);
    if (!result) {
      if (life == nullptr) return std::unexpected(result.error());
    } else {
      std::size_t fitting = 0;
      for (const advising::Proposal& proposal : result->proposals) {
        if (!proposal.id.starts_with(decision.id)) continue;
        ++fitting;
        is_new = is_new || state_of(*result, proposal) == AdviceState::kNew;
        step = advising::step_about(proposal, decision.action, result->month);
      }
      const bool is_another =
          fitting == 1 && life != nullptr && step->advice != life->last()->advice;
      if (fitting > 1 || is_another) {
        return fail(
            ErrorCode::kNotFound,
            fmt::format("'{}' begins the ids of several advices; give more of it", decision.id));
      }
    }
  }
  if (!step && life == nullptr) return none();
  if (!step) step = advising::step_after(*life->last(), decision.action);
  if (may && !may(*step)) return none();
  step->by = decision.by;
  step->at = decision.at;
  step->reason = decision.reason;
  step->day = decision.day;
  if (step->action == AdviceAction::kDone && !step->day) step->day = decision.today;
  static const AdviceLife kNewLife;
  const AdviceLife& known = is_new ? kNewLife : *life;
  TRY(advising::check_step(known, *step, decision.today));
  if (step->action == AdviceAction::kVerify) {
    const AdviceStep* done = known.done();
    if (done == nullptr) {
      return fail(ErrorCode::kConflict, "say first since when it is in effect");
    }
    auto verified = TRY(verify_advice(store, *done, settings.policy, decision.today));
    step->realised = verified.realised;
    step->day = verified.last_day;
    step->findings = std::move(verified.findings);
  }
  return *std::move(step);
}

Result<void> write_advice_step(Store& store, const AdviceStep& step) {
  const auto session = TRY(store.begin_import(
      {.format = std::string(kAdviceStepFormat),
       .name = fmt::format("advice {}: {} by {}", step.advice, to_text(step.action), step.by),
       .file_hash = {},
       .at = step.at,
       .reason = step.reason}));
  std::ignore = TRY(session->commit_on({.statement = to_text(step)}));
  return {};
}

std::string advice_step_facts(const AdviceStep& step) {
  std::string out = "{";
  const auto field = [&](std::string_view name, std::string_view value) {
    if (out.size() > 1) out += ',';
    out += json_string(name) + ':' + json_string(value);
  };
  field("advice", step.advice);
  field("action", to_text(step.action));
  field("at", to_text(step.at));
  field("by", step.by);
  field("reason", step.reason);
  if (step.day) field("day", to_text(*step.day));
  field("month", step.month);
  field("kind", step.kind);
  field("cluster", step.cluster);
  field("subject", step.subject);
  field("change", step.change);
  field("currency", step.expected.currency().text());
  field("expected", to_text(step.expected.amount()));
  if (step.realised) field("realised", to_text(step.realised->amount()));
  out += ",\"findings\":[";
  for (std::size_t i = 0; i < step.findings.size(); ++i) {
    out += (i == 0 ? "" : ",") + json_string(step.findings[i]);
  }
  return out + "]}";
}

Table advice_decisions_table(const std::map<std::string, AdviceLife>& lives,
                             const std::string& team_dimension, bool is_narrowed) {
  Table table;
  table.title = "Advice that something was decided about";
  table.columns = {{"id", "id", ColumnKind::kId},
                   {"state", "state", ColumnKind::kText},
                   {"kind", "kind", ColumnKind::kText},
                   {"cluster", "cluster", ColumnKind::kText},
                   {"subject", "what", ColumnKind::kText},
                   {"change", "change", ColumnKind::kText},
                   {"team", team_dimension.empty() ? "team" : team_dimension, ColumnKind::kText},
                   {"day", "until, since", ColumnKind::kText},
                   {"by", "by", ColumnKind::kText},
                   {"at", "at", ColumnKind::kText},
                   {"reason", "reason", ColumnKind::kText},
                   {"currency", "currency", ColumnKind::kText},
                   {"expected", "expected a month", ColumnKind::kText},
                   {"realised", "realised a month", ColumnKind::kText}};
  std::vector<const AdviceLife*> latest_first;
  for (const auto& [id, life] : lives) latest_first.push_back(&life);
  std::ranges::stable_sort(latest_first, [](const AdviceLife* a, const AdviceLife* b) {
    return a->last()->at > b->last()->at;
  });
  const auto amount = [](const Money& money) {
    return format_rounded(money.amount(), 2, Thousands::kPlain);
  };
  for (const AdviceLife* life : latest_first) {
    const AdviceStep& step = *life->last();
    const AdviceStep* done = life->done();
    const std::optional<Date> day =
        life->state == AdviceState::kVerified && done != nullptr ? done->day : step.day;
    table.rows.push_back(
        {step.advice, std::string(to_text(life->state)), step.kind, step.cluster, step.subject,
         step.change, team_of(step.owner, team_dimension), day ? to_text(*day) : std::string(),
         step.by, to_text(step.at), step.reason, std::string(step.expected.currency().text()),
         amount(step.expected), step.realised ? amount(*step.realised) : std::string()});
  }
  if (table.rows.empty()) {
    table.notes.emplace_back(is_narrowed ? "Nothing that was decided fits these filters."
                                         : "Nothing is decided yet: see 'pennyweight advise'.");
  }
  return table;
}

std::vector<Table> advice_progress_tables(const AdviceResult& result) {
  std::map<Currency, std::map<std::string, Progress>> sums;
  const auto at = [&](const Money& money, const std::string& team) -> Progress& {
    const Money zero = Money::zero(money.currency());
    const std::string name = team.empty() ? std::string(kFleetTeam) : team;
    return sums[money.currency()].try_emplace(name, Progress{zero, zero, zero, zero}).first->second;
  };
  const advising::Portfolio portfolio = open_portfolio(result);
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    const advising::Proposal& each = result.proposals[i];
    if (!portfolio.chosen[i]) continue;
    at(each.monthly.expected, team_of(result, each)).found += each.monthly.expected;
  }
  for (const auto& [id, life] : result.lives) {
    const AdviceStep& step = *life.last();
    Progress& of = at(step.expected, team_of(step.owner, result.team_dimension));
    const auto accepted = std::ranges::find_if(life.steps, [&](const AdviceStep& one) {
      return one.action == AdviceAction::kAccept && month_text(one.at) == result.month;
    });
    if (accepted != life.steps.end() && life.state != AdviceState::kDismissed &&
        life.state != AdviceState::kNew) {
      of.accepted += accepted->expected;
    }
    const AdviceStep* done = life.done();
    if (done == nullptr) continue;
    if (month_text(*done->day) == result.month) of.done += done->expected;
    const auto compared = std::ranges::find_if(
        life.steps.rbegin(), life.steps.rend(),
        [](const AdviceStep& one) { return one.realised || one.action == AdviceAction::kReopen; });
    if (compared != life.steps.rend() && compared->realised &&
        month_text(*done->day) <= result.month) {
      of.realised += *compared->realised;
    }
  }
  std::vector<Table> tables;
  for (const auto& [currency, teams] : sums) {
    Table table;
    table.title =
        fmt::format("What advice of {} came to, {} a month", result.month, currency.text());
    table.currency = currency;
    table.columns = {
        {"team", result.team_dimension.empty() ? "team" : result.team_dimension, ColumnKind::kText},
        {"found", "found", ColumnKind::kMoney},
        {"accepted", "accepted", ColumnKind::kMoney},
        {"done", "done", ColumnKind::kMoney},
        {"realised", "realised", ColumnKind::kMoney}};
    const Money zero = Money::zero(currency);
    Progress total{zero, zero, zero, zero};
    for (const auto& [team, of] : teams) {
      table.rows.push_back({team, of.found, of.accepted, of.done, of.realised});
      total.found += of.found;
      total.accepted += of.accepted;
      total.done += of.done;
      total.realised += of.realised;
    }
    table.total = Row{"total", total.found, total.accepted, total.done, total.realised};
    table.notes.emplace_back(
        "found: what the month's open advice would save together; accepted: decided in the month; "
        "done: in effect since a day of it; realised: what the ledger showed of all that was in "
        "effect by its end");
    tables.push_back(std::move(table));
  }
  if (tables.empty()) {
    Table table;
    table.title = "What advice of " + result.month + " came to";
    table.columns = {{"team", "team", ColumnKind::kText}};
    table.notes.emplace_back("Nothing was found, and nothing was decided.");
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
