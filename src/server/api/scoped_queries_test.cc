// ScopedQueries adds the user's scope to every query, and no route can avoid it.
#include "server/api/scoped_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "ledger/store.h"
#include "server/access/accounts.h"
#include "server/api/endpoints.h"
#include "server/api/live_for_tests.h"
#include "server/api/routes.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {
namespace {

using access::Principal;

bool has_scope(const SummaryQuery& query) {
  for (const SummaryFilter& filter : query.filters) {
    if (filter.dimension == "team" && filter.values == std::vector<std::string>{"nlp"} &&
        !filter.negate) {
      return true;
    }
  }
  return false;
}

// The days of a month that have costs are the same for everybody, and none of these rows is
// returned.
bool is_of_days(const SummaryQuery& query) {
  return query.bucket == TimeBucket::kDay && query.group_by.empty() && query.filters.size() == 1 &&
         query.filters[0].dimension == "month";
}

// Returns configured answers and records the queries.
class FakeRollup : public rollup::Rollup {
 public:
  Result<bool> refresh(Store&) override { return false; }
  Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery& query) override {
    recorded.push_back(query);
    if (!keeps) return std::nullopt;
    if (is_of_days(query)) return of_days;
    return std::vector<SummaryRow>();
  }
  Result<std::vector<Value>> values_of(const SummaryQuery& query, const std::string&,
                                       const std::string&, std::size_t) override {
    recorded.push_back(query);
    return std::vector<Value>{{"nlp", Money::from_units(3, kUsd)}};
  }
  std::optional<std::uint64_t> version() const override { return number; }

  std::vector<SummaryQuery> recorded;
  std::vector<SummaryRow> of_days;
  bool keeps = true;
  std::optional<std::uint64_t> number = 1;
};

class ScopedQueriesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("scoped_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    accounts_ = *access::Accounts::open({.path = (folder_ / "accounts").string()}, clock_);
    audit_log_ = *audit_log::AuditLog::open((folder_ / "trail").string(), clock_);
    services_.emplace(Services{.config = config_,
                               .catalog = Catalog::built_in(),
                               .clock = clock_,
                               .ledger = [this](const auto&) -> Result<void> {
                                 ++ledger_asked_;
                                 return fail(ErrorCode::kStore, "no ledger here");
                               },
                               .rollup = rollup_,
                               .accounts = *accounts_,
                               .audit_log = *audit_log_});
    ana_.name = "ana";
    ana_.scope = {{"team", {"nlp"}, false}};
    all_.name = "root";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The answer of the route with this path.
  server::Response ask(const std::string& path, const Principal& who,
                       std::multimap<std::string, std::string> query = {},
                       std::map<std::string, std::string> params = {}) {
    server::Request request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    request.params = std::move(params);
    request.principal = who;
    routes_ = api_routes(*services_);  // kept, since a stream may outlive this call
    for (const server::Route& route : routes_) {
      if (route.path == path) return route.handler(request);
    }
    ADD_FAILURE() << "no route " << path;
    return {};
  }

  SimulatedClock clock_{kLook};
  Config config_ = default_config();
  FakeRollup rollup_;
  std::filesystem::path folder_;
  std::unique_ptr<access::Accounts> accounts_;
  std::unique_ptr<audit_log::AuditLog> audit_log_;
  std::optional<Services> services_;
  std::vector<server::Route> routes_;
  int ledger_asked_ = 0;
  Principal ana_, all_;
};

TEST_F(ScopedQueriesTest, EveryQueryIsNarrowed) {
  const std::vector<std::pair<std::string, std::multimap<std::string, std::string>>> routes = {
      {"/api/v1/costs", {{"by", "team"}, {"filter", "team=cv"}}},
      {"/api/v1/costs", {{"by", "node"}, {"currency", "original"}}},
      {"/api/v1/summary", {{"month", "2026-03"}}},
      {"/api/v1/summary", {}},
      {"/api/v1/workloads", {{"month", "2026-03"}}},
      {"/api/v1/workload", {{"workload", "7"}, {"month", "2026-03"}}}};
  for (const auto& [path, query] : routes) {
    rollup_.recorded.clear();
    ask(path, ana_, query);
    EXPECT_FALSE(rollup_.recorded.empty()) << path;
    for (const SummaryQuery& sent : rollup_.recorded) {
      EXPECT_TRUE(has_scope(sent) || (path == "/api/v1/summary" && is_of_days(sent))) << path;
    }
    rollup_.recorded.clear();
    ask(path, all_, query);
    for (const SummaryQuery& sent : rollup_.recorded) EXPECT_FALSE(has_scope(sent)) << path;
  }
  rollup_.recorded.clear();
  const auto values = ask("/api/v1/dimensions/{name}/values", ana_, {}, {{"name", "team"}});
  EXPECT_EQ(values.body,
            R"({"data":[{"value":"nlp","currency":"USD","effective_cost":"3"}],"next":null})"
            "\n");
  EXPECT_TRUE(has_scope(rollup_.recorded.at(0)));
}

// A team with costs only on the 1st is not compared with one day of the month before.
TEST_F(ScopedQueriesTest, AMonthHasComeAsFarForATeamAsForAll) {
  rollup_.of_days.push_back({.bucket = *parse_date("2026-03-31"),
                             .keys = {},
                             .costs = Costs::zero(kUsd),
                             .gpu_time = {},
                             .idle_time = {},
                             .memory_time = {},
                             .observed_time = {}});
  const auto answer = ask("/api/v1/summary", ana_, {{"month", "2026-03"}});
  EXPECT_NE(answer.body.find(R"("as_of":"2026-03-31")"), std::string::npos) << answer.body;
  const SummaryQuery& before = rollup_.recorded.back();
  EXPECT_TRUE(has_scope(before));
  EXPECT_EQ(before.last_day, *parse_date("2026-02-28"));
}

TEST_F(ScopedQueriesTest, QueriesBeyondTheRollupGoToTheLedger) {
  rollup_.keeps = false;
  const auto costs = ask("/api/v1/costs", all_, {{"by", "charge"}});
  EXPECT_EQ(ledger_asked_, 1);
  EXPECT_EQ(costs.status, 503);
  EXPECT_TRUE(costs.retry_after);
}

TEST_F(ScopedQueriesTest, AScopeThatCutsThroughWorkloadsIsRefused) {
  ana_.scope = {{"node", {"n1"}, false}};
  EXPECT_EQ(ask("/api/v1/units", ana_).status, 422);
  EXPECT_EQ(ask("/api/v1/coverage", ana_).status, 422);
  EXPECT_EQ(ledger_asked_, 0);
}

TEST_F(ScopedQueriesTest, MissingAndForbiddenRowsLookTheSame) {
  const auto none = ask("/api/v1/workload", ana_, {{"workload", "7"}, {"month", "2026-03"}});
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(ledger_asked_, 0) << "the ledger is not read";
}

TEST_F(ScopedQueriesTest, AnEtagDiffersByVersionQueryAndScope) {
  const auto etag = [&](const Principal& who, const std::string& by) {
    return ask("/api/v1/costs", who, {{"by", by}}).etag;
  };
  const std::string first = etag(all_, "team");
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(etag(all_, "team"), first);
  EXPECT_NE(etag(all_, "user"), first);
  EXPECT_NE(etag(ana_, "team"), first);
  rollup_.number = 2;
  EXPECT_NE(etag(all_, "team"), first);
  rollup_.number.reset();
  EXPECT_EQ(etag(all_, "team"), "") << "the ledger answers, and may change unseen";
}

TEST_F(ScopedQueriesTest, AMatchingEtagRunsNoQuery) {
  const std::string etag = ask("/api/v1/costs", all_).etag;
  rollup_.recorded.clear();
  server::Request request;
  request.path = "/api/v1/costs";
  request.principal = all_;
  request.headers.emplace("if-none-match", etag);
  EXPECT_EQ(get_costs(*services_, request).etag, etag);
  EXPECT_TRUE(rollup_.recorded.empty());
}

TEST_F(ScopedQueriesTest, TheLiveViewIsCut) {
  const auto view = std::make_shared<const LiveView>(
      live_view({live_share("a", "nlp", "n1", 2), live_share("b", "cv", "n1", 3)}));
  services_->live = [view] { return view; };
  EXPECT_EQ(ScopedQueries(*services_, all_).live(), view);
  EXPECT_EQ(
      ScopedQueries(*services_, ana_).live()->clusters.at(ClusterId("lab")).recent.shares.size(),
      1U);
  const std::string body = ask("/api/v1/live", ana_).body;
  EXPECT_NE(body.find("\"workload\":\"a\""), std::string::npos) << body;
  EXPECT_EQ(body.find("\"workload\":\"b\""), std::string::npos) << body;
  EXPECT_EQ(body.find("n9"), std::string::npos) << "notes are about the whole cluster";
}

TEST_F(ScopedQueriesTest, TopIsTheLiveViewForATerminalAndIsCutToo) {
  const auto view = std::make_shared<const LiveView>(
      live_view({live_share("a", "nlp", "n1", 2), live_share("b", "cv", "n1", 3)}));
  services_->live = [view] { return view; };
  const auto json = ask("/api/v1/top", ana_);
  EXPECT_EQ(json.content_type, "application/json");
  EXPECT_NE(json.body.find("\"workload\": \"a\""), std::string::npos) << json.body;
  EXPECT_EQ(json.body.find("\"workload\": \"b\""), std::string::npos) << json.body;
  EXPECT_NE(json.body.find("\"team\""), std::string::npos) << json.body;
  const auto csv = ask("/api/v1/top", all_, {{"format", "csv"}, {"by", ""}, {"limit", "0"}});
  EXPECT_EQ(csv.content_type, "text/csv; charset=utf-8");
  EXPECT_EQ(csv.body.substr(0, csv.body.find('\n')).find("team"), std::string::npos) << csv.body;
  const std::multimap<std::string, std::string> terminal = {
      {"format", "text"}, {"width", "60"}, {"plain", "true"}, {"sort", "idle"}};
  const auto text = ask("/api/v1/top", all_, terminal);
  EXPECT_EQ(text.content_type, "text/plain; charset=utf-8");
  EXPECT_TRUE(std::ranges::all_of(text.body, [](char c) { return c > 0; })) << text.body;
  EXPECT_NE(ask("/api/v1/top", all_, {{"format", "text"}}).body.find("─"), std::string::npos);
  EXPECT_EQ(ask("/api/v1/top", all_, {{"format", "text"}, {"width", "5"}}).status, 200);
}

TEST_F(ScopedQueriesTest, EventsAreCutAndEnd) {
  const auto view = std::make_shared<const LiveView>(
      live_view({live_share("a", "nlp", "n1", 2), live_share("b", "cv", "n1", 3)}));
  services_->live = [view] { return view; };
  std::string answer;
  const server::Response events = ask("/api/v1/events", ana_);
  EXPECT_EQ(events.content_type, "text/event-stream");
  // A client that leaves at the first check.
  EXPECT_TRUE(events.stream([&](std::string_view piece) {
    answer += piece;
    return !piece.empty();
  }));
  EXPECT_NE(answer.find("event: live\ndata: {\"at\":"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\"gpus_held\":2,"), std::string::npos) << answer;
  EXPECT_NE(answer.find("event: rollup\ndata: {\"version\":1}\n\n"), std::string::npos) << answer;
}

TEST_F(ScopedQueriesTest, WrongWordsAreNamed) {
  for (const auto& [path, query] :
       std::vector<std::pair<std::string, std::multimap<std::string, std::string>>>{
           {"/api/v1/costs", {{"by", "taem"}}},
           {"/api/v1/costs", {{"by", "currency"}}},
           {"/api/v1/explain", {}},
           {"/api/v1/explain", {{"charge", "1"}, {"key", "nlp"}}},
           {"/api/v1/workload", {{"workload", "7"}}},
           {"/api/v1/workloads", {{"cursor", "x"}}},
           {"/api/v1/units", {{"by", "taem"}}},
           {"/api/v1/coverage", {{"by", "node"}}},
           {"/api/v1/live", {{"sort", "colour"}}},
           {"/api/v1/live", {{"filter", "team"}}},
           {"/api/v1/live", {{"filter", "team!=nlp"}}},
           {"/api/v1/live/now", {{"x", "y"}}},
           {"/api/v1/top", {{"sort", "beauty"}}},
           {"/api/v1/top", {{"limit", "-1"}}},
           {"/api/v1/top", {{"limit", "10001"}}},
           {"/api/v1/top", {{"format", "xml"}}},
           {"/api/v1/top", {{"mood", "red"}}},
           {"/api/v1/top", {{"filter", "nlp"}}},
           {"/api/v1/top", {{"ended", "yes"}}},
           {"/api/v1/top", {{"width", "0"}}},
           {"/api/v1/top", {{"plain", "1"}}},
           {"/api/v1/events", {{"x", "y"}}},
           {"/api/v1/fleet", {{"limit", "0"}}}}) {
    EXPECT_EQ(ask(path, all_, query).status, 422) << path;
  }
  EXPECT_EQ(ask("/api/v1/dimensions/{name}/values", all_, {}, {{"name", "taem"}}).status, 404);
  EXPECT_EQ(ask("/api/v1/live", all_).status, 503) << "nobody has looked yet";
  EXPECT_EQ(ask("/api/v1/top", all_).status, 503);
}

}  // namespace
}  // namespace pennyweight::api
