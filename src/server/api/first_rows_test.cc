// Routes that show the first rows of many query only these, within the scope, with the same answer
// as from all rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "ledger/store.h"
#include "reporting/rollup/rollup.h"
#include "server/access/accounts.h"
#include "server/api/answers.h"
#include "server/api/routes.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {
namespace {

using rollup::OwnersRequest;
using rollup::PageRequest;
using rollup::RowPage;
using rollup::TopOwners;
using Query = std::multimap<std::string, std::string>;

const Instant kNow = *parse_instant("2026-04-01T12:00:00Z");

SummaryRow row(std::vector<std::string> keys, std::int64_t units) {
  Costs costs = Costs::zero(kUsd);
  costs.effective = Money::from_units(units, kUsd);
  return {{}, std::move(keys), costs, {}, {}, {}, {}, 1};
}

// A rollup of three workloads in one cluster, which returns the first ones if configured to.
class ThreeWorkloads : public rollup::Rollup {
 public:
  Result<bool> refresh(Store&) override { return false; }
  Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery& query) override {
    whole.push_back(query);
    if (query.bucket == TimeBucket::kDay) return std::vector<SummaryRow>();
    std::vector<SummaryRow> rows;
    for (const auto& [name, units] : {std::pair("a", 1), std::pair("b", 3), std::pair("c", 2)}) {
      const auto lets_through = [&](const SummaryFilter& filter) {
        return filter.dimension != "workload" ||
               (std::ranges::find(filter.values, name) != filter.values.end()) != filter.negate;
      };
      if (!std::ranges::all_of(query.filters, lets_through)) continue;
      SummaryRow& one = rows.emplace_back(row({}, units));
      for (const std::string& key : query.group_by) {
        one.keys.emplace_back(key == "workload"  ? name
                              : key == "cluster" ? "lab"
                              : key == "kind"    ? "used"
                                                 : "nlp");
      }
    }
    return rows;
  }
  Result<std::optional<TopOwners>> owners(const SummaryQuery& query,
                                          const OwnersRequest& request) override {
    if (!tells_first) return std::nullopt;
    first.push_back(query);
    EXPECT_EQ(request.count, 1U);
    return TopOwners{{row({"b", ""}, 3)}, {{row({}, 3), 2}}};
  }
  Result<std::optional<RowPage>> page(const SummaryQuery& query,
                                      const PageRequest& request) override {
    if (!tells_first || request.all_or_none) return std::nullopt;
    first.push_back(query);
    EXPECT_EQ(request.count, 2U);
    if (!request.after) {
      return RowPage{{row({"lab", "b"}, 3), row({"lab", "c"}, 2)}, 3, true, false};
    }
    if (request.after->keys != std::vector<std::string>{"lab", "c"})
      return RowPage{{}, 3, false, true};
    return RowPage{{row({"lab", "a"}, 1)}, 3, false, false};
  }
  Result<std::vector<Value>> values_of(const SummaryQuery&, const std::string&, const std::string&,
                                       std::size_t) override {
    return std::vector<Value>();
  }
  std::optional<std::uint64_t> version() const override { return 1; }

  bool tells_first = true;
  std::vector<SummaryQuery> whole, first;
};

class FirstRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("first_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    accounts_ = *access::Accounts::open({.path = (folder_ / "accounts").string()}, clock_);
    audit_log_ = *audit_log::AuditLog::open((folder_ / "trail").string(), clock_);
    services_.emplace(Services{.config = config_,
                               .catalog = Catalog::built_in(),
                               .clock = clock_,
                               .ledger = [](const auto&) -> Result<void> {
                                 return fail(ErrorCode::kStore, "no ledger here");
                               },
                               .rollup = rollup_,
                               .accounts = *accounts_,
                               .audit_log = *audit_log_});
    who_.name = "ana";
    who_.scope = {{"team", {"nlp"}, false}};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  server::Response ask(const std::string& path, const Query& query) {
    server::Request request;
    request.method = "GET";
    request.path = path;
    request.query = query;
    request.principal = who_;
    for (const server::Route& route : api_routes(*services_)) {
      if (route.path == path) return route.handler(request);
    }
    ADD_FAILURE() << "no route " << path;
    return {};
  }
  void expect_narrowed() const {
    EXPECT_FALSE(rollup_.first.empty());
    for (const SummaryQuery& query : rollup_.first) {
      EXPECT_TRUE(std::ranges::any_of(query.filters, [](const SummaryFilter& filter) {
        return filter.dimension == "team" && filter.values == std::vector<std::string>{"nlp"};
      }));
    }
  }

  SimulatedClock clock_{kNow};
  Config config_ = default_config();
  ThreeWorkloads rollup_;
  std::filesystem::path folder_;
  std::unique_ptr<access::Accounts> accounts_;
  std::unique_ptr<audit_log::AuditLog> audit_log_;
  std::optional<Services> services_;
  access::Principal who_;
};

TEST_F(FirstRowsTest, CostsWithATopAskForNoMore) {
  const Query query = {{"by", "workload"}, {"top", "1"}};
  const auto first = ask("/api/v1/costs", query);
  expect_narrowed();
  EXPECT_TRUE(rollup_.whole.empty());
  rollup_.tells_first = false;
  const auto whole = ask("/api/v1/costs", query);
  EXPECT_FALSE(rollup_.whole.empty());
  EXPECT_EQ(first.body, whole.body);
  EXPECT_NE(first.body.find("(2 others)"), std::string::npos) << first.body;
  EXPECT_EQ(first.etag, whole.etag);
}

TEST_F(FirstRowsTest, PagesOfWorkloadsAskForTheirsAlone) {
  Query query = {{"limit", "2"}};
  std::vector<std::string> bodies;
  for (const bool tells_first : {true, false}) {
    rollup_.tells_first = tells_first;
    query.erase("cursor");
    const auto page = ask("/api/v1/workloads", query);
    EXPECT_EQ(page.status, 200);
    bodies.push_back(page.body);
    query.emplace("cursor", to_cursor("workloads", "lab\nc\nUSD"));
    bodies.push_back(ask("/api/v1/workloads", query).body);
  }
  expect_narrowed();
  EXPECT_EQ(bodies[0], bodies[2]);
  EXPECT_EQ(bodies[1], bodies[3]);
  EXPECT_NE(bodies[0].find(to_cursor("workloads", "lab\nc\nUSD")), std::string::npos);
  EXPECT_NE(bodies[1].find("\"next\":null"), std::string::npos);
}

TEST_F(FirstRowsTest, ACursorThatStandsForNothingIsRefused) {
  for (const char* key : {"lab\nd\nUSD", "lab\nc", "c", "lab\nc\nus"}) {
    const Query query = {{"limit", "2"}, {"cursor", to_cursor("workloads", key)}};
    EXPECT_EQ(ask("/api/v1/workloads", query).status, 422) << key;
  }
}

}  // namespace
}  // namespace pennyweight::api
