// Periods: months of the accounts, open or closed; and closing one, for good.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "api/audit_log.h"
#include "api/book_routes.h"
#include "api/books.h"
#include "core/date.h"
#include "core/hash.h"
#include "core/plain_text.h"
#include "rollup/rollup.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kList = "periods";
constexpr std::size_t kReasonBytesMax = 2000;

struct Period {
  std::string month;
  std::optional<Closing> closing;
  std::vector<Money> effective;  // posted, one a currency
};

using Effective = std::map<std::string, std::vector<Money>>;

Result<Effective> effective_by_month(const Parts& parts, Store& store) {
  SummaryQuery query;
  query.group_by = {"month"};
  auto kept = parts.rollup.summarise(query);
  if (!kept) return std::unexpected(kept.error());
  if (!*kept) {
    auto rows = store.summarise(query);
    if (!rows) return std::unexpected(rows.error());
    *kept = *std::move(rows);
  }
  Effective sums;
  for (const SummaryRow& row : **kept) sums[row.keys.front()].push_back(row.costs.effective);
  return sums;
}

// The latest first.
Result<std::vector<Period>> periods_of(const Parts& parts, Store& store) {
  const auto overview = store.overview();
  if (!overview) return std::unexpected(overview.error());
  const auto closings = store.closings();
  if (!closings) return std::unexpected(closings.error());
  const auto effective = effective_by_month(parts, store);
  if (!effective) return std::unexpected(effective.error());
  std::map<std::string, Period, std::greater<>> found;
  for (const std::string& month : overview->months) found[month].month = month;
  // Months in which something late is booked have perhaps no line of their own.
  for (const auto& [month, sums] : *effective) {
    if (!month.empty()) found[month] = {month, {}, sums};
  }
  for (const Closing& closing : *closings) {
    found[closing.month].month = closing.month;
    found[closing.month].closing = closing;
  }
  std::vector<Period> all;
  for (auto& [month, period] : found) all.push_back(std::move(period));
  return all;
}

// A month backwards: the order of the texts is the latest first.
std::string key_of(const Period& period) {
  std::string key = period.month;
  for (char& c : key) {
    if (c >= '0' && c <= '9') c = static_cast<char>('9' - (c - '0'));
  }
  return key;
}

void write(JsonWriter& out, const Period& period) {
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

std::string text_of(const Period& period) {
  JsonWriter out;
  write(out, period);
  return out.text();
}

server::Response periods(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  auto all = ask_ledger(parts, [&](Store& store) { return periods_of(parts, store); });
  if (!all) return refusal(all.error());
  const auto part = page_of(kList, page, *std::move(all), key_of);
  return with_version(list(part.entries, part.next, write));
}

struct Closed {
  Period before;
  Period after;
};

Result<Closed> close_month(const Parts& parts, Store& store, const std::string& month,
                           const std::string& by, const std::string& reason) {
  auto all = periods_of(parts, store);
  if (!all) return std::unexpected(all.error());
  const auto found = std::ranges::find(*all, month, &Period::month);
  if (found == all->end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is nothing of {}", month));
  }
  auto closing = store.close_month({.month = month,
                                    .at = parts.clock.now(),
                                    .by = by,
                                    .reason = reason,
                                    .last_import = 0,
                                    .lines = 0,
                                    .runs = 0,
                                    .digest = {}});
  if (!closing) return std::unexpected(closing.error());
  Closed closed{.before = *found, .after = *found};
  closed.after.closing = *std::move(closing);
  return closed;
}

server::Response close(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const std::string reason = body.text("reason").value_or("");
  if (reason.size() > kReasonBytesMax || !is_plain_text(reason)) {
    body.wrong("reason", fmt::format("a text of at most {} bytes", kReasonBytesMax));
  }
  const std::string month = request.param("month");
  if (!parse_date(month + "-01")) return bad_parameter("month", "a month is written as 2026-03");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  const auto closed = ask_ledger(parts, [&](Store& store) {
    return close_month(parts, store, month, asker(request).name, reason);
  });
  if (!closed) return refusal(closed.error());
  const std::string after = text_of(closed->after);
  const auto recorded =
      append(parts, request, "period.close", "month " + month, text_of(closed->before), after);
  if (!recorded) return not_recorded(recorded.error());
  return json(after, 201);
}

}  // namespace

std::vector<server::Route> period_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/periods",
           .handler = [&parts](const server::Request& request) { return periods(parts, request); },
           .needs = "read_bills"},
          {.method = "POST",
           .path = "/api/v1/periods/{month}/close",
           .handler = [&parts](const server::Request& request) { return close(parts, request); },
           .needs = "close_periods"}};
}

}  // namespace pennyweight::api
