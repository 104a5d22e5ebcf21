// The parameters of a request as a query, and which ones are refused.
#include "server/api/cost_params.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight::api {
namespace {

const Policy kPolicy = default_config().policy;

server::Request request_of(std::multimap<std::string, std::string> query) {
  server::Request request;
  request.query = std::move(query);
  return request;
}

TEST(CostQuery, TakesEveryWord) {
  const auto request = request_of({{"by", "team,user"},
                                   {"filter", "team=nlp"},
                                   {"filter", "kind!=shared"},
                                   {"from", "2026-03-01"},
                                   {"to", "2026-03-31"},
                                   {"step", "day"},
                                   {"cost", "all"},
                                   {"sort", "key"},
                                   {"top", "3"},
                                   {"currency", "EUR"},
                                   {"as_of", "2026-04-01T00:00:00Z"},
                                   {"kinds", "held"}});
  QueryParams params(request);
  const CostQuery query = read_cost_query(params, kPolicy, std::nullopt);
  ASSERT_FALSE(params.problem());
  EXPECT_EQ(query.by, (std::vector<std::string>{"team", "user"}));
  EXPECT_EQ(query.filters,
            (std::vector<std::string>{"team=nlp", "kind!=shared", "kind=used,held_idle"}));
  EXPECT_EQ(query.dates.from, "2026-03-01");
  EXPECT_EQ(query.step, "day");
  EXPECT_EQ(query.top, 3U);
  EXPECT_EQ(query.currency, kEur);
  EXPECT_TRUE(query.as_of);
  EXPECT_TRUE(plan_cost_query(query, kPolicy));
}

TEST(CostQuery, CurrencyAsConfiguredUnlessItIsSaid) {
  const auto none = request_of({});
  QueryParams params(none);
  EXPECT_EQ(read_cost_query(params, kPolicy, kUsd).currency, kUsd);
  const auto original = request_of({{"currency", "original"}});
  QueryParams other(original);
  EXPECT_EQ(read_cost_query(other, kPolicy, kUsd).currency, std::nullopt);
}

TEST(CostQuery, RefusesWhatMeansNothing) {
  std::multimap<std::string, std::string> many;
  for (std::size_t i = 0; i <= kFiltersMax; ++i) many.emplace("filter", "team=nlp");
  for (const auto& query : std::vector<std::multimap<std::string, std::string>>{
           {{"by", "team,team"}},
           {{"by", "team,user,project,cluster,node,kind,month"}},
           {{"step", "hour"}},
           {{"cost", "cheap"}},
           {{"sort", "name"}},
           {{"top", "-1"}},
           {{"top", "10001"}},
           {{"currency", "euro"}},
           {{"as_of", "yesterday"}},
           {{"kinds", "idle"}},
           {{"month", "2026-13"}},
           {{"from", "2026-02-30"}},
           {{"colour", "blue"}},
           many}) {
    const auto request = request_of(query);
    QueryParams params(request);
    read_cost_query(params, kPolicy, std::nullopt);
    const auto refused = params.problem();
    ASSERT_TRUE(refused) << query.begin()->first << "=" << query.begin()->second;
    EXPECT_EQ(refused->status, 422);
  }
}

TEST(Select, FiltersAndDatesOfOtherRoutes) {
  const auto request = request_of({{"filter", "team=(unallocated)"}, {"month", "2026-03"}});
  QueryParams params(request);
  SummaryQuery query;
  read_selection(params, kPolicy, query);
  ASSERT_FALSE(params.problem());
  ASSERT_EQ(query.filters.size(), 3U);
  EXPECT_EQ(query.filters[2].dimension, "kind");
  for (const char* bad : {"taem=nlp", "team", "=nlp"}) {
    const auto wrong = request_of({{"filter", bad}});
    QueryParams again(wrong);
    read_selection(again, kPolicy, query);
    EXPECT_EQ(again.problem()->status, 422) << bad;
  }
  const auto back = request_of({{"from", "2026-03-02"}, {"to", "2026-03-01"}});
  QueryParams again(back);
  read_selection(again, kPolicy, query);
  EXPECT_EQ(again.problem()->status, 422);
}

}  // namespace
}  // namespace pennyweight::api
