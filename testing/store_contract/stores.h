// The stores of the ledger, each run through the same tests.
//
// "clickhouse" is among them if the environment variable TEST_CLICKHOUSE names a server, and
// "clickhouse_cluster" if TEST_CLICKHOUSE_CLUSTER names a cluster: addresses as in
// core/clickhouse/address.h, without a database. Each ledger is a database of its own there, which
// is dropped at the end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/clickhouse/address.h"
#include "core/clock.h"
#include "testing/store_contract/sample.h"

namespace pennyweight::sample {

// A database with a unique name, dropped with the object.
class ServerLedger {
 public:
  explicit ServerLedger(const std::string& servers);  // "clickhouse://host:port?cluster=c"
  ~ServerLedger();
  ServerLedger(const ServerLedger&) = delete;
  ServerLedger& operator=(const ServerLedger&) = delete;
  std::unique_ptr<Store> open(bool read_only = false);
  const clickhouse::Address& address() const { return address_; }

 private:
  clickhouse::Address address_;
  std::unique_ptr<Clock> clock_;
};

// The value of TEST_CLICKHOUSE or TEST_CLICKHOUSE_CLUSTER; empty if it is not set.
std::string server_address(const std::string& store_kind);

// Creates fresh stores of one kind. The stores must be destroyed before it.
class Ledgers {
 public:
  explicit Ledgers(std::string store_kind) : store_kind_(std::move(store_kind)) {}
  std::unique_ptr<Store> fresh(const std::string& name) {
    if (store_kind_ == "memory") return make_memory_store();
    if (store_kind_ == "duckdb") return open_file(folder_.file(name));
    servers_.push_back(std::make_unique<ServerLedger>(server_address(store_kind_)));
    return servers_.back()->open();
  }

 private:
  std::string store_kind_;
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<ServerLedger>> servers_;
};

// A test with a fresh store of each kind. Derive a class of your own from it, and write
//   INSTANTIATE_TEST_SUITE_P(Stores, YourClass, every_store(), store_name);
class StoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  StoreTest() : ledgers_(GetParam()), store_(fresh("ledger.duckdb")) {}
  std::unique_ptr<Store> fresh(const std::string& name) { return ledgers_.fresh(name); }
  Ledgers ledgers_;
  std::unique_ptr<Store> store_;
};

// The stores that outlive the process.
std::vector<std::string> persistent_stores();
inline auto every_store() {
  std::vector<std::string> all = persistent_stores();
  all.insert(all.begin(), "memory");
  return ::testing::ValuesIn(all);
}
inline std::string store_name(const ::testing::TestParamInfo<std::string>& store_kind) {
  return store_kind.param;
}

}  // namespace pennyweight::sample
