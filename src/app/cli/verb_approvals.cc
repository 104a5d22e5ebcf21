// approvals: requests for workloads that a rule stops, and what people decide about them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/audit_events/audit_events.h"
#include "app/cli/budget_changes.h"
#include "app/cli/guard_approvals.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/try.h"
#include "insight/queries/approval_budgets.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using guardrails::Approval;
using guardrails::ApprovalDecision;
using guardrails::ApprovalRequest;
using guardrails::ApprovalState;

struct ApprovalArguments {
  std::string state = "pending";
  std::string id;
  std::string note;
  std::string until;
  bool once = false;
  bool until_end = false;
  TableOptions table;
};

Cell cost_cell(const ApprovalRequest& request) {
  return request.cost ? Cell(fmt::format("{} {} a {}", to_text(request.cost->amount()),
                                         request.cost->currency().text(), request.cost_of))
                      : Cell("not known");
}

std::string joined_texts(const std::vector<std::string>& texts, std::string_view between) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : std::string(between)) + text;
  return all;
}

// How long decisions took, of those that were made; empty where none was.
std::string decision_time_note(const std::vector<Approval>& all) {
  std::vector<std::int64_t> minutes;
  for (const Approval& approval : all) {
    if (approval.decisions.empty()) continue;
    const auto took = approval.decisions.front().at - approval.request.at;
    minutes.push_back(std::chrono::duration_cast<std::chrono::minutes>(took).count());
  }
  if (minutes.empty()) return "";
  std::ranges::sort(minutes);
  return fmt::format(
      "{} decided, half of them within {}", counted(minutes.size(), "request"),
      counted(static_cast<std::uint64_t>(minutes[(minutes.size() - 1) / 2]), "minute"));
}

Result<ExitCode> list_approvals(const ApprovalArguments& arguments, Context& context) {
  const auto book = TRY(open_approval_book(context));
  const auto all = TRY(book->approvals());
  const Instant now = context.clock.now();
  Table table;
  table.title = arguments.state == "all" ? "Approvals" : "Approvals, " + arguments.state;
  table.columns = {{"id", "id", ColumnKind::kId},
                   {"state", "state"},
                   {"asked_at", "asked at"},
                   {"by", "by"},
                   {"workload", "workload"},
                   {"cost", "cost"},
                   {"rules", "rules"},
                   {"approvals", "approvals", ColumnKind::kCount},
                   {"needed", "needed", ColumnKind::kCount}};
  for (const Approval& approval : all) {
    const auto state = guardrails::state_of(approval, book->terms(), now);
    if (arguments.state != "all" && to_text(state) != arguments.state) continue;
    const auto approved = static_cast<std::uint64_t>(
        std::ranges::count_if(approval.decisions, &ApprovalDecision::approves));
    table.rows.push_back({approval.request.id, std::string(to_text(state)),
                          to_text(approval.request.at), approval.request.by,
                          approval.request.workload, cost_cell(approval.request),
                          joined_texts(approval.request.rules, ", "), approved,
                          std::uint64_t{approvers_needed(approval.request, book->terms())}});
  }
  if (const std::string note = decision_time_note(all); !note.empty()) table.notes = {note};
  print_tables({table}, arguments.table, context);
  return ExitCode::kDone;
}

Table request_table(const Approval& approval, const ApprovalBook& book,
                    const std::optional<std::string>& token, Instant now) {
  const ApprovalRequest& request = approval.request;
  Table table;
  table.title = request.id;
  table.columns = {{"what", "what"}, {"value", "value", ColumnKind::kId}};
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) table.rows.push_back({std::string(what), value});
  };
  add("state", std::string(to_text(guardrails::state_of(approval, book.terms(), now))));
  add("workload", request.workload);
  add("asked by", fmt::format("{}, at {}, by {}", request.by, to_text(request.at), request.source));
  add("why it is needed", request.reason);
  add("rules", joined_texts(request.rules, ", "));
  add("because", request.because);
  const Cell cost = cost_cell(request);
  add("cost", std::get<std::string>(cost));
  for (const std::string& other : request.alternatives) add("alternative", other);
  for (const ApprovalDecision& decision : approval.decisions) {
    std::string text =
        fmt::format("{}{}{}, at {}", decision.by, decision.on_behalf.empty() ? "" : " for ",
                    decision.on_behalf, to_text(decision.at));
    if (decision.approves) {
      text += fmt::format(", until {}, {}", to_text(decision.until),
                          decision.is_once ? "once" : "any number of times");
    }
    if (!decision.note.empty()) text += ": " + decision.note;
    add(decision.approves ? "approved by" : "refused by", text);
  }
  for (const auto& use : approval.uses) {
    add("used by", fmt::format("{}, at {}", use.by, to_text(use.at)));
  }
  add("content", "sha256:" + request.content);
  if (token) add("token", *token);
  return table;
}

Result<std::optional<Table>> budget_table(const ApprovalRequest& request, Context& context) {
  const auto budgets = TRY(all_budgets(context));
  if (budgets.empty() || !request.cost) return std::nullopt;
  const auto opened = open_ledger(context.config);
  // Approvals need no ledger; without one nothing was spent.
  if (!opened && opened.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!opened) return std::unexpected(opened.error());
  Store& store = **opened;
  const auto& policy = context.config.policy;
  const std::string today_text = local_date(context.clock.now(), policy.time_zone);
  const Date today = TRY(parse_date(today_text));
  const auto after =
      TRY(budgets_after(request, budgets, today, policy,
                        [&](const SummaryQuery& query) { return store.summarise(query); }));
  if (after.empty()) return std::nullopt;
  Table table;
  table.title = "Budgets that it would, or may, be charged to";
  table.currency = request.cost->currency();
  table.columns = {{"budget", "budget"},
                   {"owner", "owner"},
                   {"amount", "amount", ColumnKind::kMoney},
                   {"left", "left", ColumnKind::kMoney},
                   {"after", "left after it", ColumnKind::kMoney},
                   {"charged", "charged"}};
  for (const BudgetAfter& one : after) {
    table.rows.push_back({one.name, one.owner, one.amount, one.left, one.after,
                          std::string(one.is_certain ? "yes" : "not known yet")});
  }
  return table;
}

Result<ExitCode> show_approval(const ApprovalArguments& arguments, Context& context) {
  const auto book = TRY(open_approval_book(context));
  const Approval approval = TRY(book->find(arguments.id));
  const Instant now = context.clock.now();
  std::optional<std::string> token;
  if (guardrails::state_of(approval, book->terms(), now) == ApprovalState::kApproved) {
    const std::string made = TRY(book->token(approval));
    token = made;
  }
  std::vector<Table> tables = {request_table(approval, *book, token, now)};
  auto budgets = TRY(budget_table(approval.request, context));
  // Rows of one file have one header.
  if (budgets && arguments.table.format != "csv") tables.push_back(*std::move(budgets));
  print_tables(tables, arguments.table, context);
  return ExitCode::kDone;
}

Result<ExitCode> decide_approval(const ApprovalArguments& arguments, bool approves,
                                 Context& context) {
  guardrails::DecisionWish wish{
      .by = cli_author().actor, .approves = approves, .note = arguments.note};
  if (!arguments.until.empty()) {
    const auto until = parse_instant(arguments.until);
    if (!until) return usage_error("--until: " + until.error().message);
    wish.until = *until;
  }
  if (arguments.once || arguments.until_end) wish.is_once = arguments.once;
  const auto book = TRY(open_approval_book(context));
  const auto decided =
      book->decide(arguments.id, wish, context.clock.now(), approval_recorder(context));
  if (!decided) return std::unexpected(decided.error());
  const auto state = guardrails::state_of(*decided, book->terms(), context.clock.now());
  if (state == ApprovalState::kPending) {
    context.console.say(
        fmt::format("{} is approved by you, and waits for a second person", arguments.id));
    return ExitCode::kDone;
  }
  context.console.say(fmt::format("{} is {}", arguments.id, to_text(state)));
  if (state == ApprovalState::kApproved) {
    const std::string token = TRY(book->token(*decided));
    context.console.print(token + "\n");
  }
  return ExitCode::kDone;
}

CLI::App* add_decision(CLI::App& command, const std::string& name, const std::string& what,
                       ApprovalArguments& arguments) {
  CLI::App* decision = command.add_subcommand(name, what);
  decision->add_option("id", arguments.id, "Of the request")->required();
  decision->add_option("--note", arguments.note, "Why");
  return decision;
}

}  // namespace

Verb declare_approvals(CLI::App& app) {
  const auto arguments = std::make_shared<ApprovalArguments>();
  CLI::App* command = app.add_subcommand(
      "approvals", "Decide on workloads that a guardrail stops until they are approved");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "List requests, the oldest first");
  list->add_option("--state", arguments->state, "Only in this state")
      ->check(CLI::IsMember({"pending", "approved", "refused", "expired", "used", "all"}))
      ->capture_default_str();
  add_table_options(*list, arguments->table);
  CLI::App* show = command->add_subcommand(
      "show", "Show a request, its decisions, the budgets after it, and the token once approved");
  show->add_option("id", arguments->id, "Of the request")->required();
  add_table_options(*show, arguments->table);
  CLI::App* approve =
      add_decision(*command, "approve", "Approve a request of another person", *arguments);
  approve->add_option("--until", arguments->until,
                      "When it ends; by default, after guardrails.approvals.valid_for");
  CLI::Option* once = approve->add_flag("--once", arguments->once, "It may be used once");
  approve->add_flag("--until-end", arguments->until_end, "It may be used until its end")
      ->excludes(once);
  CLI::App* refuse =
      add_decision(*command, "refuse", "Refuse a request, or take an approval back", *arguments);
  command->footer(examples_footer("approvals"));
  return {command, [=](Context& context) -> Result<ExitCode> {
            if (list->parsed()) return list_approvals(*arguments, context);
            if (show->parsed()) return show_approval(*arguments, context);
            if (approve->parsed()) return decide_approval(*arguments, true, context);
            return decide_approval(*arguments, !refuse->parsed(), context);
          }};
}

}  // namespace pennyweight
