#include "insight/queries/budget_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "reporting/number_format.h"

namespace pennyweight {
namespace {

std::string explained_amount(const Money& amount) {
  const bool is_time = amount.currency() == kGpuHourUnit;
  return fmt::format("{} {}", format_rounded(amount.amount(), 2, Thousands::kSeparated),
                     is_time ? "GPU-hours" : amount.currency().text());
}

// As a shell takes it: in quotes where it needs them.
std::string shell_word(const std::string& text) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=,._/:-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The command that sums up the same costs.
std::string same_sum(const BudgetStatus& status, Date today) {
  std::string command = "pennyweight report --by cluster";
  for (const std::string& filter : status.budget.filters) {
    command += " --filter " + shell_word(filter);
  }
  if (status.budget.cost != kGpuHourCost && status.budget.cost != kUsualCost) {
    command += " --cost " + status.budget.cost;
  }
  const Date last = std::min(status.days.last, today);
  return command + fmt::format(" --from {} --to {}", to_text(status.days.first), to_text(last));
}

std::string allowance(const BudgetStatus& status) {
  std::string text = fmt::format("it allows {} from {} to {}", explained_amount(status.amount),
                                 to_text(status.days.first), to_text(status.days.last));
  if (status.carried.ticks() == 0) return text;
  const std::string own = explained_amount(status.amount - status.carried);
  if (status.carried.is_negative()) {
    return text + fmt::format(": {} of the period itself, less {} that earlier ones overspent", own,
                              explained_amount(-status.carried));
  }
  return text + fmt::format(": {} of the period itself, and {} that earlier ones left", own,
                            explained_amount(status.carried));
}

std::string spending(const BudgetStatus& status) {
  std::string text = fmt::format("{} are spent", explained_amount(status.actual));
  if (status.actual_permille) {
    const int permille = *status.actual_permille;
    text += fmt::format(", {}{}.{} % of it", permille < 0 ? "-" : "", std::abs(permille) / 10,
                        std::abs(permille) % 10);
  }
  text += fmt::format("; at an even pace it would be {}", explained_amount(status.pace));
  if (!status.left.is_negative()) return text;
  return text + fmt::format("; {} more than it allows", explained_amount(-status.left));
}

std::string prospect(const BudgetStatus& status) {
  std::string text = fmt::format(
      "{} are forecast for the whole period: what is spent, and {} in "
      "the days to come",
      explained_amount(*status.forecast), explained_amount(*status.forecast - status.actual));
  if (!status.forecast_method.empty()) text += fmt::format(" (method {})", status.forecast_method);
  if (status.forecast_80) {
    text += fmt::format("; 80 % of such forecasts come to between {} and {}",
                        explained_amount(status.forecast_80->low),
                        explained_amount(status.forecast_80->high));
  }
  if (status.percent_above) {
    text += fmt::format("; the probability of more than {} is {} %",
                        explained_amount(status.amount), *status.percent_above);
  }
  return text;
}

}  // namespace

std::vector<std::string> explain_budget(const BudgetStatus& status, Date today) {
  std::vector<std::string> out;
  if (!status.problem.empty()) return out;  // which is said already
  out.push_back(allowance(status));
  out.push_back(spending(status));
  if (status.days.first <= today && !status.is_unmatched) {
    out.push_back("the ledger sums up the same costs with: " + same_sum(status, today));
  }
  if (status.forecast) out.push_back(prospect(status));
  if (status.exhausted_on) {
    out.push_back("the amount was exceeded on " + to_text(*status.exhausted_on));
  } else if (status.exhausts_on) {
    out.push_back("by that forecast, the amount is used up on " + to_text(*status.exhausts_on));
  }
  if (status.committed) {
    out.push_back(fmt::format("work that runs will cost up to {} more until its time limit",
                              explained_amount(*status.committed)));
  }
  return out;
}

}  // namespace pennyweight
