// The keepers of the ledger, each under the same test.
//
// "clickhouse" is among them where the environment variable TEST_CLICKHOUSE names a server, and
// "clickhouse_cluster" where TEST_CLICKHOUSE_CLUSTER names a cluster: addresses as in
// clickhouse/address.h, without a database. Each ledger is a database of its own there, which is
// dropped at the end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "clickhouse/address.h"
#include "core/clock.h"
#include "store/contract/sample.h"

namespace pennyweight::sample {

// A database with a name that nobody else has, gone with the object.
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

// What TEST_CLICKHOUSE or TEST_CLICKHOUSE_CLUSTER says; empty: not set.
std::string servers_of(const std::string& keeper);

// Fresh stores of one keeper. They go before it.
class Ledgers {
 public:
  explicit Ledgers(std::string keeper) : keeper_(std::move(keeper)) {}
  std::unique_ptr<Store> fresh(const std::string& name) {
    if (keeper_ == "memory") return make_memory_store();
    if (keeper_ == "duckdb") return open_file(folder_.file(name));
    servers_.push_back(std::make_unique<ServerLedger>(servers_of(keeper_)));
    return servers_.back()->open();
  }

 private:
  std::string keeper_;
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<ServerLedger>> servers_;
};

// A fresh store of each keeper. Derive a class of your own from it, and write
//   INSTANTIATE_TEST_SUITE_P(Keepers, YourClass, keepers(), name_of_keeper);
class KeeperTest : public ::testing::TestWithParam<std::string> {
 protected:
  KeeperTest() : ledgers_(GetParam()), store_(fresh("ledger.duckdb")) {}
  std::unique_ptr<Store> fresh(const std::string& name) { return ledgers_.fresh(name); }
  Ledgers ledgers_;
  std::unique_ptr<Store> store_;
};

// Those that keep more than the process's memory.
std::vector<std::string> lasting_keepers();
inline auto keepers() {
  std::vector<std::string> all = lasting_keepers();
  all.insert(all.begin(), "memory");
  return ::testing::ValuesIn(all);
}
inline std::string name_of_keeper(const ::testing::TestParamInfo<std::string>& keeper) {
  return keeper.param;
}

}  // namespace pennyweight::sample
