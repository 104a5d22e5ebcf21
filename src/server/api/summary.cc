// GET /api/v1/summary: the figures of a month, of the month before, and of the same days of that
// month.
#include "server/api/summary.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "config/config.h"
#include "core/try.h"
#include "ledger/posting.h"
#include "reporting/number_format.h"
#include "server/api/answers.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;
using std::chrono::day;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::year_month_day;

std::optional<year_month> parse_year_month(const std::string& month) {
  const auto first = parse_date(month + "-01");
  if (!first) return std::nullopt;
  const year_month_day date(*first);
  return date.year() / date.month();
}

std::string text_of(year_month month) {
  return to_text(Date(sys_days(month / day(1)))).substr(0, 7);
}

// The same day of a month, or its last day if it is shorter.
sys_days same_day(year_month month, day wanted) {
  const year_month_day last(month / std::chrono::last);
  return sys_days(month / std::min(wanted, last.day()));
}

Result<std::vector<MonthSums>> sums_of(const ScopedQueries& queries, const std::string& month,
                                       std::optional<sys_days> until) {
  SummaryQuery query;
  query.group_by = {"kind"};
  query.filters = {{"month", {month}, false}};
  query.last_day = until;
  const auto rows = TRY(queries.summarise(query));
  return month_sums(month, rows);
}

// The newest month that has costs.
Result<std::string> newest_month(const ScopedQueries& queries) {
  SummaryQuery query;
  query.group_by = {"month"};
  const auto rows = TRY(queries.summarise(query));
  std::string newest;
  for (const SummaryRow& row : rows) newest = std::max(newest, row.keys[0]);
  return newest;
}

Money of_kind(const MonthSums& sums, PostingKind kind) {
  const auto found = sums.by_kind.find(kind);
  return found == sums.by_kind.end() ? Money::zero(sums.total.currency()) : found->second;
}

void write_month_sums(JsonWriter& out, const MonthSums& sums) {
  const auto money = [](const Money& amount) { return to_text(amount.amount()); };
  out.begin_object()
      .field("month", sums.month)
      .field("currency", sums.total.currency().text())
      .field("total", money(sums.total));
  for (const PostingKind kind :
       {PostingKind::kUsed, PostingKind::kHeldIdle, PostingKind::kUnallocated,
        PostingKind::kStranded, PostingKind::kOverhead, PostingKind::kUnavailable,
        PostingKind::kShared}) {
    out.field(to_text(kind), money(of_kind(sums, kind)));
  }
  const auto hours = [&](const std::string& name, GpuTime time) {
    out.field(name, format_gpu_hours(time, 4, Thousands::kPlain));
    out.field(name + "_exact", exact_gpu_hours(time));
  };
  hours("gpu_hours_held", sums.held);
  hours("gpu_hours_idle", sums.idle);
  out.field("observed_share", format_percent(static_cast<Int128>(sums.observed.count()),
                                             static_cast<Int128>(sums.held.count()), 4));
  out.end_object();
}

}  // namespace

std::vector<MonthSums> month_sums(const std::string& month, std::span<const SummaryRow> rows) {
  std::map<Currency, MonthSums> by_currency;
  for (const SummaryRow& row : rows) {
    const Currency currency = row.costs.currency();
    MonthSums& sums = by_currency
                          .try_emplace(currency, MonthSums{.month = month,
                                                           .total = Money::zero(currency),
                                                           .by_kind = {},
                                                           .held = {},
                                                           .idle = {},
                                                           .observed = {}})
                          .first->second;
    sums.total += row.costs.effective;
    sums.held += row.gpu_time;
    sums.idle += row.idle_time;
    sums.observed += row.observed_time;
    if (const auto kind = parse_posting_kind(row.keys[0])) {
      sums.by_kind.try_emplace(*kind, Money::zero(currency)).first->second += row.costs.effective;
    }
  }
  std::vector<MonthSums> all;
  for (auto& [currency, sums] : by_currency) all.push_back(std::move(sums));
  return all;
}

Response get_summary(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  QueryParams params(request);
  const auto wanted = params.month("month");
  queries.convert_to(read_currency(params, services.config.currencies.report));
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string etag = queries.etag(request);
  if (client_has(request, etag)) return not_modified(etag);

  const auto newest = wanted ? Result<std::string>(*wanted) : newest_month(queries);
  if (!newest) return refusal(newest.error());
  JsonWriter out;
  out.begin_object().key("months").begin_list();
  const auto month = parse_year_month(*newest);
  std::vector<MonthSums> to_date;
  std::optional<sys_days> last;
  if (month) {
    const std::string before = text_of(*month - std::chrono::months(1));
    const auto found = queries.last_day(*newest);
    if (!found) return refusal(found.error());
    last = *found;
    for (const std::string& one : {*newest, before}) {
      const auto sums = sums_of(queries, one, std::nullopt);
      if (!sums) return refusal(sums.error());
      for (const MonthSums& each : *sums) write_month_sums(out, each);
    }
    if (last) {
      const year_month_day date(*last);
      auto sums = sums_of(queries, before, same_day(*month - std::chrono::months(1), date.day()));
      if (!sums) return refusal(sums.error());
      to_date = *std::move(sums);
    }
  }
  out.end_list().key("previous_to_date").begin_list();
  for (const MonthSums& each : to_date) write_month_sums(out, each);
  out.end_list().key("as_of");
  if (last) {
    out.value(Date(*last));
  } else {
    out.null();
  }
  out.texts("rates", queries.rates()).end_object();
  return json(out, 200, etag);
}

}  // namespace pennyweight::api
