// What the table says of a line beside its columns: the id under which it was exported, and that it
// was booked late.
#include "reporting/export/focus_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "ledger/delivery.h"

namespace pennyweight {
namespace {

constexpr const char* kAnId = "00112233445566778899aabbccddeeff";

Charge focus_line(std::string other_columns = {}) {
  const Interval march(*parse_instant("2026-03-01"), *parse_instant("2026-04-01"));
  Charge charge(march, march, Costs::zero(kUsd));
  charge.id = FactId{{.high = 1, .low = 2}};
  charge.booked_month = "2026-03";
  charge.other_columns = std::move(other_columns);
  return charge;
}

std::optional<std::string> cell(const FocusTable& table, const FocusRow& row,
                                std::string_view column) {
  if (!table.has(column)) return std::nullopt;
  const auto* text = std::get_if<std::string>(&row[table.column_index(column)]);
  return text == nullptr ? "" : *text;
}

// One table of all the charges, and the cells of `column`: nothing where there is no such column.
std::vector<std::optional<std::string>> cells(const std::vector<Charge>& charges,
                                              std::string_view column) {
  FocusTable table(FocusVersion::k1_4, Fidelity::kConformant,
                   {{std::string(kOriginChargeId), FocusType::kString}});
  EXPECT_TRUE(table.note(charges).has_value());
  table.fix_columns();
  std::vector<std::optional<std::string>> texts;
  for (const Charge& charge : charges) {
    FocusRow row;
    EXPECT_TRUE(table.fill(charge, row).has_value());
    texts.push_back(cell(table, row, column));
  }
  return texts;
}

TEST(FocusTable, ALineIsKnownByTheIdThatALedgerExportedItUnder) {
  const std::string own = to_text(focus_line().id);
  const std::string id = std::string(R"("x_OriginChargeId":")") + kAnId + '"';
  struct Case {
    std::string other_columns;
    std::string want;
    bool is_moved;  // what the bill has is another column then
  };
  for (const Case& one :
       std::vector<Case>{{"", own, false},
                         {"{" + id + "}", kAnId, false},
                         {R"({"x_OriginChargeId":"a name of theirs"})", own, true},
                         {R"({"x_OriginChargeId":"00112233445566778899AABBCCDDEEFF"})", own, true},
                         // A part of a line is a line of its own.
                         {"{" + id + R"(,"x_AllocatedRatio":"0.5"})", own, true},
                         {R"({"x_AllocatedRatio":"0.5",)" + id + "}", own, true}}) {
    EXPECT_EQ(cells({focus_line(one.other_columns)}, kOriginChargeId).front(), one.want)
        << one.other_columns;
    EXPECT_EQ(cells({focus_line(one.other_columns)}, "x_OriginOriginChargeId").front().has_value(),
              one.is_moved)
        << one.other_columns;
  }
}

TEST(FocusTable, WhatTakesALineBackHasAnIdOfItsOwn) {
  const Charge original = focus_line(std::string(R"({"x_OriginChargeId":")") + kAnId + "\"}");
  const Charge reversal = reversal_of(original, "2026-04");
  EXPECT_EQ(cells({original, reversal}, kOriginChargeId),
            (std::vector<std::optional<std::string>>{kAnId, to_text(reversal.id)}));
  EXPECT_EQ(cells({original, reversal}, kTakesBack),
            (std::vector<std::optional<std::string>>{"", to_text(original.id)}));
}

TEST(FocusTable, ALineThatIsBookedLateIsACorrection) {
  Charge late = focus_line();
  late.booked_month = "2026-04";
  using Cells = std::vector<std::optional<std::string>>;
  EXPECT_EQ(cells({focus_line(), late}, "ChargeClass"), (Cells{"", "Correction"}));
  EXPECT_EQ(cells({focus_line(), late}, kBookedMonth), (Cells{"", "2026-04"}));
  EXPECT_EQ(cells({focus_line(), late}, kTakesBack), (Cells{"", ""}));
  // Where no line is late, nothing is said of it, and the bill's own column keeps its name.
  EXPECT_EQ(cells({focus_line()}, kBookedMonth), (Cells{std::nullopt}));
  EXPECT_EQ(cells({focus_line(R"({"x_BookedMonth":"May"})")}, kBookedMonth), (Cells{"May"}));
  EXPECT_EQ(cells({focus_line(R"({"x_BookedMonth":"May"})"), late}, "x_OriginBookedMonth"),
            (Cells{"May", ""}));
}

TEST(FocusTable, AServiceHasOneCategoryAndOnlyOneThatFocusHas) {
  const auto serviced = [](std::string category, std::string subcategory) {
    Charge charge = focus_line();
    charge.service_name = "Warehouse";
    charge.service_category = std::move(category);
    charge.service_subcategory = std::move(subcategory);
    return charge;
  };
  const std::vector<Charge> charges = {
      serviced("Databases", "Data Warehouses"), serviced("Databases", ""),
      serviced("Analytics", "Data Processing"), serviced("Database", "No-SQL DB")};
  using Cells = std::vector<std::optional<std::string>>;
  EXPECT_EQ(cells(charges, "ServiceCategory"),
            (Cells{"Databases", "Databases", "Databases", "Databases"}));
  EXPECT_EQ(cells(charges, "ServiceSubcategory"), (Cells{"Data Warehouses", "", "", ""}));
  EXPECT_EQ(
      cells(charges, kReplacedValues),
      (Cells{"", "", R"({"ServiceCategory":"Analytics","ServiceSubcategory":"Data Processing"})",
             R"({"ServiceCategory":"Database","ServiceSubcategory":"No-SQL DB"})"}));
}

}  // namespace
}  // namespace pennyweight
