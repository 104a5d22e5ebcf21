#include "reporting/rollup/workload_names.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/try.h"

namespace pennyweight::rollup {
namespace {

// So many are asked for by number; of more, all that lie between are read.
constexpr std::size_t kFew = 1000;
// Where at least one in so many of those that are read is wanted, the engine puts them in order.
constexpr std::size_t kMostAreWanted = 4;

using Visit = std::function<void(Number, std::string_view)>;

Result<void> each(duckdb::Connection& connection, const std::string& where,
                  const std::vector<std::string>& bound, const Visit& visit) {
  duckdb::Statement statement =
      TRY(connection.prepare("SELECT id, name FROM workloads WHERE " + where));
  for (std::size_t i = 0; i < bound.size(); ++i) statement.bind_text(i + 1, bound[i]);
  duckdb::Rows rows = TRY(statement.query());
  while (true) {
    const Result<bool> more = rows.next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    const duckdb::Column ids = rows.column(0), texts = rows.column(1);
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      visit(ids.uint32(row), texts.text(row));
    }
  }
}

std::string list_of(const std::vector<Number>& numbers) {
  std::string list;
  for (const Number number : numbers) list += (list.empty() ? "" : ", ") + std::to_string(number);
  return list;
}

Result<std::vector<Number>> ids_where(duckdb::Connection& connection, const std::string& where,
                                      const std::vector<std::string>& bound) {
  std::vector<Number> ids;
  TRY(each(connection, where, bound, [&](Number id, std::string_view) { ids.push_back(id); }));
  return ids;
}

}  // namespace

Result<std::vector<Number>> workloads_named(duckdb::Connection& connection,
                                            const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<Number>();
  std::string places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    places += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
  }
  return ids_where(connection, "name IN (" + places + ")", names);
}

Result<std::vector<Number>> workloads_beginning(duckdb::Connection& connection,
                                                const std::string& prefix) {
  return ids_where(connection, "starts_with(name, $1)", {prefix});
}

std::size_t WorkloadNames::index_of(Number id) const {
  if (!index_of_.empty()) return index_of_[id - ids_.front()] - 1;
  return static_cast<std::size_t>(std::ranges::lower_bound(ids_, id) - ids_.begin());
}

std::string_view WorkloadNames::name(Number id) const {
  const auto [begin, bytes] = names_[index_of(id)];
  return std::string_view(text_).substr(begin, bytes);
}

void WorkloadNames::put(std::size_t index, std::string_view name) {
  names_[index] = {text_.size(), static_cast<std::uint32_t>(name.size())};
  text_ += name;
}

Result<WorkloadNames> WorkloadNames::load(duckdb::Connection& connection, std::vector<Number> ids) {
  WorkloadNames names;
  std::ranges::sort(ids);
  const auto rest = std::ranges::unique(ids);
  ids.erase(rest.begin(), rest.end());
  names.ids_ = std::move(ids);
  const std::vector<Number>& wanted = names.ids_;
  if (wanted.empty()) return names;
  names.names_.resize(wanted.size());
  names.ranks_.resize(wanted.size());
  const std::size_t between = wanted.back() - wanted.front() + std::size_t{1};
  const bool in_order = wanted.size() > kFew && wanted.size() >= between / kMostAreWanted;
  std::string where = "id IN (" + (wanted.size() > kFew ? std::string() : list_of(wanted)) + ")";
  if (wanted.size() > kFew) {
    names.index_of_.resize(between);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      names.index_of_[wanted[i] - wanted.front()] = static_cast<Number>(i + 1);
    }
    where =
        "id >= " + std::to_string(wanted.front()) + " AND id <= " + std::to_string(wanted.back());
    if (in_order) where += " ORDER BY name";
  }
  std::size_t found = 0;
  TRY(each(connection, where, {}, [&](Number id, std::string_view name) {
    if (!names.index_of_.empty() && names.index_of_[id - wanted.front()] == 0) return;
    const std::size_t index = names.index_of(id);
    names.put(index, name);
    names.ranks_[index] = static_cast<Number>(found++);
  }));
  if (found != wanted.size()) return fail(ErrorCode::kBadFile, "a workload has no name");
  if (in_order) return names;
  std::vector<Number> order(wanted.size());
  std::iota(order.begin(), order.end(), 0);
  const auto text = [&](Number index) {
    return std::string_view(names.text_)
        .substr(names.names_[index].first, names.names_[index].second);
  };
  std::ranges::sort(order, {}, text);
  for (std::size_t i = 0; i < order.size(); ++i) names.ranks_[order[i]] = static_cast<Number>(i);
  return names;
}

}  // namespace pennyweight::rollup
