#include "ledger/other_columns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pennyweight {
namespace {

std::vector<std::string> identities(std::string_view json) {
  std::vector<std::string> found;
  OtherColumnReader reader(json);
  while (const auto column = reader.next()) found.emplace_back(column->identity);
  return found;
}

TEST(OtherColumns, AmountsAreToldByTheEndOfTheirName) {
  for (const char* name : {"BilledCost", "x_CreditCost", "ConsumedQuantity", "ListUnitPrice"}) {
    EXPECT_TRUE(is_amount_column(name)) << name;
  }
  for (const char* name : {"x_Amount", "CostCenter", "x_UnitPrices", "quantity", ""}) {
    EXPECT_FALSE(is_amount_column(name)) << name;
  }
}

TEST(OtherColumns, AreReadOneAfterAnother) {
  OtherColumnReader reader(R"({"x_A":"1","x_B":"a\"b\\"})");
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "x_A");
  EXPECT_EQ(first->identity, R"("x_A":"1)");
  const auto second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, "x_B");
  EXPECT_EQ(second->identity, R"("x_B":"a\"b\\)");
  EXPECT_FALSE(reader.next());
}

TEST(OtherColumns, EndWhereAStringIsCutShort) {
  EXPECT_TRUE(identities("").empty());
  EXPECT_TRUE(identities("{}").empty());
  EXPECT_TRUE(identities(R"({"y":"cut)").empty());
  EXPECT_TRUE(identities(R"({"y)").empty());
  EXPECT_TRUE(identities(R"({"y":"\)").empty());
  EXPECT_EQ(identities(R"({"y":"1","cut)"), std::vector<std::string>{R"("y":"1)"});
}

}  // namespace
}  // namespace pennyweight
