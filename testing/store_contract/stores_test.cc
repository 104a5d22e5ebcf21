#include "testing/store_contract/stores.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "core/clickhouse/client.h"
#include "ledger/store/clickhouse/clickhouse_store.h"

namespace pennyweight::sample {
namespace {

// A running clock that all processes of this machine agree on.
class RunningClock : public Clock {
 public:
  Instant now() override {
    return at("2026-04-01T00:00:00Z") + std::chrono::duration_cast<std::chrono::milliseconds>(
                                            std::chrono::steady_clock::now().time_since_epoch());
  }
};

std::uint64_t any_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// The address with a database in it.
clickhouse::Address address_of(const std::string& servers, const std::string& database) {
  const std::size_t options = servers.find('?');
  std::string text = servers.substr(0, options);
  if (text.ends_with('/')) text.pop_back();
  text += "/" + database;
  if (options != std::string::npos) text += servers.substr(options);
  return must(clickhouse::parse_address(text));
}

}  // namespace

std::string server_address(const std::string& store_kind) {
  const char* name = store_kind == "clickhouse" ? "TEST_CLICKHOUSE" : "TEST_CLICKHOUSE_CLUSTER";
  const char* servers = std::getenv(name);
  return servers == nullptr ? "" : servers;
}

std::vector<std::string> persistent_stores() {
  std::vector<std::string> found = {"duckdb"};
  for (const char* store_kind : {"clickhouse", "clickhouse_cluster"}) {
    if (!server_address(store_kind).empty()) found.push_back(store_kind);
  }
  return found;
}

ServerLedger::ServerLedger(const std::string& servers)
    : address_(address_of(servers, "test_" + to_text(Hash128{any_number(), any_number()}))),
      clock_(std::make_unique<RunningClock>()) {}

// Each server by itself, since that is many times as fast as ON CLUSTER.
ServerLedger::~ServerLedger() {
  clickhouse::Address servers = address_;
  servers.database = "system";
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < address_.endpoints.size(); ++i) {
    threads.emplace_back([&, i] {
      clickhouse::Client client(servers);
      clickhouse::Call call;
      call.endpoint = i;
      const auto dropped = client.execute("DROP DATABASE IF EXISTS " + address_.database, call);
      EXPECT_TRUE(dropped) << dropped.error().message;
    });
  }
}

std::unique_ptr<Store> ServerLedger::open(bool read_only) {
  return must(open_clickhouse_store(
      {.address = address_, .read_only = read_only, .clock = clock_.get(), .seed = any_number()}));
}

}  // namespace pennyweight::sample
