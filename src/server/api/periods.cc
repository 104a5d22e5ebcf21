// Periods: accounting months, open or closed; and closing one for good.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/ascii.h"
#include "core/date.h"
#include "core/hash.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "reporting/queries/close_books.h"
#include "reporting/rollup/rollup.h"
#include "server/api/audit_log.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kPeriodList = "periods";
constexpr std::size_t kCloseReasonBytesMax = 2000;

struct Period {
  std::string month;
  std::optional<Closing> closing;
  std::vector<Money> effective;  // posted, one for each currency
};

using Effective = std::map<std::string, std::vector<Money>>;

Result<Effective> effective_by_month(const Services& services, Store& store) {
  SummaryQuery query;
  query.group_by = {"month"};
  auto from_rollup = services.rollup.summarise(query);
  if (!from_rollup) return std::unexpected(from_rollup.error());
  if (!*from_rollup) {
    auto rows = TRY(store.summarise(query));
    *from_rollup = std::move(rows);
  }
  Effective sums;
  for (const SummaryRow& row : **from_rollup) sums[row.keys.front()].push_back(row.costs.effective);
  return sums;
}

// The latest month first.
Result<std::vector<Period>> list_periods(const Services& services, Store& store) {
  const auto overview = TRY(store.overview());
  const auto closings = TRY(store.closings());
  const auto effective = TRY(effective_by_month(services, store));
  std::map<std::string, Period, std::greater<>> found;
  for (const std::string& month : overview.months) found[month].month = month;
  // A month in which only late charges are booked may have no charge of its own.
  for (const auto& [month, sums] : effective) {
    if (!month.empty()) found[month] = {month, {}, sums};
  }
  for (const Closing& closing : closings) {
    found[closing.month].month = closing.month;
    found[closing.month].closing = closing;
  }
  std::vector<Period> all;
  for (auto& [month, period] : found) all.push_back(std::move(period));
  return all;
}

// A key whose text order is the latest month first.
std::string period_key(const Period& period) {
  std::string key = period.month;
  for (char& c : key) {
    if (ascii::is_digit(c)) c = static_cast<char>('9' - (c - '0'));
  }
  return key;
}

void write_period(JsonWriter& out, const Period& period) {
  const auto& closing = period.closing;
  out.begin_object()
      .field("month", period.month)
      .field("state", closing ? "closed" : "open")
      .field("closed_at", closing ? std::optional(closing->at) : std::nullopt)
      .field("closed_by", closing ? std::optional(closing->by) : std::nullopt)
      .field("reason", closing ? std::optional(closing->reason) : std::nullopt)
      .field("digest", closing ? std::optional(to_text(closing->digest)) : std::nullopt)
      .field("lines", closing ? std::optional(closing->lines) : std::nullopt)
      .key("effective")
      .begin_list();
  for (const Money& money : period.effective) {
    out.begin_object()
        .field("currency", money.currency().text())
        .field("amount", to_text(money.amount()))
        .end_object();
  }
  out.end_list().end_object();
}

std::string period_json(const Period& period) {
  JsonWriter out;
  write_period(out, period);
  return out.text();
}

struct ClosedMonth {
  Period before;
  Period after;
  std::string checked;  // against which total of the provider
};

Result<ClosedMonth> close_month(const Services& services, Store& store, const std::string& month,
                                const std::string& by, const std::string& reason,
                                const std::string& even_so) {
  auto all = TRY(list_periods(services, store));
  const auto found = std::ranges::find(all, month, &Period::month);
  if (found == all.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there are no charges in {}", month));
  }
  auto books = TRY(close_books(store,
                               {.month = month,
                                .at = services.clock.now(),
                                .by = by,
                                .reason = reason,
                                .last_import = 0,
                                .lines = 0,
                                .runs = 0,
                                .digest = {}},
                               even_so));
  ClosedMonth closed{.before = *found, .after = *found, .checked = books.checked};
  closed.after.closing = std::move(books.closing);
  return closed;
}

}  // namespace

server::Response get_periods(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const Page page = params.page(kPeriodList);
  if (auto problem = params.problem()) return *std::move(problem);
  auto all = ask_ledger(services, [&](Store& store) { return list_periods(services, store); });
  if (!all) return refusal(all.error());
  const auto part = cut_page(kPeriodList, page, *std::move(all), period_key);
  return with_body_etag(list(part.entries, part.next, write_period));
}

server::Response close_period(const Services& services, const server::Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string reason = body.text("reason").value_or("");
  if (reason.size() > kCloseReasonBytesMax || !is_plain_text(reason)) {
    body.reject("reason", fmt::format("must be a text of at most {} bytes", kCloseReasonBytesMax));
  }
  const std::string even_so = body.text("even_so").value_or("");
  if (even_so.size() > kCloseReasonBytesMax || !is_plain_text(even_so)) {
    body.reject("even_so", fmt::format("must be a text of at most {} bytes", kCloseReasonBytesMax));
  }
  const std::string month = request.param("month");
  if (!parse_date(month + "-01")) return bad_parameter("month", "must be a month such as 2026-03");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  const std::string subject = "month " + month;
  JsonWriter facts;
  facts.begin_object()
      .field("month", month)
      .field("reason", reason)
      .field("even_so", even_so)
      .end_object();
  if (auto recorded = record_intent(services.audit_log, author_of(request), "period.close", subject,
                                    facts.text());
      !recorded) {
    return refusal(recorded.error());
  }
  const auto closed = ask_ledger(services, [&](Store& store) {
    return close_month(services, store, month, principal_of(request).name, reason, even_so);
  });
  if (!closed) {
    record_failure(services.audit_log, author_of(request), "period.close", subject, closed.error());
    return refusal(closed.error());
  }
  const std::string after = period_json(closed->after);
  const auto recorded = append(services, request, "period.close", "month " + month,
                               period_json(closed->before), after);
  if (!recorded) return not_recorded(recorded.error());
  return json(after, 201);
}

}  // namespace pennyweight::api
