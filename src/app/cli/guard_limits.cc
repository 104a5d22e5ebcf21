#include "app/cli/guard_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/cli/budget_changes.h"
#include "config/guardrail_config.h"
#include "core/files/file.h"
#include "core/http/client.h"
#include "core/int128.h"
#include "core/percent.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/guardrails/limit_export.h"
#include "insight/guardrails/native_rules.h"
#include "insight/queries/budget_uses.h"
#include "insight/queries/limit_query.h"

namespace pennyweight {
namespace {

using guardrails::BudgetUse;
using guardrails::LimitExport;
using guardrails::LimitSystem;
using guardrails::LimitUse;

constexpr std::size_t kQuotaFileBytesMax = std::size_t{256} << 20U;

template <class Words>
Result<std::size_t> chosen_word(const std::string& word, const Words& words,
                                std::string_view what) {
  const auto* const at = std::ranges::find(words, word);
  if (at != std::end(words)) return static_cast<std::size_t>(at - std::begin(words));
  return usage_error(fmt::format("{}: '{}' is none of {}", what, word,
                                 fmt::join(std::begin(words), std::end(words), ", ")));
}

LimitExport exported_limits(std::span<const LimitUse> uses, LimitSystem system,
                            const Context& context) {
  return guardrails::export_limits(uses, system, context.config.guardrails->pricing.gpu_models);
}

Result<ExitCode> show_drift(const GuardLimitArguments& arguments, std::span<const LimitUse> uses,
                            LimitSystem system, Context& context) {
  std::vector<guardrails::QuotaSetting> real;
  for (const std::string& path : arguments.drift) {
    const std::string text = TRY(read_file(path, kQuotaFileBytesMax));
    auto settings = TRY(guardrails::read_quota_settings(text, path));
    real.insert(real.end(), std::make_move_iterator(settings.begin()),
                std::make_move_iterator(settings.end()));
  }
  const auto wanted =
      TRY(guardrails::wanted_settings(exported_limits(uses, system, context), system));
  const auto drifts = guardrails::find_drift(wanted, real);
  Table table;
  table.title = "What differs";
  table.columns = {{"object", "object", ColumnKind::kText},
                   {"setting", "setting", ColumnKind::kId},
                   {"wanted", "wanted", ColumnKind::kText},
                   {"real", "real", ColumnKind::kText}};
  for (const guardrails::QuotaDrift& drift : drifts) {
    table.rows.push_back({drift.object, drift.field, drift.wanted, drift.real});
  }
  if (drifts.empty()) context.console.say("nothing differs");
  print_tables({table}, arguments.table, context);
  return drifts.empty() ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

Result<std::vector<LimitUse>> measured_limits(Context& context) {
  const auto& limits = context.config.guardrails->limits;
  if (limits.empty()) return std::vector<LimitUse>();
  const bool measures = std::ranges::any_of(limits, [](const guardrails::UsageLimit& limit) {
    return limit.per_month || limit.gpu_hours;
  });
  if (!measures) {
    return query_limits(limits, context.clock.now(), context.config.policy, {});
  }
  const auto store = TRY(open_ledger(context.config));
  return query_limits(limits, context.clock.now(), context.config.policy,
                      [&](const SummaryQuery& summary) { return store->summarise(summary); });
}

Result<std::vector<BudgetUse>> measured_budgets(Context& context, Date today) {
  if (!guardrails::looks_at_budgets(context.config.guardrails->rules)) {
    return std::vector<BudgetUse>();
  }
  const auto budgets = TRY(all_budgets(context));
  const auto store = TRY(open_ledger(context.config));
  return query_budget_uses(budgets, today, context.config.policy,
                           [&](const SummaryQuery& summary) { return store->summarise(summary); });
}

Result<std::vector<BudgetUse>> stated_budgets(const GuardCase& one, const Config& config,
                                              Date today) {
  for (const auto& [name, used] : one.budgets_used) {
    if (std::ranges::find(config.budgets, name, &Budget::name) != config.budgets.end()) continue;
    return fail(ErrorCode::kNotFound,
                fmt::format("the configuration has no budget '{}'", printable_text(name, 200)));
  }
  std::vector<BudgetUse> uses;
  for (const Budget& budget : budgets_of_day(config.budgets, today)) {
    auto scope = TRY(budget_scope(budget, config.policy));
    BudgetUse use{.name = budget.name,
                  .scope = std::move(scope),
                  .amount = budget.amount_on(today),
                  .problem = fmt::format("the case does not state it, as budgets: {{{}: 95%}} does",
                                         budget.name)};
    const auto used = one.budgets_used.find(budget.name);
    if (used != one.budgets_used.end()) {
      const Money spent = Money::from_ticks(use.amount.ticks() / 1000 * Int128{used->second},
                                            use.amount.currency());
      use.left = use.amount - spent;
      use.problem.clear();
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

Result<ExitCode> run_guard_limits(const GuardLimitArguments& arguments, Context& context) {
  if (context.config.guardrails->limits.empty()) {
    return usage_error("the configuration has no limits; state them in guardrails.limits");
  }
  if (arguments.system.empty() && !arguments.drift.empty()) {
    return usage_error("--drift compares with an export: add --export kueue, or another system");
  }
  const auto uses = TRY(measured_limits(context));
  if (!arguments.system.empty()) {
    const auto system = static_cast<LimitSystem>(
        TRY(chosen_word(arguments.system, guardrails::kLimitSystemWords, "--export")));
    if (!arguments.drift.empty()) return show_drift(arguments, uses, system, context);
    const LimitExport exported = exported_limits(uses, system, context);
    for (const std::string& note : exported.notes) context.console.warn(note);
    context.console.print(exported.text);
    return ExitCode::kDone;
  }
  const auto tables = limit_tables(uses);
  print_tables(tables, arguments.table, context);
  const bool stops = std::ranges::any_of(uses, [](const LimitUse& use) {
    return use.limit.is_hard && (use.is_exhausted() || use.state() == "unknown");
  });
  return arguments.checks && stops ? ExitCode::kCheckFailed : ExitCode::kDone;
}

Result<ExitCode> run_guard_export(const GuardExportArguments& arguments, Context& context) {
  const GuardrailConfig& settings = *context.config.guardrails;
  if (settings.rules.empty()) {
    return usage_error("the configuration has no rules; state them in guardrails.rules");
  }
  const auto system = static_cast<guardrails::NativeSystem>(
      TRY(chosen_word(arguments.system, guardrails::kNativeSystemWords, "--policy")));
  context.console.print(
      guardrails::native_policies(settings.rules,
                                  {.exempt_namespaces = settings.admission.exempt_namespaces,
                                   .controllers = settings.admission.controllers},
                                  system));
  return ExitCode::kDone;
}

Result<ExitCode> run_guard_stops(const GuardStopArguments& arguments, Context& context) {
  const auto settings = TRY(http_settings(arguments.serve, context.config));
  http::Client client(settings);
  std::string address = fmt::format("{}/api/v1/limits/stops?format={}",
                                    server_url(arguments.serve, context.config), arguments.format);
  if (arguments.due_only) address += "&stage=due";
  if (!arguments.cluster.empty()) address += "&cluster=" + percent_encoded(arguments.cluster);
  context.console.print(TRY(ask_serve(client, address)));
  return ExitCode::kDone;
}

}  // namespace pennyweight
