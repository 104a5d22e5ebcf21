#include "allocation/pricing/rate_card.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace pennyweight {
namespace {

constexpr std::string_view kCardHeader =
    "provider,sku,service,gpu_model,instance_type,region,unit,price,list_price,currency,from,to\n";

Instant card_at(std::string_view text) { return parse_instant(text).value(); }
Decimal card_decimal(std::string_view text) { return parse_exact_decimal(text).value(); }

RateCard card_of(std::string_view rows) {
  auto card = RateCard::parse(std::string(kCardHeader) + std::string(rows), "card.csv");
  EXPECT_TRUE(card.has_value()) << card.error().message;
  return card ? *std::move(card) : RateCard();
}

CardUsage usage_of(std::string_view sku, std::string_view unit) {
  return {.provider = "CoreWeave",
          .skus = {sku, "", ""},
          .service = "Kubernetes",
          .gpu_model = "",
          .instance_type = "",
          .region = "US-EAST-04",
          .unit = unit,
          .currency = std::nullopt,
          .during = Interval(card_at("2026-03-01T05:00:00Z"), card_at("2026-03-01T06:00:00Z"))};
}

std::string place_of(const RateCard& card, const CardUsage& usage) {
  const auto found = card.find(usage);
  return found ? (*found)->place : found.error().message;
}

TEST(RateCard, RowsThatAreRefused) {
  struct Case {
    std::string_view rows;
    std::string_view want;  // prefix of the message
  };
  const Case cases[] = {
      {"p,,,,,r,Hours,1,,USD,,\n", "card.csv:2: names no sku, instance_type, gpu_model or service"},
      {"p,s,,,,,,1,,USD,,\n", "card.csv:2: unit is missing"},
      {"p,s,,,,,Hours,,,USD,,\n", "card.csv:2: price: "},
      {"p,s,,,,,Hours,-1,,USD,,\n", "card.csv:2: price -1 is outside 0 to 1000000"},
      {"p,s,,,,,Hours,1000001,,USD,,\n", "card.csv:2: price 1000001 is outside"},
      {"p,s,,,,,Hours,$2,,USD,,\n", "card.csv:2: price: "},
      {"p,s,,,,,Hours,1,-1,USD,,\n", "card.csv:2: list_price -1 is outside"},
      {"p,s,,,,,Hours,1,,usd,,\n", "card.csv:2: currency: "},
      {"p,s,,,,,Hours,1,,USD,31.3.2026,\n", "card.csv:2: from: "},
      {"p,s,,,,,Hours,1,,USD,2026-03-01,2026-03-01\n",
       "card.csv:2: to 2026-03-01T00:00:00Z is not"},
      {"p,\xFF,,,,,Hours,1,,USD,,\n", "card.csv:2: sku is longer"},
      {"p,s,,,,,Hours,1,,USD,,\nP,S,,,,,hour,2,,USD,,\n",
       "card.csv:3: prices the same usage at the same time as card.csv:2"},
      {"p,s,,,,,Hours,1,,USD,2026-03-01,2026-05-01\np,s,,,,,Hours,2,,USD,2026-04-01,\n",
       "card.csv:3: prices the same usage at the same time as card.csv:2"},
      {"p,s,,,,,Hours,1,,USD,2026-03-01,\np,s,,,,,Hours,2,,USD,2026-03-01,\n",
       "card.csv:3: prices the same usage at the same time as card.csv:2"},
  };
  for (const Case& c : cases) {
    const auto card = RateCard::parse(std::string(kCardHeader) + std::string(c.rows), "card.csv");
    ASSERT_FALSE(card.has_value()) << c.rows;
    EXPECT_EQ(card.error().message.substr(0, c.want.size()), c.want) << c.rows;
  }
  EXPECT_FALSE(RateCard::parse("sku,price,currency\n", "card.csv").has_value());
  EXPECT_FALSE(RateCard::parse("sku,unit,price,currency,cost\n", "card.csv").has_value());
}

TEST(RateCard, TheRowThatSaysTheMost) {
  const RateCard card = card_of(
      ",*,,,,,GPU-Hours,9,,USD,,\n"                        // 2
      "CoreWeave,*,,,,,GPU-Hours,8,,USD,,\n"               // 3
      ",h100*,,,,,GPU-Hours,7,,USD,,\n"                    // 4
      ",h100-sxm*,,,,,GPU-Hours,6,,USD,,\n"                // 5
      ",h100-sxm-80gb,,,,,GPU-Hours,5,,USD,,\n"            // 6
      ",h100-sxm-80gb,,,,US-EAST-04,GPU-Hours,4,,USD,,\n"  // 7
      ",,Kubernetes,,,,GiB-Hours,0.01,,USD,,\n"            // 8
      "Lambda,h100*,,,,,GPU-Hours,3,,USD,,\n");            // 9
  struct Case {
    std::string_view sku, unit, want;
  };
  const Case cases[] = {
      {"h100-sxm-80gb", "GPU-Hours", "card.csv:7"},  {"H100-SXM-80GB", "gpu hour", "card.csv:7"},
      {"h100-sxm-141gb", "GPU-Hours", "card.csv:5"}, {"h100-pcie", "GPU_HOURS", "card.csv:4"},
      {"l40s", "GPU-Hours", "card.csv:3"},           {"storage", "GiB-Hours", "card.csv:8"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(place_of(card, usage_of(c.sku, c.unit)), c.want) << c.sku;
  }
  // A meter or a price id works as well as a SKU id.
  CardUsage usage = usage_of("x", "GPU-Hours");
  usage.skus = {"", "h100-sxm-80gb", ""};
  EXPECT_EQ(place_of(card, usage), "card.csv:7");
}

TEST(RateCard, GpuModelsByAnyOfTheirNames) {
  const RateCard card = card_of(",,,H100-SXM5-80GB,,,GPU-Hours,2.5,,USD,,\n");
  CardUsage usage = usage_of("", "GPU-Hours");
  usage.gpu_model = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(place_of(card, usage), "card.csv:2");
  usage.gpu_model = "NVIDIA L4";
  EXPECT_TRUE(place_of(card, usage).starts_with("no price"));
}

TEST(RateCard, PricesOverTime) {
  const RateCard card = card_of(
      ",s,,,,,Hours,3,,USD,2026-01-01,\n"            // 2, ends where the next begins
      ",s,,,,,Hours,2,,USD,2026-03-01,2026-04-01\n"  // 3
      ",s,,,,,Hours,1,,EUR,2026-05-01,\n");          // 4
  const auto place = [&](std::string_view begin, std::string_view end) {
    CardUsage usage = usage_of("s", "Hours");
    usage.during = Interval(card_at(begin), card_at(end));
    return place_of(card, usage);
  };
  EXPECT_EQ(place("2026-01-01", "2026-01-02"), "card.csv:2");
  EXPECT_EQ(place("2026-02-28", "2026-03-01"), "card.csv:2");
  EXPECT_EQ(place("2026-03-01", "2026-03-02"), "card.csv:3");
  EXPECT_EQ(place("2026-06-01", "2026-06-02"), "card.csv:4");
  EXPECT_EQ(place("2026-02-28", "2026-03-02"),
            "the price of card.csv:2 ends at 2026-03-01T00:00:00Z, within "
            "2026-02-28T00:00:00Z/2026-03-02T00:00:00Z; export the usage by day or hour");
  EXPECT_EQ(
      place("2025-12-31", "2026-01-01"),
      "no price in card.csv for provider=CoreWeave, sku=s, service=Kubernetes, "
      "region=US-EAST-04, unit=Hours at 2025-12-31T00:00:00Z; card.csv:2 prices it at another "
      "time; add a row to it");
  EXPECT_TRUE(place("2026-04-01", "2026-04-02").starts_with("no price"));
}

TEST(RateCard, WhatHasNoPriceIsNamed) {
  const RateCard card =
      card_of(",s,,,,,Hours,3,,USD,,\n,a*,,,,,Hours,3,,USD,,\n,*a,,,,,Hours,3,,USD,,\n");
  EXPECT_EQ(place_of(card, usage_of("t", "Hours")),
            "no price in card.csv for provider=CoreWeave, sku=t, service=Kubernetes, "
            "region=US-EAST-04, unit=Hours at 2026-03-01T05:00:00Z; add a row to it");
  EXPECT_NE(place_of(card, usage_of("s", "GiB-Hours")).find("card.csv:2 prices it by 'Hours'"),
            std::string::npos);
  CardUsage in_euro = usage_of("s", "Hours");
  in_euro.currency = kEur;
  EXPECT_NE(place_of(card, in_euro).find("card.csv:2 prices it in USD"), std::string::npos);
  EXPECT_TRUE(place_of(card, usage_of("aa", "Hours"))
                  .starts_with("card.csv:3 and card.csv:4 both price it (provider=CoreWeave"));
  EXPECT_TRUE(place_of(RateCard(), usage_of("s", "Hours")).starts_with("no price in a rate card"));
}

TEST(RateCard, Amounts) {
  const RateCard card = card_of(",s,,,,,GPU-Hours,2.39,4.25,USD,,\n");
  const CardRate& rate = card.rates().front();
  const auto amounts = [&](std::string_view quantity, std::uint64_t per) {
    const auto found = amounts_of(rate, card_decimal(quantity), per);
    return found ? to_text(found->cost.amount()) + " " + to_text(found->list.amount()) +
                       (found->rounded ? " rounded" : "")
                 : found.error().message;
  };
  EXPECT_EQ(amounts("64", 1), "152.96 272");
  EXPECT_EQ(amounts("-64", 1), "-152.96 -272");
  EXPECT_EQ(amounts("3600000", 3'600'000), "2.39 4.25");
  EXPECT_EQ(amounts("1800000", 3'600'000), "1.195 2.125");
  EXPECT_EQ(amounts("1", 3), "0.796666666666666667 1.416666666666666667 rounded");
  EXPECT_EQ(amounts("0.000000000000000001", 1),
            "0.000000000000000002 0.000000000000000004 rounded");
  EXPECT_EQ(amounts("0", 1), "0 0");
  EXPECT_FALSE(amounts_of(rate, card_decimal("99999999999999999999"), 1).has_value());
}

TEST(RateCard, PatternsAndUnits) {
  EXPECT_TRUE(fits_pattern("*", ""));
  EXPECT_TRUE(fits_pattern("a*b*c", "axxbyyc"));
  EXPECT_TRUE(fits_pattern("*h100*", "gpu-H100-sxm"));
  EXPECT_TRUE(fits_pattern("**a", "ba"));
  EXPECT_FALSE(fits_pattern("a*b*c", "axxbyycd"));
  EXPECT_FALSE(fits_pattern("", "a"));
  EXPECT_FALSE(fits_pattern("a", ""));
  EXPECT_TRUE(same_unit("GPU-Hours", "gpu hour"));
  EXPECT_TRUE(same_unit("Hours", "HOUR"));
  EXPECT_FALSE(same_unit("GPU-Hours", "GPU-Seconds"));
  EXPECT_FALSE(same_unit("s", ""));
}

// The parts of a quantity cost together what the whole costs, if nothing is rounded.
RC_GTEST_PROP(RateCardProperty, PartsMakeTheWhole, ()) {
  CardRate rate;
  rate.price = Decimal::from_ticks(Int128{*rc::gen::inRange(0, 1'000'000'000)} * 1'000'000'000);
  rate.list_price = rate.price;
  const auto part = [] {
    return Int128{*rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000)} * 1'000'000'000;
  };
  const Int128 a = part();
  const Int128 b = part();
  const auto cost = [&](Int128 ticks) {
    return amounts_of(rate, Decimal::from_ticks(ticks), 1)->cost;
  };
  RC_ASSERT(cost(a) + cost(b) == cost(a + b));
}

}  // namespace
}  // namespace pennyweight
