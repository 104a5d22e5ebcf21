#include "app/cli/advise_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/audit_events/audit_events.h"
#include "core/billing_period.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/queries/advice_decisions.h"
#include "reporting/number_format.h"

namespace pennyweight {

struct DecisionVerbs {
  struct One {
    CLI::App* command;
    AdviceAction action;
  };
  std::vector<One> actions;
  CLI::App* decided = nullptr;
  CLI::App* progress = nullptr;
  std::string id, by, reason, day, month, today;
};

namespace {

struct DecisionText {
  AdviceAction action;
  const char* name;
  const char* help;
  const char* day_option;  // null: none
  const char* day_help;
};
constexpr std::array<DecisionText, 5> kDecisions = {{
    {AdviceAction::kAccept, "accept", "Say that it will be followed", nullptr, nullptr},
    {AdviceAction::kDismiss, "dismiss", "Say why it will not be followed; it is no longer shown",
     "--until", "The day on which it is shown again, such as 2026-12-31; by default, never"},
    {AdviceAction::kDone, "done", "Say that it was followed", "--on",
     "The day since which it is in effect; by default, today"},
    {AdviceAction::kVerify, "verify",
     "Compare the ledger before and after, for the same work, and record what it saved", nullptr,
     nullptr},
    {AdviceAction::kReopen, "reopen", "Forget what was decided", nullptr, nullptr},
}};
constexpr std::size_t kReasonBytesMax = 2000;
// What was decided, and what came of it, has none of these.
constexpr const char* kOnlyOfAdvice[] = {"--effort", "--confidence", "--dismissed", "--cost",
                                         "--prices-as-of"};

AdviceSettings advice_settings(const OpenedAdvice& opened, const Context& context) {
  return {.policy = context.config.policy,
          .catalog = opened.catalog,
          .join_rules = context.config.join_rules,
          .clusters = context.config.clusters};
}

Result<ExitCode> decide(const DecisionVerbs& verbs, AdviceAction action, const OpenAdvice& open,
                        Context& context) {
  AdviceDecision decision{.id = verbs.id,
                          .action = action,
                          .by = verbs.by.empty() ? cli_author().actor : verbs.by,
                          .reason = verbs.reason,
                          .day = {},
                          .at = context.clock.now(),
                          .today = {}};
  for (const std::string& text : {decision.by, decision.reason}) {
    if (text.size() > kReasonBytesMax || !is_plain_text(text)) {
      return usage_error(fmt::format("--by and --reason are texts of at most {} bytes, on one line",
                                     kReasonBytesMax));
    }
  }
  if (!verbs.day.empty()) {
    const auto day = parse_date(verbs.day);
    if (!day) return usage_error(day.error().message);
    decision.day = *day;
  }
  auto opened = TRY(open(context));
  if (!verbs.month.empty()) opened.query.month = verbs.month;
  decision.today = opened.query.today;
  if (!verbs.today.empty()) {
    const auto today = parse_date(verbs.today);
    if (!today) return usage_error("--today: " + today.error().message);
    if (*today > decision.today) {
      return usage_error(
          fmt::format("--today: {} is after today, {}", to_text(*today), to_text(decision.today)));
    }
    decision.today = *today;
  }
  const std::string facts = JsonObjectBuilder()
                                .text("by", decision.by)
                                .text("reason", decision.reason)
                                .text("day", verbs.day)
                                .json();
  const std::string name = fmt::format("advice.{}", to_text(action));
  return with_intent(context, name, "advice " + verbs.id, facts, [&]() -> Result<ExitCode> {
    const auto step = prepare_advice_step(*opened.store, decision, opened.query,
                                          advice_settings(opened, context));
    if (!step) return as_usage_error(step.error());
    TRY(write_advice_step(*opened.store, *step));
    TRY(record_audit_event(context, name, "advice " + step->advice, "", advice_step_facts(*step)));
    context.console.say(
        fmt::format("advice {} ({}): {}", step->advice, step->change, to_text(step->action)));
    for (const std::string& finding : step->findings) context.console.say("  " + finding);
    if (step->realised) {
      context.console.say(
          fmt::format("  it saves {} {} a month of 730 hours; {} were expected",
                      format_rounded(step->realised->amount(), 2, Thousands::kSeparated),
                      step->realised->currency().text(),
                      format_rounded(step->expected.amount(), 2, Thousands::kSeparated)));
    }
    return ExitCode::kDone;
  });
}

}  // namespace

std::shared_ptr<DecisionVerbs> declare_advise_decisions(CLI::App& advise) {
  const auto verbs = std::make_shared<DecisionVerbs>();
  for (const DecisionText& words : kDecisions) {
    CLI::App* command = advise.add_subcommand(words.name, words.help);
    command->add_option("id", verbs->id, "Its id, or how it begins")->required();
    command->add_option("--by", verbs->by, "Who decides; by default, who runs the command");
    CLI::Option* reason = command->add_option("--reason", verbs->reason, "Why, for the record");
    if (words.action == AdviceAction::kDismiss) reason->required();
    if (words.day_option != nullptr) {
      command->add_option(words.day_option, verbs->day, words.day_help);
    }
    if (words.action == AdviceAction::kVerify) {
      command->add_option("--today", verbs->today,
                          "As on this day, such as 2026-04-01: later days are not compared");
    } else if (words.action != AdviceAction::kReopen) {
      command->add_option("--month", verbs->month,
                          "The billing month that the advice is from; by default, the last one");
    }
    verbs->actions.push_back({command, words.action});
  }
  verbs->decided = advise.add_subcommand("decided", "What was decided, the latest first");
  verbs->progress = advise.add_subcommand(
      "progress", "By team: what was found, accepted, done and realised in a month");
  return verbs;
}

bool is_decision(const DecisionVerbs& verbs) {
  for (const DecisionVerbs::One& one : verbs.actions) {
    if (one.command->parsed()) return true;
  }
  return verbs.decided->parsed() || verbs.progress->parsed();
}

Result<ExitCode> run_decision(const DecisionVerbs& verbs, const OpenAdvice& open,
                              const TableOptions& table, Context& context) {
  for (const DecisionVerbs::One& one : verbs.actions) {
    if (one.command->parsed()) return decide(verbs, one.action, open, context);
  }
  CLI::App& report = verbs.decided->parsed() ? *verbs.decided : *verbs.progress;
  for (const char* name : kOnlyOfAdvice) {
    if (report.get_parent()->get_option(name)->count() == 0) continue;
    return usage_error(
        fmt::format("{} is for advice itself; 'advise {}' takes --month, --cluster, "
                    "--kind and --team",
                    name, report.get_name()));
  }
  auto opened = TRY(open(context));
  const std::string& month = opened.query.month;
  if (!month.empty() && !BillingPeriod::parse(month, TimeZone::utc())) {
    return usage_error(fmt::format("--month: '{}' is not a month such as 2026-03", month));
  }
  if (verbs.decided->parsed()) {
    if (const auto words = check_advice_words(opened.query); !words) {
      return as_usage_error(words.error());
    }
    const auto steps = TRY(query_advice_steps(*opened.store));
    auto lives = advising::lives_of(steps, opened.query.today);
    const std::string teams = team_dimension_of(context.config.policy);
    const bool is_narrowed = !lives.empty();
    keep_asked_lives(lives, opened.query, teams);
    if (!month.empty()) {
      std::erase_if(lives, [&](const auto& entry) { return entry.second.last()->month != month; });
    }
    print_tables({advice_decisions_table(lives, teams, is_narrowed)}, table, context);
    return ExitCode::kDone;
  }
  auto result = query_advice(*opened.store, opened.query, advice_settings(opened, context));
  if (!result) return as_usage_error(result.error());
  keep_asked_lives(result->lives, opened.query, result->team_dimension);
  print_tables(advice_progress_tables(*result), table, context);
  return ExitCode::kDone;
}

}  // namespace pennyweight
