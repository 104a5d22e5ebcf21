#include "ledger/store/move/tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "ledger/store/move/progress.h"

namespace pennyweight::move {
namespace {

using ::testing::HasSubstr;

const MovedTable& table_of(std::string_view name) {
  return *std::ranges::find(moved_tables(), name, &MovedTable::name);
}

// A page of charges whose values are derived from a number for each row.
Page charges_of(const std::vector<std::uint64_t>& rows, std::vector<std::string>& texts) {
  const MovedTable& table = table_of("charges");
  Page page;
  page.begin(table, rows.size());
  texts.clear();
  for (const std::uint64_t row : rows) texts.push_back("text " + std::to_string(row % 5));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    page.entry_numbers[r] = rows[r] % 3;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      PageColumn& column = page.columns[i];
      if (table.columns[i].kind == ValueKind::kText) {
        column.texts[r] = texts[r];
      } else if (table.columns[i].kind == ValueKind::kPairs) {
        if (rows[r] % 2 == 0) column.pairs.emplace_back(texts[r], "value");
        column.ends[r] = static_cast<std::uint32_t>(column.pairs.size());
      } else {
        column.numbers[r] = static_cast<UInt128>(-static_cast<Int128>(rows[r])) * (i + 1);
      }
      if (table.columns[i].nullable) column.is_absent[r] = rows[r] % 4 == 0 ? 1 : 0;
    }
  }
  return page;
}
Tally tally_of(const std::vector<std::uint64_t>& rows) {
  std::vector<std::string> texts;
  Tally tally;
  tally.add(charges_of(rows, texts));
  return tally;
}

RC_GTEST_PROP(Tally, DoesNotDependOnOrderOrPages, (std::vector<std::uint64_t> rows)) {
  const Tally whole = tally_of(rows);
  std::vector<std::uint64_t> other = rows;
  std::ranges::reverse(other);
  const auto middle = other.begin() + static_cast<std::ptrdiff_t>(other.size() / 2);
  Tally halves = tally_of({other.begin(), middle});
  halves.add(tally_of({middle, other.end()}));
  RC_ASSERT(whole == halves);
}

RC_GTEST_PROP(Tally, AnotherRowIsAnotherTally, (std::vector<std::uint64_t> rows)) {
  std::vector<std::uint64_t> other = rows;
  other.push_back(7);
  RC_ASSERT(tally_of(rows) != tally_of(other));
  rows.push_back(8);
  RC_ASSERT(tally_of(rows) != tally_of(other));
}

TEST(Tally, EachColumnCounts) {
  const std::vector<std::uint64_t> rows = {1, 2, 3};
  std::vector<std::string> texts;
  const Tally before = tally_of(rows);
  const MovedTable& table = table_of("charges");
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    Page page = charges_of(rows, texts);
    PageColumn& column = page.columns[i];
    if (table.columns[i].kind == ValueKind::kText) {
      column.texts[1] = "else";
    } else if (table.columns[i].kind == ValueKind::kPairs) {
      column.pairs[0].second = "else";
    } else {
      ++column.numbers[1];
    }
    Tally after;
    after.add(page);
    EXPECT_NE(after, before) << table.columns[i].name;
    EXPECT_THAT(difference(table, before, after), HasSubstr(table.columns[i].name));
  }
}

TEST(Tally, WhatIsAbsentIsNotZero) {
  std::vector<std::string> texts;
  Page page = charges_of({1}, texts);
  const std::size_t place = table_of("charges").column("takes_back");
  page.columns[place].numbers[0] = 0;
  Tally zero, absent;
  zero.add(page);
  page.columns[place].is_absent[0] = 1;
  absent.add(page);
  EXPECT_NE(zero, absent);
}

TEST(Tally, OfWhichImportARowIsCounts) {
  std::vector<std::string> texts;
  Page page = charges_of({1, 2}, texts);
  Tally before, after;
  before.add(page);
  std::swap(page.entry_numbers[0], page.entry_numbers[1]);
  after.add(page);
  EXPECT_NE(before, after);
  EXPECT_THAT(difference(table_of("charges"), before, after), HasSubstr("of the same imports"));
}

TEST(ProgressReader, ReadsRowsInAnyOrder) {
  const CopyStage first = {.to = {{"log", 4}}, .print = {1, 2}};
  const CopyStage second = {.to = {{"log", 9}, {"charges", 3}}, .print = {3, 4}};
  const MovedTable& table = table_of("charges");
  const PieceKey key = {1, "charges", 7}, empty = {0, "charges", 0};
  ProgressReader all;
  for (const auto& rows : {progress_rows(1, second), progress_rows(key, table, tally_of({1, 2, 3})),
                           progress_rows(0, first), progress_rows(empty, table, Tally())}) {
    for (const ProgressRow& row : rows) all.add(row);
  }
  const MoveState state = all.state();
  ASSERT_EQ(state.stages.size(), 2u);
  EXPECT_EQ(state.stages[0].to, first.to);
  EXPECT_EQ(state.stages[1].to, second.to);
  EXPECT_EQ(state.stages[1].print, second.print);
  EXPECT_EQ(state.arrived.at(key), tally_of({1, 2, 3}));
  EXPECT_EQ(state.arrived.at(empty), Tally());
}

}  // namespace
}  // namespace pennyweight::move
