// The OpenAPI document and the routes agree: every operation has a route with the stated
// permission, and every route is described.
#include "server/api/openapi.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <tuple>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "reporting/rollup/rollup.h"
#include "server/access/accounts_for_tests.h"
#include "server/api/approval_links.h"
#include "server/api/guard.h"
#include "server/api/routes.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {
namespace {

// The routes are only listed here, never called.
class UnaskedRollup : public rollup::Rollup {
 public:
  Result<bool> refresh(Store&) override { return false; }
  Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery&) override {
    return std::nullopt;
  }
  Result<std::vector<Value>> values_of(const SummaryQuery&, const std::string&, const std::string&,
                                       std::size_t) override {
    return std::vector<Value>();
  }
  std::optional<std::uint64_t> version() const override { return 0; }
};

// Endpoints of the server itself, outside of this module.
bool is_of_the_server(const Operation& operation) {
  static const std::set<std::string> kPaths = {"/api/v1/write", "/api/v1/import/prometheus",
                                               "/metrics", "/healthz", "/readyz"};
  return kPaths.contains(operation.path);
}

std::vector<Operation> described() {
  auto operations = read_operations(embedded::openapi_json());
  EXPECT_TRUE(operations) << operations.error().message;
  return operations.value_or(std::vector<Operation>());
}

using Key = std::tuple<std::string, std::string>;

class OpenApi : public access::AccountsTest {
 protected:
  std::map<Key, server::Route> routes() {
    const auto audit_log = audit_log::AuditLog::open(options_.path + ".trail", clock_);
    EXPECT_TRUE(audit_log) << audit_log.error().message;
    UnaskedRollup rollup;
    const Config config = default_config();
    const Services services{.config = config,
                            .catalog = Catalog::built_in(),
                            .clock = clock_,
                            .ledger = {},
                            .rollup = rollup,
                            .accounts = *accounts_,
                            .audit_log = **audit_log};
    std::map<Key, server::Route> all;
    for (const auto& some : {api_routes(services), approval_link_routes(services)}) {
      for (const server::Route& route : some) {
        EXPECT_TRUE(all.emplace(Key(route.method, route.path), route).second)
            << route.method << " " << route.path << " appears twice";
      }
    }
    return all;
  }
};

TEST_F(OpenApi, EveryRouteIsDescribed) {
  std::set<Key> known;
  for (const Operation& operation : described()) known.emplace(operation.method, operation.path);
  for (const auto& [key, route] : routes()) {
    EXPECT_TRUE(known.contains(key)) << route.method << " " << route.path;
  }
}

TEST_F(OpenApi, EveryOperationHasARouteThatNeedsWhatIsSaid) {
  const std::map<Key, server::Route> all = routes();
  for (const Operation& operation : described()) {
    if (is_of_the_server(operation)) continue;
    const auto found = all.find({operation.method, operation.path});
    ASSERT_NE(found, all.end()) << operation.method << " " << operation.path;
    const server::Route& route = found->second;
    EXPECT_EQ(route.open ? "open" : route.permission, operation.permission) << operation.path;
    if (route.open || route.permission == kSignedIn) {
      EXPECT_EQ(operation.scoped, "same") << operation.path;
      continue;
    }
    const auto needed = access::parse_permission(route.permission);
    ASSERT_TRUE(needed) << operation.path << " needs " << route.permission;
    EXPECT_EQ(is_denied_to_scoped(*needed), operation.scoped == "refused") << operation.path;
  }
}

TEST(OpenApiText, OperationsAreReadFromADocument) {
  const auto operations = read_operations(R"({"paths": {
    "/b": {"get": {"x-permission": "open", "x-scoped": "same"}},
    "/a": {"post": {"x-permission": "read_costs", "x-scoped": "cut"}, "get": {}}}})");
  ASSERT_TRUE(operations);
  EXPECT_THAT(*operations, testing::ElementsAre(Operation{"GET", "/a", "", ""},
                                                Operation{"POST", "/a", "read_costs", "cut"},
                                                Operation{"GET", "/b", "open", "same"}));
  EXPECT_FALSE(read_operations("{}"));
  EXPECT_FALSE(read_operations("{"));
  EXPECT_FALSE(read_operations(R"({"paths": {"/a": 1}})"));
}

TEST(OpenApiText, TheDocumentIsOpenAndHasAVersion) {
  const server::Route route = openapi_route();
  EXPECT_TRUE(route.open);
  const server::Response answer = route.handler({});
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(answer.body, embedded::openapi_json());
  EXPECT_FALSE(answer.etag.empty());
}

}  // namespace
}  // namespace pennyweight::api
