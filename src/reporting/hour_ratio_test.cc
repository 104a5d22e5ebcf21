// Hours as ratios: rounded half to even, and exact.
#include "reporting/hour_ratio.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(HourRatio, IsRoundedAndExact) {
  const struct {
    Ratio hours;
    const char *rounded, *exact;
  } cases[] = {{{0, 7}, "0.0000", "0"},
               {{14, 7}, "2.0000", "2"},
               {{1, 3}, "0.3333", "1/3"},
               {{2, 3}, "0.6667", "2/3"},
               {{1, 20'000}, "0.0000", "1/20000"},
               {{3, 20'000}, "0.0002", "3/20000"},
               {{Int128{12'345'678} * 4, 4}, "12,345,678.0000", "12345678"}};
  for (const auto& c : cases) {
    EXPECT_EQ(format_hours(c.hours, Thousands::kSeparated), c.rounded);
    EXPECT_EQ(exact_hours(c.hours), c.exact);
  }
}

TEST(HourRatio, InATable) {
  const Table table{.title = "t",
                    .currency = {},
                    .columns = {{"gib_hours", "GiB-hours", ColumnKind::kGpuHours}},
                    .rows = {{Ratio{4, 6}}},
                    .total = {},
                    .notes = {}};
  EXPECT_EQ(render_csv({table}), "gib_hours,gib_hours_exact\n0.6667,2/3\n");
  EXPECT_NE(render_json({table}).find("\"gib_hours_exact\": \"2/3\""), std::string::npos);
  EXPECT_NE(render_text(table, {}).find("0.6667"), std::string::npos);
}

}  // namespace
}  // namespace pennyweight
