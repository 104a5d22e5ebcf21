#include "server/budget_book/budget_book.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <set>
#include <utility>

#include "core/files/file_lock.h"
#include "core/json_text.h"
#include "core/try.h"
#include "server/budget_book/budget_json.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kBookBytesMax = 256u << 20;
constexpr std::size_t kBudgetsMax = 10'000;

std::string change_line(std::uint64_t number, Instant at, std::string_view by,
                        std::string_view name, const std::optional<Budget>& budget) {
  return fmt::format("{{\"number\": {}, \"at\": {}, \"by\": {}, \"name\": {}, \"budget\": {}}}\n",
                     number, json_string(to_text(at)), json_string(by), json_string(name),
                     budget ? budget_json(*budget) : "null");
}

Result<BudgetChange> parse_line(std::string_view line) {
  simdjson::dom::parser parser;
  const auto wrong = [] { return fail(ErrorCode::kBadFile, "this is no change of a budget"); };
  simdjson::dom::object object;
  const simdjson::padded_string padded(line);
  if (parser.parse(padded).get(object) != simdjson::SUCCESS) return wrong();
  BudgetChange change;
  std::string_view at;
  std::string_view by;
  std::string_view name;
  if (object["number"].get(change.number) != simdjson::SUCCESS ||
      object["at"].get(at) != simdjson::SUCCESS || object["by"].get(by) != simdjson::SUCCESS ||
      object["name"].get(name) != simdjson::SUCCESS) {
    return wrong();
  }
  change.at = TRY(parse_instant(at));
  change.by = by;
  change.name = name;
  simdjson::dom::element budget;
  if (object["budget"].get(budget) != simdjson::SUCCESS) return wrong();
  if (budget.is_null()) return change;
  change.budget = TRY(parse_budget_json(simdjson::minify(budget)));
  return change;
}

}  // namespace

BudgetBook::BudgetBook(std::string path) : changes_(std::move(path), kBookBytesMax, parse_line) {}

Result<void> BudgetBook::read() {
  const bool has_changed = TRY(changes_.read());
  if (has_changed) find_current();
  return {};
}

void BudgetBook::find_current() {
  current_.clear();
  for (const BudgetChange& change : changes_.records()) {
    if (change.budget) {
      current_.insert_or_assign(change.name, *change.budget);
    } else {
      current_.erase(change.name);
    }
  }
}

Result<void> BudgetBook::append(std::string_view lines) {
  const bool has_changed = TRY(changes_.replace(changes_.with(lines)));
  if (has_changed) find_current();
  return {};
}

Result<std::vector<Budget>> BudgetBook::budgets() {
  const std::lock_guard lock(mutex_);
  TRY(read());
  std::vector<Budget> all;
  for (const auto& [name, budget] : current_) all.push_back(budget);
  return all;
}

Result<std::vector<Budget>> BudgetBook::with(std::span<const Budget> configured) {
  std::vector<Budget> all(configured.begin(), configured.end());
  std::vector<Budget> more = TRY(budgets());
  std::set<std::string> names;
  for (const Budget& budget : all) names.insert(budget.name);
  for (Budget& budget : more) {
    if (!names.contains(budget.name)) all.push_back(std::move(budget));
  }
  return all;
}

Result<std::vector<BudgetChange>> BudgetBook::history(std::string_view name) {
  const std::lock_guard lock(mutex_);
  TRY(read());
  std::vector<BudgetChange> chosen;
  for (const BudgetChange& change : changes_.records()) {
    if (name.empty() || change.name == name) chosen.push_back(change);
  }
  return chosen;
}

std::uint64_t BudgetBook::last_number() const {
  return changes_.records().empty() ? 0 : changes_.records().back().number;
}

Result<std::size_t> BudgetBook::set(std::span<const Budget> budgets, const std::string& by,
                                    Instant at, const Recorder& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(changes_.path()));
  TRY(read());
  std::string lines;
  std::uint64_t number = last_number();
  std::vector<BudgetReplacement> changes;
  std::set<std::string> names;
  for (const auto& [name, budget] : current_) names.insert(name);
  for (const Budget& budget : budgets) {
    TRY(check_budget(budget));
    TRY(check_budget_texts(budget));
    const auto known = current_.find(budget.name);
    const bool is_known = known != current_.end();
    if (is_known && known->second == budget) continue;
    names.insert(budget.name);
    if (names.size() > kBudgetsMax) {
      return fail(ErrorCode::kLimit, fmt::format("there are at most {} budgets", kBudgetsMax));
    }
    lines += change_line(++number, at, by, budget.name, budget);
    changes.push_back({is_known ? std::optional(known->second) : std::nullopt, budget});
  }
  if (changes.empty()) return 0;
  if (!changes_.has_room_for(changes_.with(lines))) {
    return fail(ErrorCode::kLimit, fmt::format("{} is full", changes_.path()));
  }
  TRY(record(changes));
  TRY(append(lines));
  return changes.size();
}

Result<void> BudgetBook::remove(const std::string& name, const std::string& by, Instant at,
                                const Recorder& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(changes_.path()));
  TRY(read());
  const auto known = current_.find(name);
  if (known == current_.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("nobody has set a budget '{}'", name));
  }
  const BudgetReplacement change{known->second, std::nullopt};
  TRY(record({&change, 1}));
  return append(change_line(last_number() + 1, at, by, name, std::nullopt));
}

}  // namespace pennyweight
