#include "core/gpu/card_fraction.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "core/gpu/plain_table.h"

namespace pennyweight {
namespace {

TEST(CardFraction, PartsAsPriceListsWriteThem) {
  struct Case {
    std::string_view text;
    std::string_view model;  // empty: refused
    std::uint64_t parts = 1;
    std::uint64_t whole = 1;
  };
  const Case cases[] = {
      // AWS g6f and gr6f
      {"L4 1/8", "L4", 1, 8},
      {"L4 1/4", "L4", 1, 4},
      {"L4 1/2", "L4", 1, 2},
      // Azure NVadsA10 v5
      {"A10 1/6", "A10", 1, 6},
      {"A10 1/3", "A10", 1, 3},
      {"A10 1/2", "A10", 1, 2},
      // GCP g4
      {"RTX-PRO-6000-BLACKWELL-96GB 1/8", "RTX-PRO-6000-BLACKWELL-96GB", 1, 8},
      {"NVIDIA L4 1/8", "L4", 1, 8},
      {"L4 8/8", "L4", 1, 1},
      // Whole GPUs, in any spelling.
      {"L4", "L4"},
      {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
      {"Tesla T4", "T4"},
      // Refused.
      {"L4 1/17", ""},  // not a whole number of units
      {"L4 0/8", ""},
      {"L4 9/8", ""},
      {"L4 1/0", ""},
      {"L4 1/", ""},
      {"L4 /8", ""},
      {"L4 1/8/2", ""},
      {"L4 -1/8", ""},
      {"L4 1/99999999999999999999", ""},
      {"L4 18", ""},
      {"L41/8", ""},
      {"1/8", ""},
      {" 1/8", ""},
      {"A100 1/8", ""},  // fits several models
      {"", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto sold = find_sold_card(c.text);
    ASSERT_EQ(sold.has_value(), !c.model.empty());
    if (!sold) continue;
    EXPECT_EQ(sold->model->name, c.model);
    EXPECT_EQ(sold->part, CardShare::of(c.parts, c.whole));
  }
}

// An eighth of an L4 is 3 GB; a sixth of an A10 is 4 GiB.
TEST(CardFraction, MemoryOfAPart) {
  const auto l4 = find_sold_card("L4 1/8").value();
  EXPECT_EQ(l4.model->memory_bytes / CardShare::kUnitsPerCard * l4.part.units() +
                l4.model->memory_bytes % CardShare::kUnitsPerCard * l4.part.units() /
                    CardShare::kUnitsPerCard,
            std::uint64_t{3} << 30);
  const auto a10 = find_sold_card("A10 1/6").value();
  EXPECT_EQ(a10.part.units() * 6, CardShare::kUnitsPerCard);
  EXPECT_EQ(a10.model->memory_bytes / 6, std::uint64_t{4} << 30);
}

// A fraction is never mistaken for a model: looking it up as a model name finds nothing.
TEST(CardFraction, AFractionIsNoModelName) {
  EXPECT_EQ(find_gpu_model("L4 1/8"), nullptr);
  EXPECT_EQ(find_gpu_model("A10 1/6"), nullptr);
}

TEST(CardFraction, EveryFractionOfThePriceListsIsUnderstood) {
  std::ifstream file(PROJECT_ROOT "/data/prices/instance_types.csv");
  std::stringstream text;
  text << file.rdbuf();
  constexpr std::string_view kColumns[] = {"name", "gpu_model"};
  const std::string csv = text.str();
  const auto table =
      PlainTable::parse(csv, "instance_types.csv", {.required = kColumns, .others_ignored = true});
  ASSERT_TRUE(table.has_value()) << table.error().message;
  std::size_t fractions = 0;
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto row = table->row(i);
    if (row[1].find('/') == std::string_view::npos) continue;
    ++fractions;
    EXPECT_TRUE(find_sold_card(row[1]).has_value()) << row[0] << " " << row[1];
  }
  EXPECT_GE(fractions, 11u);
}

}  // namespace
}  // namespace pennyweight
