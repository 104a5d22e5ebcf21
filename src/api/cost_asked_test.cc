// The words of a request into a question, and what is refused.
#include "api/cost_asked.h"

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

TEST(CostQuestion, TakesEveryWord) {
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
  Asked asked(request);
  const CostQuestion question = cost_question(asked, kPolicy, std::nullopt);
  ASSERT_FALSE(asked.refused());
  EXPECT_EQ(question.by, (std::vector<std::string>{"team", "user"}));
  EXPECT_EQ(question.filters,
            (std::vector<std::string>{"team=nlp", "kind!=shared", "kind=used,held_idle"}));
  EXPECT_EQ(question.dates.from, "2026-03-01");
  EXPECT_EQ(question.step, "day");
  EXPECT_EQ(question.top, 3U);
  EXPECT_EQ(question.currency, kEur);
  EXPECT_TRUE(question.as_of);
  EXPECT_TRUE(plan_costs(question, kPolicy));
}

TEST(CostQuestion, CurrencyAsConfiguredUnlessItIsSaid) {
  const auto none = request_of({});
  Asked asked(none);
  EXPECT_EQ(cost_question(asked, kPolicy, kUsd).currency, kUsd);
  const auto original = request_of({{"currency", "original"}});
  Asked other(original);
  EXPECT_EQ(cost_question(other, kPolicy, kUsd).currency, std::nullopt);
}

TEST(CostQuestion, RefusesWhatMeansNothing) {
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
    Asked asked(request);
    cost_question(asked, kPolicy, std::nullopt);
    const auto refused = asked.refused();
    ASSERT_TRUE(refused) << query.begin()->first << "=" << query.begin()->second;
    EXPECT_EQ(refused->status, 422);
  }
}

TEST(Select, FiltersAndDatesOfOtherRoutes) {
  const auto request = request_of({{"filter", "team=(unallocated)"}, {"month", "2026-03"}});
  Asked asked(request);
  SummaryQuery query;
  select(asked, kPolicy, query);
  ASSERT_FALSE(asked.refused());
  ASSERT_EQ(query.filters.size(), 3U);
  EXPECT_EQ(query.filters[2].dimension, "kind");
  for (const char* bad : {"taem=nlp", "team", "=nlp"}) {
    const auto wrong = request_of({{"filter", bad}});
    Asked again(wrong);
    select(again, kPolicy, query);
    EXPECT_EQ(again.refused()->status, 422) << bad;
  }
  const auto back = request_of({{"from", "2026-03-02"}, {"to", "2026-03-01"}});
  Asked again(back);
  select(again, kPolicy, query);
  EXPECT_EQ(again.refused()->status, 422);
}

}  // namespace
}  // namespace pennyweight::api
