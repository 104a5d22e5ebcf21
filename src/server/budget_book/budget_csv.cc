#include "server/budget_book/budget_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/json_text.h"
#include "core/try.h"
#include "ingest/csv/columns.h"
#include "ingest/csv/reader.h"
#include "server/budget_book/budget_json.h"

namespace pennyweight {
namespace {

constexpr std::string_view kRequired[] = {"name", "amount"};
constexpr std::string_view kOptional[] = {"filter", "owner",     "period", "cost",   "from",
                                          "to",     "roll_over", "parent", "amounts"};
constexpr csv::Columns kColumns{.required = kRequired, .optional = kOptional, .open_prefix = {}};
constexpr std::size_t kProblemsShownMax = 5;

std::string filters_json(std::string_view text) {
  std::string list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string_view one = text.substr(0, end);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (!one.empty()) list += (list.empty() ? "" : ", ") + json_string(one);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "[" + list + "]";
}

class BudgetRows : public csv::Sink {
 public:
  Result<void> header(const csv::Header& header) override {
    names_ = header.names();
    return csv::check_columns(header, kColumns);
  }
  Result<void> row(const csv::Row& row) override {
    std::string json;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string_view value = row.fields[i];
      if (value.empty()) continue;
      std::string written = json_string(value);
      if (names_[i] == "filter") written = filters_json(value);
      if (names_[i] == "amounts") written = amounts_json(value);
      // Anything else is refused as what it is: a text.
      if (names_[i] == "roll_over" && (value == "true" || value == "false")) written = value;
      json += fmt::format("{}{}: {}", json.empty() ? "" : ", ", json_string(names_[i]), written);
    }
    auto budget = parse_budget_json("{" + json + "}");
    if (!budget) {
      add_problem(row.line, budget.error().message);
    } else if (!seen_.insert(budget->name).second) {
      add_problem(row.line, fmt::format("there are two budgets '{}'", budget->name));
    } else {
      budgets.push_back(*std::move(budget));
    }
    return {};
  }
  Result<void> bad_row(const csv::BadRow& row) override {
    add_problem(row.line, row.reason);
    return {};
  }

  std::vector<Budget> budgets;
  std::vector<std::string> problems;
  std::size_t problem_count = 0;

 private:
  void add_problem(std::uint64_t line, std::string_view what) {
    if (++problem_count <= kProblemsShownMax) problems.push_back(fmt::format("{}: {}", line, what));
  }

  std::vector<std::string> names_;
  std::set<std::string> seen_;
};

}  // namespace

Result<std::vector<Budget>> parse_budget_csv(std::string_view text, std::string_view file) {
  BudgetRows rows;
  csv::Reader reader({}, rows);
  if (const auto read = reader.read_all(text); !read) {
    return std::unexpected(read.error().during(file));
  }
  if (rows.problem_count == 0) return std::move(rows.budgets);
  std::string message;  // in one line, as messages are shown
  for (const std::string& problem : rows.problems) {
    message += fmt::format("{}{}:{}", message.empty() ? "" : "; ", file, problem);
  }
  if (rows.problem_count > kProblemsShownMax) {
    message += fmt::format("; and {} more", rows.problem_count - kProblemsShownMax);
  }
  return fail(ErrorCode::kBadValue, message + "; nothing was changed");
}

}  // namespace pennyweight
