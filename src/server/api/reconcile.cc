// Reconcile: charges compared with the sums of their postings, to the last digit.
#include "reporting/queries/reconcile.h"

#include <utility>

#include "ledger/fact_id.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kLines = "reconcile lines";

Costs difference_of(const Costs& posted, const Costs& line) {
  return {posted.billed - line.billed, posted.effective - line.effective, posted.list - line.list,
          posted.contracted - line.contracted};
}

void write_costs(JsonWriter& out, std::string_view name, const Costs& costs) {
  out.key(name)
      .begin_object()
      .field("billed", to_text(costs.billed.amount()))
      .field("effective", to_text(costs.effective.amount()))
      .field("list", to_text(costs.list.amount()))
      .field("contracted", to_text(costs.contracted.amount()))
      .end_object();
}

void write_totals(JsonWriter& out, const std::string& month, const ReconcileTotals& totals) {
  out.begin_object().field("month", month).field("currency", totals.billed_lines.currency().text());
  write_costs(out, "billed", totals.billed_lines);
  write_costs(out, "posted", totals.posted);
  write_costs(out, "difference", difference_of(totals.posted, totals.billed_lines));
  out.field("lines", totals.lines)
      .field("lines_off", totals.lines_off)
      .field("lines_unposted", totals.lines_unposted)
      .field("transfers", totals.transfers)
      .field("transfers_off", totals.transfers_off)
      .field("lines_gone", totals.lines_gone)
      .field("exact", totals.exact())
      .end_object();
}

void write_line(JsonWriter& out, const LineCheck& line) {
  const Charge& charge = line.charge;
  out.begin_object()
      .field("charge", to_text(charge.id))
      .field("currency", charge.costs.currency().text())
      .field("description", charge.charge_description)
      .field("category", to_text(charge.charge_category))
      .field("service", charge.service_name)
      .field("resource", charge.resource_id)
      .field("account", charge.billing_account_id)
      .field("from", charge.charge_period.begin())
      .field("to", charge.charge_period.end());
  write_costs(out, "costs", charge.costs);
  write_costs(out, "posted", line.posted);
  write_costs(out, "difference", difference_of(line.posted, charge.costs));
  out.field("postings", line.postings)
      .field("exact", line.exact())
      .field("off", describe_differences(line))
      .end_object();
}

}  // namespace

server::Response get_reconciliation(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  if (auto problem = params.problem()) return *std::move(problem);
  const auto answer = ask_ledger(services, [&](Store& store) {
    return query_reconciliation(store, {.month = month.value_or(""), .top = 0, .rejected = 0});
  });
  // Without charges nothing can differ.
  if (!answer && answer.error().code != ErrorCode::kNotFound) return refusal(answer.error());
  JsonWriter out;
  out.begin_object().key("totals").begin_list();
  if (answer) {
    for (const ReconciledMonth& one : answer->months) {
      for (const ReconcileTotals& sums : one.totals) write_totals(out, one.month, sums);
    }
  }
  out.end_list().field("exact", !answer || answer->exact()).end_object();
  return with_body_etag(json(out));
}

server::Response get_reconciliation_lines(const Services& services,
                                          const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  const bool only_off = params.boolean("only_off").value_or(false);
  const Page page = params.page(kLines);
  if (auto problem = params.problem()) return *std::move(problem);
  std::vector<LineCheck> found;
  bool more = false;
  const auto done = ask_ledger(services, [&](Store& store) {
    return store.reconcile(month.value_or(""), only_off, [&](const LineCheck& line) {
      if (page.after && to_text(line.charge.id) <= *page.after) return true;
      if (found.size() == page.limit) {
        more = true;
        return false;
      }
      found.push_back(line);
      return true;
    });
  });
  if (!done) return refusal(done.error());
  std::optional<std::string> next;
  if (more) next = to_cursor(kLines, to_text(found.back().charge.id));
  return with_body_etag(list(found, next, write_line));
}

}  // namespace pennyweight::api
