// No answer to a scoped asker changes when the data of others changes.
//
// Two ledgers differ in what others did: their names, jobs, nodes, telemetry and bills. The asker
// sends the same requests to the handlers of the API on both, and every answer must be the same,
// byte for byte, but for the last digits of a division (kSharedDigits). ctest tries a few ledgers;
// a release is tried with
//
//   ISOLATION_CASES=100000 build/release/testing_isolation_test
// ISOLATION_SEED=541 begins at that seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/int128.h"
#include "reporting/rollup/rollup.h"
#include "server/access/accounts.h"
#include "server/api/routes.h"
#include "server/audit_log/audit_log.h"
#include "server/server.h"
#include "testing/generate/random.h"
#include "testing/isolation/two_tenants.h"

namespace pennyweight::isolation {
namespace {

#ifdef PENNYWEIGHT_SANITIZED
constexpr int kCases = 150;
#else
constexpr int kCases = 500;
#endif
constexpr int kRequestsOfALedger = 60;

int asked_for(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::max(1, std::atoi(text));
}

// Nothing is kept ready, so that all questions go to the ledger. That a rollup gives the same sums
// is what testing/rollup_contract is about.
class NoRollup : public rollup::Rollup {
 public:
  Result<bool> refresh(Store&) override { return false; }
  Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery&) override {
    return std::nullopt;
  }
  Result<std::vector<Value>> values_of(const SummaryQuery& query, const std::string& dimension,
                                       const std::string& prefix, std::size_t at_most) override {
    SummaryQuery grouped = query;
    grouped.group_by = {dimension};
    const auto rows = store->summarise(grouped);
    if (!rows) return std::unexpected(rows.error());
    std::vector<Value> values;
    for (const SummaryRow& row : *rows) {
      if (row.keys.front().starts_with(prefix) && values.size() < at_most) {
        values.push_back({row.keys.front(), row.costs.effective});
      }
    }
    return values;
  }
  std::optional<std::uint64_t> version() const override { return 1; }

  Store* store = nullptr;
};

struct Asked {
  std::string path;
  std::multimap<std::string, std::string> query = {};
  std::map<std::string, std::string> params = {};
};

std::string to_text(const Asked& asked) {
  std::string text = asked.path;
  for (const auto& [name, value] : asked.params) text += " {" + name + "}=" + value;
  for (const auto& [name, value] : asked.query) text += " " + name + "=" + value;
  return text;
}

// Requests that mean something for the ledgers of two_tenants.h.
class Requests {
 public:
  Requests(std::uint64_t seed, const Facts& facts) : random_(seed, "requests"), facts_(facts) {}

  Asked next() {
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
        return costs();
      case 3:
        return {.path = "/api/v1/summary", .query = month()};
      case 4:
        return {.path = "/api/v1/workloads", .query = with(month(), "limit", pick({"3", "100"}))};
      case 5:
        return workload();
      case 6:
      case 7:
        return explanation();
      case 8:
        return {.path = "/api/v1/dimensions/{name}/values",
                .query = month(),
                .params = {{"name", dimension()}}};
      case 9:
        return {.path = "/api/v1/activity", .query = grouped()};
      case 10:
        return {.path = "/api/v1/usage", .query = grouped()};
      case 11:
        return {.path = "/api/v1/coverage", .query = month()};
      case 12:
        return {.path = "/api/v1/units", .query = month()};
      case 13:
        return {.path = pick({"/api/v1/search"}),
                .query = {{"text", pick({"an", "job", "nlp", "zoe"})}}};
      case 14:
        return {.path = pick({"/api/v1/forecast", "/api/v1/anomalies", "/api/v1/budgets",
                              "/api/v1/currencies", "/api/v1/dimensions"})};
      default:
        return {.path = "/api/v1/advice", .query = month()};
    }
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_.between(0, limit - 1); }
  std::string pick(std::initializer_list<const char*> values) {
    return *(values.begin() + below(values.size()));
  }
  std::string dimension() {
    return pick({"team", "user", "project", "workload", "node", "gpu", "cluster", "component",
                 "kind", "charge", "service", "month", "resource"});
  }
  std::multimap<std::string, std::string> month() {
    return {{"month", pick({"2026-02", "2026-03"})}};
  }
  static std::multimap<std::string, std::string> with(std::multimap<std::string, std::string> query,
                                                      const std::string& name,
                                                      const std::string& value) {
    query.emplace(name, value);
    return query;
  }
  std::multimap<std::string, std::string> grouped() {
    auto query = month();
    query.emplace("by", pick({"team", "user", "project", "workload", "node", "cluster"}));
    if (below(3) == 0) query.emplace("filter", filter());
    return query;
  }
  std::string filter() {
    return pick({"team=nlp", "team!=nlp", "team=vision", "user=ana", "cluster=a", "node=n1",
                 "team=zeta", "project=search", "kind=idle", "kind=unallocated", "component=gpu"});
  }
  Asked costs() {
    auto query = month();
    query.emplace("by", below(2) == 0 ? dimension() : dimension() + "," + dimension());
    if (below(2) == 0) query.emplace("filter", filter());
    if (below(3) == 0) query.emplace("bucket", pick({"day", "week", "month"}));
    if (below(4) == 0) query.emplace("top", pick({"1", "3"}));
    return {.path = "/api/v1/costs", .query = std::move(query)};
  }
  Asked workload() {
    const Holding& job = facts_.holdings[below(facts_.holdings.size())];
    return {.path = "/api/v1/workload",
            .query = with(with(month(), "cluster", job.cluster.text()), "workload",
                          job.workload.text())};
  }
  Asked explanation() {
    auto query = month();
    const Holding& job = facts_.holdings[below(facts_.holdings.size())];
    switch (below(4)) {
      case 0:
        query.emplace("by", "workload");
        query.emplace("key", job.workload.text());
        break;
      case 1:
        query.emplace("by", "team");
        query.emplace("key", pick({"nlp", "vision", "ops"}));
        break;
      case 2:
        query.emplace("by", "user");
        query.emplace("key", pick({"ana", "bo"}));
        break;
      default:
        query.emplace("by", "node");
        query.emplace("key", pick({"n0", "n1", "n2"}));
    }
    if (below(2) == 0) query.emplace("top", pick({"1", "5"}));
    if (below(2) == 0) query.emplace("posting", pick({"0", "1"}));
    return {.path = "/api/v1/explain", .query = std::move(query)};
  }

  Random random_;
  const Facts& facts_;
};

// The API on one ledger.
class Api {
 public:
  Api(const std::string& folder, std::unique_ptr<Store> store) : store_(std::move(store)) {
    std::filesystem::create_directories(folder);
    rollup_.store = store_.get();
    auto accounts = access::Accounts::open({.path = folder + "/accounts"}, clock_);
    auto log = audit_log::AuditLog::open(folder + "/log", clock_);
    if (!accounts || !log) throw std::runtime_error("cannot open the accounts of " + folder);
    accounts_ = *std::move(accounts);
    log_ = *std::move(log);
    routes_ = api::api_routes({.config = config_,
                               .catalog = catalog_,
                               .clock = clock_,
                               .ledger = [this](const auto& use) { return use(*store_); },
                               .rollup = rollup_,
                               .accounts = *accounts_,
                               .audit_log = *log_});
  }

  void use(std::unique_ptr<Store> store) {
    store_ = std::move(store);
    rollup_.store = store_.get();
  }

  server::Response ask(const Asked& asked, const access::Principal& who) {
    server::Request request;
    request.method = "GET";
    request.path = asked.path;
    request.query = asked.query;
    request.params = asked.params;
    request.principal = who;
    for (const server::Route& route : routes_) {
      if (route.path != asked.path || route.method != "GET") continue;
      server::Response answer = route.handler(request);
      if (answer.stream) {
        const auto whole = answer.stream([&](std::string_view piece) {
          answer.body += piece;
          return true;
        });
        if (!whole) answer.body += "(cut off)";
      }
      return answer;
    }
    throw std::runtime_error("no route " + asked.path);
  }

 private:
  Config config_ = default_config();
  Catalog catalog_ = Catalog::built_in();
  SimulatedClock clock_{*parse_instant("2026-04-02T10:00:00Z")};
  std::unique_ptr<Store> store_;
  NoRollup rollup_;
  std::unique_ptr<access::Accounts> accounts_;
  std::unique_ptr<audit_log::AuditLog> log_;
  std::vector<server::Route> routes_;
};

// The digits that a division may shift: what it can't divide evenly goes to the first of those who
// share, one unit of 10^-18 each, and who that is depends on the others. That is the rule.
constexpr std::size_t kSharedDigits = 6;

// Whether two numbers are the same but for these digits.
bool are_close(std::string_view a, std::string_view b) {
  const auto ticks = [](std::string_view text) -> std::optional<Int128> {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos || text.size() - dot - 1 > 18) return std::nullopt;
    Int128 value = 0;
    for (const char c : text) {
      if (c != '.') value = value * 10 + (c - '0');
    }
    for (std::size_t digits = text.size() - dot - 1; digits < 18; ++digits) value *= 10;
    return value;
  };
  const auto first = ticks(a);
  const auto second = ticks(b);
  if (!first || !second) return false;
  const Int128 difference = *first - *second;
  Int128 most = 1;
  for (std::size_t i = 0; i < kSharedDigits; ++i) most *= 10;
  return difference < most && -difference < most;
}

// Whether two answers are the same, byte for byte, but for these digits.
bool are_same(std::string_view a, std::string_view b) {
  const auto is_of_number = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  while (!a.empty() && !b.empty()) {
    const auto [at_a, at_b] = std::ranges::mismatch(a, b);
    if (at_a == a.end() && at_b == b.end()) return true;
    auto begin = static_cast<std::size_t>(at_a - a.begin());
    while (begin > 0 && is_of_number(a[begin - 1])) --begin;
    a.remove_prefix(begin);
    b.remove_prefix(begin);
    const auto end_a =
        static_cast<std::size_t>(std::ranges::find_if_not(a, is_of_number) - a.begin());
    const auto end_b =
        static_cast<std::size_t>(std::ranges::find_if_not(b, is_of_number) - b.begin());
    if (!are_close(a.substr(0, end_a), b.substr(0, end_b))) return false;
    a.remove_prefix(end_a);
    b.remove_prefix(end_b);
  }
  return a.empty() && b.empty();
}

// What is around the first byte in which an answer differs from another.
std::string around_difference(std::string_view answer, std::string_view other) {
  const auto at =
      static_cast<std::size_t>(std::ranges::mismatch(answer, other).in1 - answer.begin());
  const std::size_t begin = at - std::min<std::size_t>(at, 200);
  return "..." + std::string(answer.substr(begin, 500));
}

access::Principal asker(std::vector<SummaryFilter> scope) {
  access::Principal who;
  who.name = "ana";
  who.scope = std::move(scope);
  return who;
}

TEST(Isolation, TellsDifferencesFromTheLastDigitsOfADivision) {
  EXPECT_TRUE(are_same(R"({"a":"1.000000000000000003"})", R"({"a":"1.000000000000000004"})"));
  EXPECT_TRUE(are_same("a,0.999999999999999999,b", "a,1.000000000000000000,b"));
  EXPECT_FALSE(are_same("1.000001", "1.000002"));
  EXPECT_FALSE(are_same("12", "13"));
  EXPECT_FALSE(are_same("1.5,x", "1.5,y"));
  EXPECT_FALSE(are_same("1.5", "1.5,more"));
}

TEST(Isolation, NoAnswerToAScopedAskerDependsOnOthers) {
  const std::string folder = std::filesystem::path(testing::TempDir()) / "pennyweight_isolation";
  std::filesystem::remove_all(folder);
  Api one(folder + "/one", nullptr);
  Api other(folder + "/other", nullptr);
  const int wanted = asked_for("ISOLATION_CASES", kCases);
  const auto first_seed = static_cast<std::uint64_t>(asked_for("ISOLATION_SEED", 1));
  int cases = 0;
  int failures = 0;
  std::map<std::string, std::map<int, int>> statuses;
  std::map<std::string, int> changed_for_all;  // answers to somebody without a scope that differ
  for (std::uint64_t seed = first_seed; cases < wanted && failures < 5; ++seed) {
    const TwoLedgers ledgers = make_two_ledgers(seed);
    one.use(make_ledger(ledgers.one));
    other.use(make_ledger(ledgers.other));
    const access::Principal who = asker(ledgers.scope);
    Requests requests(seed, ledgers.one);
    for (int i = 0; i < kRequestsOfALedger && cases < wanted; ++i, ++cases) {
      const Asked asked = requests.next();
      const auto first = one.ask(asked, who);
      const auto second = other.ask(asked, who);
      ++statuses[asked.path][first.status];
      if (i % 8 == 0) {
        const bool differs = one.ask(asked, asker({})).body != other.ask(asked, asker({})).body;
        changed_for_all[asked.path] += differs ? 1 : 0;
      }
      if (first.status == second.status && are_same(first.body, second.body)) continue;
      std::string changes;
      for (const std::string& change : ledgers.changes) changes += change + "; ";
      ADD_FAILURE() << "seed " << seed << ", request " << i << ": " << to_text(asked) << "\nscope "
                    << ledgers.scope.front().dimension << ", " << changes << "\n"
                    << first.status << " " << around_difference(first.body, second.body) << "\n"
                    << second.status << " " << around_difference(second.body, first.body);
      if (++failures == 5) break;
    }
  }
  std::filesystem::remove_all(folder);
  // The requests mean something, and the changes show where nothing is hidden.
  if (cases >= kCases) {
    for (const char* path : {"/api/v1/costs", "/api/v1/summary", "/api/v1/workloads",
                             "/api/v1/workload", "/api/v1/explain", "/api/v1/activity"}) {
      EXPECT_GT(statuses[path][200], 0) << path;
    }
  }
  int changed = 0;
  for (const auto& [path, count] : changed_for_all) changed += count;
  EXPECT_GT(changed, 0) << "the two ledgers are the same for everybody";
  std::string tally;
  for (const auto& [path, by_status] : statuses) {
    tally += path;
    for (const auto& [status, count] : by_status) {
      tally += " " + std::to_string(status) + "x" + std::to_string(count);
    }
    tally += "\n";
  }
  if (std::getenv("ISOLATION_CASES") != nullptr) std::printf("%d cases\n%s", cases, tally.c_str());
}

}  // namespace
}  // namespace pennyweight::isolation
