#include "allocation/pricing/catalog.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "core/gpu/gpu_model.h"

namespace pennyweight {
namespace {

Instant at(std::string_view text) { return parse_instant(text).value(); }

RateQuery query(std::string_view type, std::string_view region, PurchaseOption option,
                std::string_view when) {
  return {.instance_type = std::string(type),
          .region = std::string(region),
          .option = option,
          .at = at(when)};
}

constexpr PurchaseOption kOnDemand = PurchaseOption::kOnDemand;
constexpr PurchaseOption kSpot = PurchaseOption::kSpot;
constexpr PurchaseOption k1Year = PurchaseOption::kCommitted1Year;
constexpr PurchaseOption k3Years = PurchaseOption::kCommitted3Years;

// The price, or the error.
std::string price(const Catalog& catalog, const RateQuery& wanted) {
  const auto rate = catalog.find_rate(wanted);
  return rate ? to_text(rate->per_hour) + " " + rate->currency.text() : rate.error().message;
}

TEST(Catalog, ListPricesOverTime) {
  struct Case {
    std::string_view type;
    std::string_view region;
    PurchaseOption option;
    std::string_view when;
    std::string_view want;
  };
  const Case cases[] = {
      // AWS cut the prices of its A100 and H100 in June 2025.
      {"p4d.24xlarge", "us-east-1", kOnDemand, "2022-06-23", "32.7726 USD"},
      {"p4d.24xlarge", "us-east-1", kOnDemand, "2025-06-22T23:59:59Z", "32.7726 USD"},
      {"p4d.24xlarge", "us-east-1", kOnDemand, "2025-06-23", "21.957642 USD"},
      {"p4d.24xlarge", "us-east-1", kOnDemand, "2026-11-01", "21.957642 USD"},
      {"p5.48xlarge", "us-east-1", kOnDemand, "2024-01-01", "98.32 USD"},
      {"p5.48xlarge", "us-east-1", kOnDemand, "2026-01-01", "55.04 USD"},
      {"g5.xlarge", "us-east-1", kOnDemand, "2026-01-01", "1.006 USD"},
      {"p3.8xlarge", "us-east-1", kOnDemand, "2023-01-01", "12.24 USD"},
      {"p3.8xlarge", "us-east-1", kSpot, "2025-03-07", "3.67 USD"},
      {"m5.large", "us-east-1", kOnDemand, "2026-08-01", "0.096 USD"},
      {"a2-highgpu-1g", "us-central1", kOnDemand, "2022-02-09", "3.558986 USD"},
      {"a2-highgpu-1g", "us-central1", kOnDemand, "2026-08-01", "3.673385 USD"},
      {"a2-highgpu-1g", "us-central1", kSpot, "2023-06-21", "1.1020155 USD"},
      {"a2-highgpu-1g", "us-central1", kSpot, "2023-06-22", "1.21219 USD"},
      {"a2-highgpu-1g", "us-central1", kSpot, "2026-08-01", "1.92802 USD"},
      // 1689.3711392 a month / 730 hours.
      {"a2-highgpu-1g", "us-central1", k1Year, "2026-08-01", "2.31420704 USD"},
      {"a2-highgpu-1g", "us-central1", k3Years, "2026-08-01", "1.285708326 USD"},
      // 7314.80635634 a month / 730 does not end: rounded half-even at 18 digits.
      {"a3-highgpu-1g", "africa-south1", k1Year, "2026-08-01", "10.020282679917808219 USD"},
      {"a2-highgpu-1g", "africa-south1", kOnDemand, "2026-08-01", "4.80478794 USD"},
      {"Standard_NC4as_T4_v3", "australiacentral", kOnDemand, "2026-07-01", "0.684 USD"},
      {"BM.GPU.H100.8", "us-ashburn-1", kOnDemand, "2026-01-01", "80 USD"},
      {"BM.GPU.H100.8", "", kOnDemand, "2026-01-01", "80 USD"},
      // Any region: the cheapest.
      {"a2-highgpu-1g", "", kOnDemand, "2026-08-01", "3.673385 USD"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(price(Catalog::built_in(), query(c.type, c.region, c.option, c.when)), c.want)
        << c.type << " " << c.region << " " << to_text(c.option) << " " << c.when;
  }
}

TEST(Catalog, ErrorsNameWhatIsMissing) {
  struct Case {
    std::string_view type;
    std::string_view region;
    PurchaseOption option;
    std::string_view when;
    std::string_view want;
  };
  const Case cases[] = {
      {"p9.huge", "us-east-1", kOnDemand, "2026-01-01",
       "no price of instance type 'p9.huge'; state it in a price file"},
      {"", "", kOnDemand, "2026-01-01", "no price of instance type ''; state it in a price file"},
      {"p5.48xlarge", "eu-west-1", kOnDemand, "2026-01-01",
       "no price of p5.48xlarge in region 'eu-west-1'; there is one in: us-east-1"},
      {"p5.48xlarge", "us-east-1", k1Year, "2026-01-01",
       "no committed_1y price of p5.48xlarge in us-east-1; there is: on_demand"},
      {"p5.48xlarge", "us-east-1", kOnDemand, "2017-10-01",
       "no on_demand price of p5.48xlarge in us-east-1 at 2017-10-01T00:00:00Z; the first is from "
       "2023-08-08T00:00:00Z. Price at a later date, or state the price in a price file"},
      {"p3.8xlarge", "", kSpot, "2023-01-01",
       "no spot price of p3.8xlarge at 2023-01-01T00:00:00Z; the first is from "
       "2025-03-07T00:00:00Z. Price at a later date, or state the price in a price file"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(price(Catalog::built_in(), query(c.type, c.region, c.option, c.when)), c.want);
  }
}

TEST(Catalog, InstanceTypes) {
  struct Case {
    std::string_view name;
    std::string_view gpu_model;
    std::uint32_t gpu_count;
    std::uint64_t cpu_milli;
    std::uint64_t memory_bytes;
  };
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
  const Case cases[] = {
      {"p3.8xlarge", "V100-SXM2-16GB", 4, 32'000, 244 * kGib},
      {"p3dn.24xlarge", "V100-SXM2-32GB", 8, 96'000, 768 * kGib},
      {"p5.48xlarge", "H100-SXM5-80GB", 8, 192'000, 2048 * kGib},
      {"g3s.xlarge", "M60-8GB", 1, 4'000, 61 * kGib / 2},
      {"g6f.large", "L4 1/8", 1, 2'000, 8 * kGib},
      {"a2-ultragpu-1g", "A100-SXM4-80GB", 1, 12'000, 170 * kGib},
      {"Standard_ND96isr_H100_v5", "H100-SXM5-80GB", 8, 96'000, 1900 * kGib},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const InstanceType* type = Catalog::built_in().find_instance_type(c.name);
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(type->gpu_model, c.gpu_model);
    EXPECT_EQ(type->gpu_count, c.gpu_count);
    EXPECT_EQ(type->cpu_milli, c.cpu_milli);
    EXPECT_EQ(type->memory_bytes, c.memory_bytes);
  }
  EXPECT_EQ(Catalog::built_in().find_instance_type("p9.huge"), nullptr);
  EXPECT_EQ(Catalog::built_in().find_instance_type(""), nullptr);
}

TEST(Catalog, TheBuiltInTablesAreInOrderAndAgreeWithTheFleet) {
  const Catalog& catalog = Catalog::built_in();
  EXPECT_GT(catalog.rates().size(), 8000u);
  std::set<std::tuple<std::string, std::string, PurchaseOption, Instant>> keys;
  for (const Rate& rate : catalog.rates()) {
    EXPECT_TRUE(keys.emplace(rate.instance_type, rate.region, rate.option, rate.from).second)
        << rate.instance_type << " in " << rate.region << " twice from one date";
    EXPECT_GT(rate.per_hour, Decimal());
    EXPECT_FALSE(rate.source.empty());
  }
  std::set<std::string> names;
  for (const InstanceType& type : catalog.instance_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name << " twice";
    EXPECT_GT(type.gpu_count, 0u) << type.name;
    // Parts of a GPU ("L4 1/8") and names that match several models are listed as they are.
    if (type.provider == "aws" && type.gpu_model.find(' ') == std::string::npos) {
      EXPECT_NE(find_gpu_model(type.gpu_model), nullptr) << type.name << " " << type.gpu_model;
    }
  }
  EXPECT_EQ(to_text(catalog.host_unit_rates().per_cpu_hour), "0.031611");
  EXPECT_EQ(to_text(catalog.host_unit_rates().per_gib_hour), "0.004237");
}

constexpr std::string_view kHeader =
    "provider,region,instance_type,option,from,per_hour,currency\n";
constexpr std::string_view kLongHeader =
    "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,"
    "memory_gib\n";

Catalog overridden(std::string_view header, std::string_view rows) {
  auto catalog =
      Catalog::built_in().overridden_by(std::string(header) + std::string(rows), "prices.csv");
  if (!catalog) throw std::runtime_error(catalog.error().message);
  return *std::move(catalog);
}

TEST(Catalog, APriceFileIsInForceFromItsFirstDate) {
  const Catalog catalog =
      overridden(kHeader, "aws,us-east-1,p4d.24xlarge,on_demand,2024-01-01,20,USD\n");
  const auto price_at = [&](std::string_view when) {
    return price(catalog, query("p4d.24xlarge", "us-east-1", kOnDemand, when));
  };
  EXPECT_EQ(price_at("2023-12-31"), "32.7726 USD");  // before: the list
  EXPECT_EQ(price_at("2024-01-01"), "20 USD");
  EXPECT_EQ(price_at("2025-06-23"),
            "20 USD");  // a later cut of the list price does not change an override
  EXPECT_EQ(price(catalog, query("p4d.24xlarge", "us-east-1", kSpot, "2025-03-07")), "9.83 USD");
}

TEST(Catalog, APriceFileWithoutARegionIsForEveryRegion) {
  const Catalog catalog = overridden(kHeader, "aws,,p4d.24xlarge,on_demand,2024-01-01,20,USD\n");
  for (const std::string_view region : {"us-east-1", ""}) {
    EXPECT_EQ(price(catalog, query("p4d.24xlarge", region, kOnDemand, "2026-01-01")), "20 USD");
    EXPECT_EQ(price(catalog, query("p4d.24xlarge", region, kOnDemand, "2023-01-01")),
              "32.7726 USD");
  }
  const Catalog rack =
      overridden(kLongHeader, "own,,rack-a,on_demand,2024-01-01,9.5,EUR,h100,8,,\n");
  EXPECT_EQ(price(rack, query("rack-a", "hall-2", kOnDemand, "2024-05-01")), "9.5 EUR");
}

TEST(Catalog, APriceFileAddsInstanceTypesAndHostRates) {
  const Catalog catalog =
      overridden(kLongHeader,
                 "own,dc1,dgx,on_demand,2024-01-01,40,EUR,NVIDIA A100-SXM4-80GB,8,256,2048\n"
                 "own,dc1,dgx,spot,2024-01-01,10,EUR,NVIDIA A100-SXM4-80GB,8,256,2048\n"
                 "own,dc1,dgx,spot,2024-02-01,11,EUR,,,,\n"
                 "own,,(cpu),on_demand,2024-01-01,0.02,EUR,,,,\n"
                 "own,,(memory_gib),on_demand,2024-01-01,0.003,EUR,,,,\n");
  const InstanceType* type = catalog.find_instance_type("dgx");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->gpu_model, "A100-SXM4-80GB");
  EXPECT_EQ(type->gpu_count, 8u);
  EXPECT_EQ(type->cpu_milli, 256'000u);
  EXPECT_EQ(type->memory_bytes, std::uint64_t{2048} << 30);
  EXPECT_EQ(to_text(catalog.host_unit_rates().per_cpu_hour), "0.02");
  EXPECT_EQ(to_text(catalog.host_unit_rates().per_gib_hour), "0.003");
  EXPECT_EQ(price(catalog, query("dgx", "dc1", kSpot, "2024-03-01")), "11 EUR");
  EXPECT_EQ(catalog.find_rate(query("dgx", "dc1", kSpot, "2024-03-01"))->source, "prices.csv:4");
}

TEST(Catalog, PricesOfTwoCurrenciesAreNotCompared) {
  const Catalog catalog = overridden(kHeader,
                                     "own,dc1,dgx,on_demand,2024-01-01,40,EUR\n"
                                     "own,dc2,dgx,on_demand,2024-01-01,50,USD\n");
  EXPECT_EQ(price(catalog, query("dgx", "", kOnDemand, "2024-03-01")),
            "prices of dgx are in EUR and in USD; name a region");
  EXPECT_EQ(price(catalog, query("dgx", "dc2", kOnDemand, "2024-03-01")), "50 USD");
}

TEST(Catalog, TheVersionChangesWithAnyRow) {
  const Catalog& built_in = Catalog::built_in();
  EXPECT_EQ(overridden(kHeader, "").version(), built_in.version());
  const std::string_view row = "own,dc1,dgx,on_demand,2024-01-01,40,EUR\n";
  EXPECT_EQ(overridden(kHeader, row).version(), overridden(kHeader, row).version());
  std::set<std::string> versions = {to_text(built_in.version())};
  const std::string_view texts[] = {
      row,
      "own2,dc1,dgx,on_demand,2024-01-01,40,EUR\n",
      "own,dc2,dgx,on_demand,2024-01-01,40,EUR\n",
      "own,dc1,dgy,on_demand,2024-01-01,40,EUR\n",
      "own,dc1,dgx,spot,2024-01-01,40,EUR\n",
      "own,dc1,dgx,on_demand,2024-01-02,40,EUR\n",
      "own,dc1,dgx,on_demand,2024-01-01,40.000000000000000001,EUR\n",
      "own,dc1,dgx,on_demand,2024-01-01,40,USD\n",
      "own,,(cpu),on_demand,2024-01-01,0.02,USD\n",
  };
  for (const std::string_view text : texts) {
    EXPECT_TRUE(versions.insert(to_text(overridden(kHeader, text).version())).second) << text;
  }
}

}  // namespace
}  // namespace pennyweight
