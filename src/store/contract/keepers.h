// The keepers of the ledger, each under the same test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "store/contract/sample.h"

namespace pennyweight::sample {

// A fresh store of each keeper. Derive a class of your own from it, and write
//   INSTANTIATE_TEST_SUITE_P(Keepers, YourClass, keepers(), name_of_keeper);
class KeeperTest : public ::testing::TestWithParam<const char*> {
 protected:
  KeeperTest() : store_(fresh("ledger.duckdb")) {}
  std::unique_ptr<Store> fresh(const std::string& name) {
    if (GetParam() == std::string("memory")) return make_memory_store();
    return open_file(folder_.file(name));
  }
  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

inline auto keepers() { return ::testing::Values("memory", "duckdb"); }
inline std::string name_of_keeper(const ::testing::TestParamInfo<const char*>& keeper) {
  return keeper.param;
}

}  // namespace pennyweight::sample
