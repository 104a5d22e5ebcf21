#include "app/cli/budget_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/audit_events/audit_events.h"
#include "app/context/paths.h"
#include "core/files/file.h"
#include "core/json_text.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/queries/selection.h"
#include "server/budget_book/budget_book.h"
#include "server/budget_book/budget_csv.h"
#include "server/budget_book/budget_json.h"

namespace pennyweight {
namespace {

constexpr std::size_t kPlanBytesMax = 16u << 20;

struct SetBudgetOptions {
  std::string name;
  std::string amount;
  std::vector<std::string> filters;
  std::vector<std::string> amounts;
  std::string owner, period, cost, from, to, parent;
  bool rolls_over = false;
};

struct NamedBudgetOptions {
  std::string name;
  TableOptions table;
};

// Each line of the audit log is synced, and a plan can have ten thousand budgets: as many in a line
// as it has room for.
constexpr std::size_t kAuditJsonBytesMax = 200u << 10;
constexpr std::size_t kAuditNamesBytesMax = 800;

class BudgetAudit {
 public:
  BudgetAudit(Context& context, std::string action)
      : context_(context), action_(std::move(action)) {}

  Result<void> record(std::span<const BudgetReplacement> changes) {
    std::vector<std::string> names, before, after;
    std::size_t bytes = 0;
    for (const BudgetReplacement& one : changes) {
      std::string was = one.before ? budget_json(*one.before) : "";
      std::string is = one.after ? budget_json(*one.after) : "";
      const std::size_t more = std::max(was.size(), is.size()) + 1;
      if (!names.empty() && bytes + more > kAuditJsonBytesMax) {
        TRY(write(names, before, after));
        names.clear(), before.clear(), after.clear();
        bytes = 0;
      }
      bytes += more;
      names.push_back(one.name());
      if (one.before) before.push_back(std::move(was));
      if (one.after) after.push_back(std::move(is));
    }
    return names.empty() ? Result<void>() : write(names, before, after);
  }

 private:
  // One budget as it is, more of them as a list.
  static std::string json(const std::vector<std::string>& budgets, bool is_list) {
    if (budgets.empty()) return "";
    if (!is_list) return budgets.front();
    return fmt::format("{{\"budgets\": [{}]}}", fmt::join(budgets, ","));
  }

  Result<void> write(const std::vector<std::string>& names, const std::vector<std::string>& before,
                     const std::vector<std::string>& after) {
    const bool is_list = names.size() > 1;
    std::string subject = is_list ? counted(names.size(), "budget") + ":" : "budget";
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0 && subject.size() + names[i].size() > kAuditNamesBytesMax) {
        subject += fmt::format(" and {} more", names.size() - i);
        break;
      }
      subject += (i == 0 ? " " : ", ") + names[i];
    }
    return announce_audit_event(context_, action_, subject, json(before, is_list),
                                json(after, is_list));
  }

  Context& context_;
  std::string action_;
};

BudgetBook::Recorder budget_recorder(Context& context, std::string action) {
  return [&context, action = std::move(action)](std::span<const BudgetReplacement> changes) {
    return BudgetAudit(context, action).record(changes);
  };
}

// The book, in a folder that exists.
Result<std::unique_ptr<BudgetBook>> open_book(const Context& context) {
  std::error_code problem;
  std::filesystem::create_directories(live_folder(context.config), problem);
  if (problem) {
    return fail(ErrorCode::kIo, fmt::format("cannot create {}: {}", live_folder(context.config),
                                            problem.message()));
  }
  return std::make_unique<BudgetBook>(budget_book_path(context.config));
}

Result<void> check_for_book(const Budget& budget, const Context& context) {
  const auto& configured = context.config.budgets;
  if (std::ranges::find(configured, budget.name, &Budget::name) != configured.end()) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("budget '{}' is part of the configuration; change it there", budget.name));
  }
  for (const std::string& filter : budget.filters) {
    if (const auto sound = parse_filter(filter, context.config.policy); !sound) {
      return std::unexpected(sound.error().during(fmt::format("budget '{}'", budget.name)));
    }
  }
  return {};
}

Result<ExitCode> set_budgets(std::span<const Budget> budgets, Context& context) {
  for (const Budget& budget : budgets) {
    if (const auto sound = check_for_book(budget, context); !sound) {
      return as_usage_error(sound.error());
    }
  }
  const auto book = TRY(open_book(context));
  const std::size_t count = TRY(book->set(budgets, cli_author().actor, context.clock.now(),
                                          budget_recorder(context, "budget.set")));
  context.console.say(fmt::format("{} set, {} as before", counted(count, "budget"),
                                  std::to_string(budgets.size() - count)));
  return ExitCode::kDone;
}

Result<ExitCode> set_one(const SetBudgetOptions& options, Context& context) {
  std::string json = fmt::format("{{\"amount\": {}", json_string(options.amount));
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) json += fmt::format(", \"{}\": {}", key, json_string(value));
  };
  add("owner", options.owner);
  add("period", options.period);
  add("cost", options.cost);
  add("from", options.from);
  add("to", options.to);
  add("parent", options.parent);
  json += fmt::format(", \"amounts\": {}, \"filter\": [",
                      amounts_json(fmt::format("{}", fmt::join(options.amounts, ";"))));
  for (std::size_t i = 0; i < options.filters.size(); ++i) {
    json += (i == 0 ? "" : ", ") + json_string(options.filters[i]);
  }
  json += fmt::format("], \"roll_over\": {}}}", options.rolls_over);
  const auto budget = parse_budget_json(json, options.name);
  if (!budget) return as_usage_error(budget.error());
  return set_budgets({&*budget, 1}, context);
}

Result<ExitCode> import_plan(const std::string& file, Context& context) {
  const std::string text = TRY(read_file(file, kPlanBytesMax));
  const auto budgets = parse_budget_csv(text, file);
  if (!budgets) return as_usage_error(budgets.error());
  return set_budgets(*budgets, context);
}

Result<ExitCode> remove_one(const std::string& name, Context& context) {
  const auto& configured = context.config.budgets;
  if (std::ranges::find(configured, name, &Budget::name) != configured.end()) {
    return usage_error(
        fmt::format("budget '{}' is part of the configuration; remove it there", name));
  }
  const auto book = TRY(open_book(context));
  TRY(book->remove(name, cli_author().actor, context.clock.now(),
                   budget_recorder(context, "budget.remove")));
  context.console.say(fmt::format("budget '{}' removed", name));
  return ExitCode::kDone;
}

Result<ExitCode> show_history(const NamedBudgetOptions& options, Context& context) {
  BudgetBook book(budget_book_path(context.config));
  const auto changes = TRY(book.history(options.name));
  if (changes.empty()) context.console.say("nobody has set a budget");
  Table table;
  table.title = "Budgets that people set, and what they changed";
  table.columns = {{"number", "number", ColumnKind::kCount},
                   {"at", "at"},
                   {"by", "by"},
                   {"budget", "budget"},
                   {"definition", "definition"}};
  for (const BudgetChange& change : changes) {
    table.rows.push_back({change.number, to_text(change.at), change.by, change.name,
                          change.budget ? budget_json(*change.budget) : std::string("(removed)")});
  }
  print_tables({table}, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Result<std::vector<Budget>> all_budgets(const Context& context) {
  return BudgetBook(budget_book_path(context.config)).with(context.config.budgets);
}

std::function<std::optional<Result<ExitCode>>(Context&)> add_budget_changes(CLI::App& command) {
  const auto set = std::make_shared<SetBudgetOptions>();
  CLI::App* set_command =
      command.add_subcommand("set", "Set a budget that is not part of the configuration");
  set_command->add_option("name", set->name, "What it is called")->required();
  set_command->add_option("--amount", set->amount, "\"5000 USD\", or \"2000 gpu_hours\"")
      ->required();
  set_command->add_option("--amounts", set->amounts,
                          "Another amount from a day on, \"2026-07-01 6000 USD\"; may be repeated");
  set_command->add_option("--filter", set->filters,
                          "Its scope, DIMENSION=VALUE[,VALUE…]; may be repeated");
  set_command->add_option("--owner", set->owner, "Who is responsible for it");
  set_command->add_option("--period", set->period,
                          "day, week, month, quarter, year or project; default: month");
  set_command->add_option("--cost", set->cost,
                          "effective, billed, list or contracted; default: effective. Not with "
                          "GPU-hours");
  set_command->add_option("--from", set->from, "Where a project, or roll-over, begins");
  set_command->add_option("--to", set->to, "Where a project ends");
  set_command->add_option("--parent", set->parent, "The budget that it is a part of");
  set_command->add_flag("--roll-over", set->rolls_over, "What a period leaves counts in the next");
  const auto file = std::make_shared<std::string>();
  CLI::App* import_command =
      command.add_subcommand("import", "Set the budgets of a CSV file, all or none");
  import_command
      ->add_option(
          "file", *file,
          "With the columns name and amount, and perhaps filter, owner, period, cost, "
          "from, to, roll_over, parent and amounts: \"2026-07-01 6000 USD; 2027-01-01 7000 "
          "USD\"")
      ->required();
  const auto removed = std::make_shared<std::string>();
  CLI::App* remove_command = command.add_subcommand("remove", "Remove a budget that was set");
  remove_command->add_option("name", *removed, "Which")->required();
  const auto history = std::make_shared<NamedBudgetOptions>();
  CLI::App* history_command =
      command.add_subcommand("history", "Show who set which budgets, and when");
  history_command->add_option("name", history->name, "One of them; default: all");
  add_table_options(*history_command, history->table);
  return [=](Context& context) -> std::optional<Result<ExitCode>> {
    if (set_command->parsed()) return set_one(*set, context);
    if (import_command->parsed()) return import_plan(*file, context);
    if (remove_command->parsed()) return remove_one(*removed, context);
    if (history_command->parsed()) return show_history(*history, context);
    return std::nullopt;
  };
}

}  // namespace pennyweight
