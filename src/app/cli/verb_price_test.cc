// The verb `price` on a ledger: a month priced twice, priced again, and after its bill has come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/verb.h"

namespace pennyweight {
namespace {

using testing::ElementsAre;

constexpr std::string_view kAssets =
    "cluster,node,purchase,salvage,currency,in_service,life_months,operations_per_month\n";

class PriceVerb : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("price_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    config_.store_path = (folder_ / "ledger.duckdb").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, std::string_view text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // The exit code, or the error message.
  std::string price(const std::string& arguments) {
    CLI::App app("test");
    const Verb verb = declare_price(app);
    app.parse("price --month 2025-03 " + arguments);
    Context context{config_, Console::detect(ColourMode::kNever, true), {}};
    const auto done = verb.run(context);
    return done ? std::to_string(static_cast<int>(*done)) : done.error().message;
  }

  template <class Append>
  void import(const Append& append) {
    const auto store = create_ledger(config_);
    ASSERT_TRUE(store.has_value());
    auto session = (*store)->begin_import({.format = "test",
                                           .name = "test",
                                           .file_hash = {},
                                           .at = {},
                                           .style = DeliveryStyle::kGuarded,
                                           .reason = {}});
    ASSERT_TRUE(session.has_value());
    append(**session);
    ASSERT_TRUE((*session)->commit().has_value());
  }

  // Charges and their cost, by account and resource.
  std::vector<std::string> lines() {
    const auto store = open_ledger(config_);
    EXPECT_TRUE(store.has_value());
    std::map<std::string, std::pair<int, Money>> sums;
    const auto scanned = (*store)->scan_charges("2025-03", [&](std::span<const Charge> charges) {
      for (const Charge& charge : charges) {
        auto& [count, sum] = sums.try_emplace(charge.billing_account_id + " " + charge.resource_id,
                                              0, Money::zero(charge.costs.currency()))
                                 .first->second;
        ++count;
        sum += charge.costs.effective;
      }
      return true;
    });
    EXPECT_TRUE(scanned.has_value());
    std::vector<std::string> out;
    for (const auto& [name, lines_of] : sums) {
      out.push_back(name + " " + std::to_string(lines_of.first) + " " +
                    to_text(lines_of.second.amount()));
    }
    return out;
  }

  Config config_ = default_config();
  std::filesystem::path folder_;
};

Node node(std::string_view name, std::string_view provider_id) {
  return {.cluster = ClusterId("gpu"),
          .name = NodeId(std::string(name)),
          .provider_id = std::string(provider_id),
          .instance_type = "p5.48xlarge",
          .region = {},
          .pool = PoolId(""),
          .gpu_model = {},
          .gpu_count = 0,
          .shard_count = 0,
          .mps_count = 0,
          .sharing = GpuSharing::kNone,
          .gpu_replicas = 0,
          .replicas_renamed = false,
          .cpu_milli = {},
          .memory_bytes = {},
          .from = parse_instant("2025-01-01").value(),
          .to = {},
          .id = {},
          .source = {}};
}

TEST_F(PriceVerb, OwnedTwiceAndCorrected) {
  const std::string assets = file("assets.csv", std::string(kAssets) +
                                                    "gpu,a,3650,0,USD,2025-01-01,12,310\n"
                                                    "gpu,b,365,0,USD,2025-03-30,12,\n");
  EXPECT_EQ(price("--owned " + assets), "0");
  const auto once = lines();
  EXPECT_THAT(once, ElementsAre("owned-hardware a 31 620", "owned-hardware b 2 2"));
  EXPECT_EQ(price("--owned " + assets), "0");
  EXPECT_EQ(lines(), once);
  file("assets.csv", std::string(kAssets) + "gpu,a,3650,0,USD,2025-01-01,12,341\n");
  EXPECT_EQ(price("--owned " + assets + " --reason corrected"), "0");
  EXPECT_THAT(lines(), ElementsAre("owned-hardware a 31 651"));
  file("assets.csv", std::string(kAssets) + "gpu,a,3650,0,USD,2026-01-01,12,341\n");
  EXPECT_THAT(price("--owned " + assets), testing::HasSubstr("no asset is in service in 2025-03"));
}

TEST_F(PriceVerb, AnEstimateGoesWhenTheBillHasCome) {
  import([](ImportSession& session) {
    const std::vector<Node> nodes = {node("a", "aws:///us-east-1a/i-0aaaaaaaaaaaaaaaa"),
                                     node("b", ""), node("c", "")};
    ASSERT_TRUE(session.append_nodes(nodes).has_value());
  });
  const std::string assets =
      file("assets.csv", std::string(kAssets) + "gpu,c,3650,0,USD,2025-01-01,12,310\n");
  const std::string card =
      file("card.csv", "instance_type,unit,price,currency\np5.48xlarge,Hours,10,USD\n");
  const std::string both = "--owned " + assets + " --rate-card " + card;
  EXPECT_EQ(price(both), "0");
  EXPECT_THAT(lines(), ElementsAre("estimates aws:///us-east-1a/i-0aaaaaaaaaaaaaaaa 31 7440",
                                   "estimates b 31 7440", "owned-hardware c 31 620"));
  const auto bill = [&](std::string_view resource) {
    import([&](ImportSession& session) {
      const Interval month(parse_instant("2025-03-01").value(),
                           parse_instant("2025-04-01").value());
      const Money cost = Money::from_units(5000, kUsd);
      Charge charge(month, month, {cost, cost, cost, cost});
      charge.billing_account_id = "123";
      charge.resource_id = resource;
      ASSERT_TRUE(session.append_charges({&charge, 1}).has_value());
    });
  };
  bill("arn:aws:ec2:us-east-1:123:instance/i-0aaaaaaaaaaaaaaaa");
  EXPECT_EQ(price(both), "0");
  EXPECT_THAT(lines(),
              ElementsAre("123 arn:aws:ec2:us-east-1:123:instance/i-0aaaaaaaaaaaaaaaa 1 5000",
                          "estimates b 31 7440", "owned-hardware c 31 620"));
  bill("b");
  EXPECT_EQ(price(both), "0");
  EXPECT_EQ(price(both), "0");
  EXPECT_THAT(lines(), ElementsAre("123 arn:aws:ec2:us-east-1:123:instance/i-0aaaaaaaaaaaaaaaa 1 "
                                   "5000",
                                   "123 b 1 5000", "estimates  1 0", "owned-hardware c 31 620"));
}

TEST_F(PriceVerb, WhatIsWrongUsage) {
  EXPECT_EQ(
      price(""),
      "price: use --owned, --rate-card or both, or set prices.owned or prices.rate_card in the "
      "configuration");
  EXPECT_EQ(price("--energy e.csv --rate-card c.csv"),
            "price: --energy needs --owned, the file of the machines that it measures");
  const std::string card = file("card.csv", "unit,price,currency\nHours,1,USD\n");
  EXPECT_THAT(price("--rate-card " + card), testing::HasSubstr("card.csv:2: names no sku"));
  EXPECT_FALSE(std::filesystem::exists(config_.store_path));
}

}  // namespace
}  // namespace pennyweight
