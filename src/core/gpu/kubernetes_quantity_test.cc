#include "core/gpu/kubernetes_quantity.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pennyweight {
namespace {

TEST(KubernetesQuantity, Counts) {
  struct Case {
    std::string_view text;
    std::uint64_t units;
    std::uint64_t want;
  };
  const Case cases[] = {
      {"0", 1, 0},
      {"8", 1, 8},
      {"+8", 1, 8},
      {"3k", 1, 3000},
      {"24576", 1, 24576},
      {"1Ki", 1, 1024},
      {"16Gi", 1, std::uint64_t{16} << 30},
      {"1.5Gi", 1, std::uint64_t{3} << 29},
      {"2e3", 1, 2000},
      {"2E3", 1, 2000},
      {"2e+3", 1, 2000},
      {"2000e-3", 1, 2},
      {"1E", 1, 1'000'000'000'000'000'000},
      {"1Ei", 1, std::uint64_t{1} << 60},
      // Milli-CPUs
      {"500m", 1000, 500},
      {"2", 1000, 2000},
      {"0.25", 1000, 250},
      {"1500000u", 1000, 1500},
      {"250000000n", 1000, 250},
      {"1000m", 1, 1},
  };
  for (const Case& c : cases) {
    const auto count = parse_quantity(c.text, c.units);
    ASSERT_TRUE(count.has_value()) << c.text << ": " << count.error().message;
    EXPECT_EQ(*count, c.want) << c.text;
  }
}

TEST(KubernetesQuantity, WhatIsNoneIsRefused) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const Case cases[] = {
      {"", "'' is not a quantity"},
      {"k", "'k' is not a quantity"},
      {"-1", "'-1' is not a quantity: negative"},
      {"1K", "'1K' is not a quantity: an unknown suffix"},
      {"1kb", "'1kb' is not a quantity: an unknown suffix"},
      {"1 Gi", "'1 Gi' is not a quantity: an unknown suffix"},
      {"1Gi ", "'1Gi ' is not a quantity: an unknown suffix"},
      {"1e", "'1e' is not a quantity: an unknown suffix"},
      {"1e3k", "'1e3k' is not a quantity"},
      {"1.2.3", "'1.2.3' is not a quantity"},
      {"--1", "'--1' is not a quantity"},
      {"1+2", "'1+2' is not a quantity"},
      {"++1", "'++1' is not a quantity"},
      {"2e++3", "'2e++3' is not a quantity"},
      {"one", "'one' is not a quantity"},
      {"500m", "'500m' is not a quantity: not a whole number of 1/1"},
      {"0.5", "'0.5' is not a quantity: 0.5 is not a whole number of 1/1"},
      {"99999999999999999999", "'99999999999999999999' is not a quantity"},
      {"100E", "'100E' is not a quantity"},
  };
  for (const Case& c : cases) {
    const auto count = parse_quantity(c.text, 1);
    ASSERT_FALSE(count.has_value()) << c.text;
    EXPECT_TRUE(count.error().message.starts_with(c.want)) << count.error().message;
  }
  EXPECT_FALSE(parse_quantity(std::string(500, '1'), 1).has_value());
  EXPECT_FALSE(parse_quantity("10E", 1000).has_value());
  EXPECT_FALSE(parse_quantity("99999999999999999999Ei", 8).has_value());
  EXPECT_FALSE(parse_quantity("99999999999999999999E", 1).has_value());
}

}  // namespace
}  // namespace pennyweight
