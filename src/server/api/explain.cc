// GET /api/v1/explain: how an amount comes about, down to every posting.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "config/config.h"
#include "core/hash.h"
#include "reporting/number_format.h"
#include "reporting/queries/explain_sum.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kExplainedPostingsMax = 1000;
constexpr std::uint64_t kExplainedOffsetMax = 1'000'000'000;

struct ExplainParams {
  ExplainQuery query;
  std::string bucket;
};

ExplainParams read_explain_params(QueryParams& params, const Config& config,
                                  ScopedQueries& queries) {
  ExplainParams asked;
  ExplainQuery& query = asked.query;
  query.charge = params.text("charge").value_or("");
  asked.bucket = params.text("bucket").value_or("");
  const auto by = params.name_list("by");
  if (!by.empty()) query.by = by;
  const auto key = params.text("key");
  query.key = key.value_or("");
  query.whole = !key.has_value() && !by.empty();
  query.filters = read_filters(params);
  query.dates = read_dates(params);
  query.cost = params.choice("cost", {"effective", "billed", "list", "contracted"});
  query.as_of = params.instant("as_of");
  query.top = params.number("top", 1, kExplainedPostingsMax).value_or(query.top);
  query.skipped = params.number("offset", 0, kExplainedOffsetMax).value_or(0);
  query.posting = params.number("posting", 0, kExplainedOffsetMax);
  queries.convert_to(read_currency(params, config.currencies.report));
  const bool is_row = key.has_value() || !by.empty();
  if (!asked.bucket.empty()) {
    if (!parse_hash(asked.bucket)) params.reject("bucket", "an id has 32 hexadecimal digits");
    if (is_row || !query.charge.empty()) params.reject("bucket", "leave out charge, by and key");
    if (query.posting) params.reject("posting", "a bucket has no posting to explain");
  } else if (query.charge.empty() ? !is_row : key.has_value()) {
    params.reject(key ? "charge" : "key", "say what to explain: charge, bucket, or by and key");
  }
  return asked;
}

void write_money(JsonWriter& out, std::string_view name, const Money& money) {
  out.field(name, to_text(money.amount()));
}

void write_sum(JsonWriter& out, const ExplainedSum& sum, const ScopedQueries& queries) {
  out.key("total").begin_list();
  for (const Money& total : sum.total) {
    out.begin_object().field("currency", total.currency().text());
    write_money(out, "amount", total);
    out.end_object();
  }
  out.end_list().key("parts").begin_list();
  for (const ExplainedPart& part : sum.parts) {
    out.begin_object()
        .field("kind", to_text(part.kind))
        .field("component", to_text(part.component))
        .field("currency", part.cost.currency().text());
    write_money(out, "amount", part.cost);
    out.field("gpu_hours", format_gpu_hours(part.gpu_time, 4, Thousands::kPlain))
        .field("gpu_hours_exact", exact_gpu_hours(part.gpu_time))
        .field("postings", part.postings)
        .end_object();
  }
  out.end_list().key("months").begin_list();
  for (const ExplainedMonth& month : sum.months) {
    out.begin_object()
        .field("month", month.month)
        .field("currency", month.billed.currency().text());
    write_money(out, "amount", month.billed);
    out.field("shown_currency", month.shown.currency().text());
    write_money(out, "shown", month.shown);
    out.end_object();
  }
  out.end_list().field("postings_total", sum.postings).texts("rates", queries.rates());
}

void write_lines(JsonWriter& out, std::span<const Posting> postings, std::uint64_t first,
                 CostColumn cost) {
  out.field("offset", first).key("lines").begin_list();
  for (const Posting& posting : postings) {
    out.begin_object()
        .field("number", first++)
        .field("day", Date(posting.day))
        .field("node", posting.node.text())
        .field("workload", posting.workload.text())
        .field("kind", to_text(posting.kind))
        .field("component", to_text(posting.component))
        .field("currency", posting.costs.currency().text());
    write_money(out, "amount", select_cost(posting.costs, cost));
    out.field("gpu_hours", format_gpu_hours(posting.gpu_time, 4, Thousands::kPlain))
        .field("gpu_hours_exact", exact_gpu_hours(posting.gpu_time))
        .field("charge", to_text(posting.charge))
        .end_object();
  }
  out.end_list();
}

void write_steps(JsonWriter& out, const Explanation& explanation) {
  out.key("explanation").begin_list();
  for (const OutlineSection& section : outline_explanation(explanation)) {
    out.begin_object().field("title", section.title).key("facts").begin_list();
    for (const auto& [name, value] : section.facts) {
      out.begin_object().field("name", name).field("value", value).end_object();
    }
    out.end_list().end_object();
  }
  out.end_list();
}

Response explain_bucket(const ScopedQueries& queries, const ExplainParams& asked, CostColumn cost) {
  const auto bucket = queries.bucket(asked.bucket);
  if (!bucket) return refusal(bucket.error());
  const std::vector<Posting>& all = bucket->postings;
  const auto begin = std::min<std::uint64_t>(asked.query.skipped, all.size());
  const auto count = std::min<std::uint64_t>(asked.query.top, all.size() - begin);
  JsonWriter out;
  out.begin_object().key("postings");
  write_table(out, Table{.title = "The cost that was spread",
                         .currency = {},
                         .columns = {},
                         .rows = {},
                         .total = {},
                         .notes = {}});
  write_steps(out, {});
  out.field("exact", true).texts("warnings", {}).field("cost", asked.query.cost);
  write_sum(out, sum_of_postings(all, bucket->month, cost), queries);
  write_lines(out, std::span(all).subspan(begin, count), begin, cost);
  out.key("posting").null().key("bucket").null().end_object();
  return json(out);
}

}  // namespace

Response get_explanation(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  QueryParams params(request);
  const ExplainParams asked = read_explain_params(params, services.config, queries);
  if (auto problem = params.problem()) return *std::move(problem);
  const ExplainQuery& query = asked.query;
  const auto cost = parse_explained_cost(query.cost);
  if (!cost) return refusal(cost.error());
  if (!asked.bucket.empty()) return explain_bucket(queries, asked, *cost);

  const auto result = queries.explain(query);
  if (!result) return refusal(result.error());
  const auto sum = queries.explain_sum(query);
  if (!sum) return refusal(sum.error());
  JsonWriter out;
  out.begin_object().key("postings");
  write_table(out, result->table);
  write_steps(out, result->explanation);
  out.field("exact", result->explanation.exact)
      .texts("warnings", result->warnings)
      .field("cost", query.cost);
  write_sum(out, *sum, queries);
  write_lines(out, result->postings, query.skipped, *cost);
  out.field("posting", query.posting.value_or(query.skipped));
  out.field("bucket",
            result->bucket.empty() ? std::nullopt : std::optional<std::string>(result->bucket));
  out.end_object();
  return json(out);
}

}  // namespace pennyweight::api
