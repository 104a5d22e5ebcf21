#include "allocation/pricing/price_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/limits.h"

namespace pennyweight {
namespace {

constexpr std::string_view kPricesHeader =
    "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,"
    "memory_gib\n";

std::string error_of(std::string_view rows) {
  const auto table = parse_price_table(std::string(kPricesHeader) + std::string(rows), "p.csv");
  return table ? "" : table.error().message;
}

TEST(PriceTable, RowsThatAreRefused) {
  struct Case {
    std::string rows;
    std::string_view want;  // part of the message
  };
  const Case cases[] = {
      {",r,t,on_demand,2024-01-01,1,USD,,,,\n", "p.csv:2: provider is missing"},
      {"p,r,,on_demand,2024-01-01,1,USD,,,,\n", "p.csv:2: instance_type is missing"},
      {"p,r,t,ondemand,2024-01-01,1,USD,,,,\n",
       "p.csv:2: 'ondemand' is not an option; use on_demand"},
      {"p,r,t,,2024-01-01,1,USD,,,,\n", "p.csv:2: '' is not an option"},
      {"p,r,t,spot,01.02.2024,1,USD,,,,\n", "p.csv:2: from: "},
      {"p,r,t,spot,2024-13-01,1,USD,,,,\n", "p.csv:2: from: "},
      {"p,r,t,spot,,1,USD,,,,\n", "p.csv:2: from: "},
      {"p,r,t,spot,2024-01-01,-1,USD,,,,\n", "p.csv:2: per_hour -1 is outside 0 to 1000000"},
      {"p,r,t,spot,2024-01-01,1000000.1,USD,,,,\n", "p.csv:2: per_hour 1000000.1 is outside"},
      {"p,r,t,spot,2024-01-01,,USD,,,,\n", "p.csv:2: per_hour: "},
      {"p,r,t,spot,2024-01-01,$1,USD,,,,\n", "p.csv:2: per_hour: "},
      {"p,r,t,spot,2024-01-01,nan,USD,,,,\n", "p.csv:2: per_hour: "},
      {"p,r,t,spot,2024-01-01,0.1234567890123456789,USD,,,,\n", "p.csv:2: per_hour: "},
      {"p,r,t,spot,2024-01-01,1,usd,,,,\n", "p.csv:2: currency: "},
      {"p,r,t,spot,2024-01-01,1,,,,,\n", "p.csv:2: currency: "},
      {"p,r,t,spot,2024-01-01,1,USD,T4,-1,,\n", "p.csv:2: gpu_count: "},
      {"p,r,t,spot,2024-01-01,1,USD,T4,1.5,,\n", "p.csv:2: gpu_count: "},
      {"p,r,t,spot,2024-01-01,1,USD,T4,1025,,\n", "p.csv:2: gpu_count: "},
      {"p,r,t,spot,2024-01-01,1,USD,T4,1,x,\n", "p.csv:2: vcpu: "},
      {"p,r,t,spot,2024-01-01,1,USD,T4,1,,-4\n", "p.csv:2: memory_gib: "},
      {"p,r,t,spot,2024-01-01,1,USD,T4,1,,99999999999999999999\n", "p.csv:2: memory_gib: "},
      {"p,r,t,spot,2024-01-01,1,USD,T4,1,0.0001,\n", "p.csv:2: vcpu: "},
      {"p,\xFF,t,spot,2024-01-01,1,USD,,,,\n", "p.csv:2: region is not UTF-8"},
      {"p,r," + std::string(limits::kIdBytesMax + 1, 't') + ",spot,2024-01-01,1,USD,,,,\n",
       "p.csv:2: instance_type of 2049 bytes"},
      {"p,r,t,spot,2024-01-01,1,USD\n", "p.csv:2: 7 fields; the first line has 11"},
      {"p,r,t,spot,2024-01-01,1,USD,,,,\np,r,t,spot,2024-01-01T00:00:00Z,2,USD,,,,\n",
       "p.csv:3: a second spot price of t from 2024-01-01T00:00:00Z"},
      {"p,r,t,spot,2024-01-01,1,USD,,,,\nq,r,t,spot,2024-01-01,1,USD,,,,\n",
       "p.csv:3: a second spot price of t"},
      {"p,r,t,spot,2024-01-01,1,USD,T4,1,,\np,r,t,spot,2024-01-02,1,USD,T4,2,,\n",
       "p.csv:3: t has different GPUs, vcpu or memory at p.csv:2"},
      {"p,r,(cpu),on_demand,2024-01-01,1,USD,,,,\np,r,(cpu),on_demand,2025-01-01,1,USD,,,,\n",
       "p.csv:3: a second rate for (cpu)"},
      {"p,r,(memory_gib),on_demand,2024-01-01,1001,USD,,,,\n", "p.csv:2: per_hour 1001 is outside"},
  };
  for (const Case& c : cases) {
    const std::string message = error_of(c.rows);
    EXPECT_EQ(message.substr(0, c.want.size()), c.want) << c.rows << " gave: " << message;
  }
}

TEST(PriceTable, ValuesAtTheirEdges) {
  EXPECT_EQ(error_of("p,,t,spot,1970-01-01,0,USD,,,,\n"), "");
  EXPECT_EQ(error_of("p,r,t,spot,2024-01-01,1000000,USD,T4,1024,0.001,0.5\n"), "");
  EXPECT_EQ(error_of("p,r,t,spot,2024-01-01T12:00:00+02:00,0.000000000000000001,JPY,,0,,\n"), "");
  EXPECT_EQ(error_of("p,r,(cpu),on_demand,2024-01-01,1000,USD,,,,\n"), "");
}

TEST(PriceTable, FilesThatAreNotPrices) {
  for (const std::string_view text :
       {std::string_view(), std::string_view("\n"), std::string_view("a,b\n1,2\n"),
        std::string_view("\x7F"
                         "ELF\x02\x01\x01\0\0",
                         9),
        std::string_view("\xFF\xFEp\0r\0", 6)}) {
    const auto table = parse_price_table(text, "p.csv");
    ASSERT_FALSE(table.has_value());
    EXPECT_TRUE(table.error().message.starts_with("p.csv:")) << table.error().message;
  }
}

TEST(PriceTable, WindowsFilesRead) {
  const auto table = parse_price_table(
      "\xEF\xBB\xBFprovider,region,instance_type,option,from,per_hour,currency\r\n"
      "own,dc1,dgx,on_demand,2024-01-01,40,EUR\r\n",
      "p.csv");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  ASSERT_EQ(table->rates.size(), 1u);
  EXPECT_EQ(table->rates[0].currency, kEur);
  EXPECT_EQ(table->rates[0].source, "p.csv:2");
}

TEST(InstanceTypes, ErrorsSayWhere) {
  const auto types = parse_instance_types(
      "provider,name,gpu_model,gpu_count,vcpu,memory_gib\naws,x,T4,one,4,16\n", "t.csv");
  ASSERT_FALSE(types.has_value());
  EXPECT_TRUE(types.error().message.starts_with("t.csv:2: gpu_count: ")) << types.error().message;
}

}  // namespace
}  // namespace pennyweight
