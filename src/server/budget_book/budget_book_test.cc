#include "server/budget_book/budget_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/budget_book/budget_csv.h"
#include "server/budget_book/budget_json.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

const Instant kNow = *parse_instant("2026-03-01T00:00:00Z");

Budget budget(std::string_view json) { return parse_budget_json(json).value(); }

Result<void> recorded(std::span<const BudgetReplacement>) { return {}; }

class BudgetBookTest : public testing::Test {
 protected:
  BudgetBookTest() {
    std::string name = (std::filesystem::temp_directory_path() / "budget-book-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~BudgetBookTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (std::filesystem::path(folder_) / "budgets.jsonl").string(); }

 private:
  std::string folder_;
};

TEST(BudgetJson, IsReadAsItIsWritten) {
  for (const char* json :
       {R"({"name": "a", "amount": "5000 USD"})",
        R"({"name": "a \"b\" ü", "owner": "ana", "filter": "team=nlp", )"
        R"("amount": "0.000000000000000001 EUR"})",
        R"({"name": "a", "filter": ["team=nlp", "kind!=shared"], )"
        R"("amount": "2000 gpu_hours", "period": "quarter"})",
        R"({"name": "a", "amounts": [{"from": "2026-01-01", "amount": "1 USD"}, )"
        R"({"from": "2026-02-01", "amount": "2 USD"}]})",
        R"({"name": "a", "amount": "1 USD", "parent": "b", )"
        R"("amounts": [{"from": "2026-02-01", "amount": "2 USD"}]})",
        R"({"name": "a", "amount": "1 USD", "period": "project", "from": "2026-01-01", )"
        R"("to": "2026-02-01", "cost": "list"})",
        R"({"name": "a", "amount": "1 USD", "roll_over": true, )"
        R"("from": "2026-01-01", "to": null})"}) {
    const auto first = parse_budget_json(json);
    ASSERT_TRUE(first) << json << first.error().message;
    const auto again = parse_budget_json(budget_json(*first));
    ASSERT_TRUE(again) << budget_json(*first) << again.error().message;
    EXPECT_EQ(*again, *first) << json;
  }
}

TEST(BudgetJson, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "JSON object"},
      {"{", "JSON object"},
      {"{}", "needs a name"},
      {R"({"name": "a"})", "needs an amount"},
      {R"({"name": 5, "amount": "1 USD"})", "name: this is a text"},
      {R"({"name": "a\u0000b", "amount": "1 USD"})", "control characters"},
      {R"({"name": "a", "amount": 5})", "amount: this is a text"},
      {R"({"name": "a", "amount": "5"})", "has no currency"},
      {R"({"name": "a", "amount": "-5 USD"})", "0 or more"},
      {R"({"name": "a", "amount": "1 USD", "perod": "month"})", "perod: a budget has no such key"},
      {R"({"name": "a", "amount": "1 USD", "period": "decade"})", "period: use day"},
      {R"({"name": "a", "amount": "1 USD", "cost": "net"})", "cost: use effective"},
      {R"({"name": "a", "amount": "1 USD", "cost": "gpu_hours"})", "a budget of their own"},
      {R"({"name": "a", "amount": "1 gpu_hours", "cost": "list"})", "have no list cost; leave"},
      {R"({"name": "a", "cost": "effective", "amount": "1 gpu_hours"})", "no effective cost"},
      {R"({"name": "a", "amount": "1 USD", "filter": [1]})", "filter: this is a text"},
      {R"({"name": "a", "amount": "1 USD", "roll_over": "yes"})", "roll_over: this is true"},
      {R"({"name": "a", "amounts": [{"from": "2026-01-01"}]})", "amounts: each has"},
      {R"({"name": "a", "amount": "1 USD", "period": "project"})", "a project needs"},
  };
  for (const auto& [json, why] : kCases) {
    const auto parsed = parse_budget_json(json);
    ASSERT_FALSE(parsed) << json;
    EXPECT_THAT(parsed.error().message, HasSubstr(why)) << json;
  }
}

TEST_F(BudgetBookTest, AddsToAFileWhoseLastLineHasNoEnd) {
  const Budget one = budget(R"({"name": "nlp", "amount": "5 USD"})");
  const Budget two = budget(R"({"name": "cv", "amount": "6 USD"})");
  ASSERT_TRUE(BudgetBook(path()).set({&one, 1}, "ana", kNow, recorded));
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 1);
  BudgetBook book(path());
  ASSERT_TRUE(book.set({&two, 1}, "ana", kNow, recorded));
  const auto all = book.budgets();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(*all, testing::UnorderedElementsAre(one, two));
}

TEST_F(BudgetBookTest, KeepsEveryVersionAndWhoMadeIt) {
  BudgetBook book(path());
  EXPECT_TRUE(book.budgets()->empty());
  const Budget first = budget(R"({"name": "nlp", "amount": "5 USD"})");
  const Budget more = budget(R"({"name": "nlp", "amount": "6 USD"})");
  EXPECT_EQ(book.set({&first, 1}, "ana", kNow, recorded), 1u);
  EXPECT_EQ(book.set({&first, 1}, "bo", kNow, recorded), 0u);  // it is so already
  EXPECT_EQ(book.set({&more, 1}, "bo", kNow, recorded), 1u);
  EXPECT_THAT(*book.budgets(), testing::ElementsAre(more));
  BudgetBook other(path());  // another process
  EXPECT_THAT(*other.budgets(), testing::ElementsAre(more));
  ASSERT_TRUE(other.remove("nlp", "ana", kNow, recorded));
  EXPECT_EQ(other.remove("nlp", "ana", kNow, recorded).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(book.budgets()->empty());
  const auto history = book.history("nlp");
  ASSERT_TRUE(history);
  ASSERT_EQ(history->size(), 3u);
  EXPECT_EQ((*history)[0].budget, first);
  EXPECT_EQ((*history)[1].by, "bo");
  EXPECT_EQ((*history)[2].number, 3u);
  EXPECT_FALSE((*history)[2].budget);
  EXPECT_TRUE(book.history("cv")->empty());
}

TEST_F(BudgetBookTest, WhatIsConfiguredComesFirst) {
  BudgetBook book(path());
  const std::vector<Budget> set{budget(R"({"name": "a", "amount": "5 USD"})"),
                                budget(R"({"name": "b", "amount": "5 USD"})")};
  ASSERT_TRUE(book.set(set, "ana", kNow, recorded));
  const std::vector<Budget> configured{budget(R"({"name": "b", "amount": "1 USD"})")};
  EXPECT_THAT(*book.with(configured), testing::ElementsAre(configured[0], set[0]));
}

TEST_F(BudgetBookTest, RecordsAWholePlanAtOnce) {
  BudgetBook book(path());
  const std::vector<Budget> first{budget(R"({"name": "a", "amount": "5 USD"})"),
                                  budget(R"({"name": "b", "amount": "5 USD"})")};
  ASSERT_TRUE(book.set(first, "ana", kNow, recorded));
  const std::vector<Budget> plan{first[0], budget(R"({"name": "b", "amount": "6 USD"})"),
                                 budget(R"({"name": "c", "amount": "7 USD"})")};
  int times = 0;
  const auto checks = [&](std::span<const BudgetReplacement> changes) -> Result<void> {
    ++times;
    EXPECT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].before, first[1]);
    EXPECT_EQ(changes[0].after, plan[1]);
    EXPECT_FALSE(changes[1].before);
    EXPECT_EQ(changes[1].name(), "c");
    return {};
  };
  EXPECT_EQ(book.set(plan, "bo", kNow, checks), 2u);
  EXPECT_EQ(times, 1);
}

TEST_F(BudgetBookTest, WhatIsNotRecordedIsNotChangedAndADamagedBookIsNotEmpty) {
  BudgetBook book(path());
  const Budget one = budget(R"({"name": "a", "amount": "5 USD"})");
  const auto refuses = [](const auto&) -> Result<void> {
    return fail(ErrorCode::kIo, "the log is full");
  };
  EXPECT_FALSE(book.set({&one, 1}, "ana", kNow, refuses));
  EXPECT_TRUE(book.budgets()->empty());
  ASSERT_TRUE(book.set({&one, 1}, "ana", kNow, recorded));
  std::ofstream(path(), std::ios::app) << "{\"number\": 2\n";
  const auto read = book.budgets();
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("budgets.jsonl:2 can't be read"));
  EXPECT_FALSE(book.set({&one, 1}, "ana", kNow, recorded));
}

TEST(BudgetCsv, ANameIsOneLine) {
  const auto budgets = parse_budget_csv("name,amount\n\"a\nb\",5 USD\n", "plan.csv");
  ASSERT_TRUE(budgets) << budgets.error().message;
  const auto checked = check_budget_texts(budgets->front());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            "budget 'a': its name has a line end or another control character");
}

TEST(BudgetCsv, IsAllOrNothing) {
  const auto sound = parse_budget_csv(
      "name,filter,amount,owner,roll_over,from\n"
      "nlp,team=nlp; cluster=a,5000 USD,ana,,\n"
      "\"a, b\",,2000 gpu_hours,,true,2026-01-01\n",
      "plan.csv");
  ASSERT_TRUE(sound) << sound.error().message;
  ASSERT_EQ(sound->size(), 2u);
  EXPECT_THAT((*sound)[0].filters, testing::ElementsAre("team=nlp", "cluster=a"));
  EXPECT_EQ((*sound)[1].name, "a, b");
  EXPECT_TRUE((*sound)[1].rolls_over);
  EXPECT_EQ((*sound)[1].cost, "gpu_hours");
  const auto growing = parse_budget_csv(
      "name,amount,amounts\na,5 USD,2026-07-01 6 USD; 2027-01-01 7.5 USD;\n", "plan.csv");
  ASSERT_TRUE(growing) << growing.error().message;
  EXPECT_EQ(budget_json(growing->front()),
            R"({"name": "a", "owner": "", "filter": [], "cost": "effective", "period": "month", )"
            R"("roll_over": false, "amount": "5 USD", "amounts": [{"from": "2026-07-01", )"
            R"("amount": "6 USD"}, {"from": "2027-01-01", "amount": "7.5 USD"}]})");
  for (const char* amounts : {"6 USD", "2026-07-01", "2026-07-01 6", "2026-07-01 6 EUR",
                              "2027-01-01 6 USD; 2026-01-01 7 USD"}) {
    EXPECT_FALSE(
        parse_budget_csv(std::string("name,amount,amounts\na,5 USD,") + amounts + "\n", "plan.csv"))
        << amounts;
  }
  const auto wrong = parse_budget_csv("name,amount\na,5 USD\nb,5\na,6 USD\n", "plan.csv");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("plan.csv:3: amount: '5' has no currency"));
  EXPECT_THAT(wrong.error().message, HasSubstr("plan.csv:4: there are two budgets 'a'"));
  EXPECT_THAT(wrong.error().message, HasSubstr("; nothing was changed"));
  const auto unknown = parse_budget_csv("name,amount,colour\na,5 USD,red\n", "plan.csv");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("colour"));
}

}  // namespace
}  // namespace pennyweight
