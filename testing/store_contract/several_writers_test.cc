// What every store promises when several programs write at once: all commits have one order, and
// each is checked against everything before it, whatever was open meanwhile. Several stores of the
// same ledger stand for the programs. Only stores with servers allow it: with "memory" and
// "duckdb", one process has the ledger at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "ledger/store_rules.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SeveralWriters : public ::testing::TestWithParam<std::string> {
 protected:
  SeveralWriters()
      : ledger_(server_address(GetParam())), one_(ledger_.open()), two_(ledger_.open()) {}
  ServerLedger ledger_;
  std::unique_ptr<Store> one_, two_;
};

std::vector<std::string> server_stores() {
  std::vector<std::string> found = persistent_stores();
  std::erase(found, "duckdb");
  return found;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SeveralWriters);
INSTANTIATE_TEST_SUITE_P(Stores, SeveralWriters, ::testing::ValuesIn(server_stores()), store_name);

std::unique_ptr<ImportSession> began(Store& store, const std::vector<Charge>& lines,
                                     const ImportSource& from = source()) {
  auto session = must(store.begin_import(from));
  must(session->append_charges(lines));
  return session;
}

ImportSource styled(DeliveryStyle style, std::uint64_t file = 1) {
  ImportSource made = source();
  made.style = style;
  made.file_hash = {file, file};
  return made;
}

std::vector<Posting> whole(const std::vector<Charge>& lines) {
  std::vector<Posting> postings;
  for (const Charge& line : lines) postings.push_back(posting(line.id, "w", line.costs));
  return postings;
}

Closing closing() {
  return {.month = "2026-03",
          .at = at("2026-04-05"),
          .by = "ann",
          .reason = "",
          .last_import = 0,
          .lines = 0,
          .runs = 0,
          .digest = {}};
}

TEST_P(SeveralWriters, CommitsAreVisibleToOtherWriters) {
  EXPECT_EQ(import_charges(*one_, {charge("a", 1), charge("b", 2)}).number, 1u);
  EXPECT_EQ(charges_of(*two_).size(), 2u);
  const ImportOutcome second = import_charges(*two_, {charge("b", 2), charge("c", 3)});
  EXPECT_EQ(second.number, 2u);
  EXPECT_EQ(second.charges.existing, 1u);
  EXPECT_EQ(second.charges.created, 1u);
  EXPECT_EQ(charges_of(*one_), charges_of(*two_));
  EXPECT_EQ(charges_of(*one_).size(), 3u);
  EXPECT_EQ(must(one_->imports()).size(), 2u);
}

TEST_P(SeveralWriters, TheSameFactsAreCreatedOnce) {
  const std::vector<Charge> bill = {charge("a", 1), charge("b", 2), charge("b", 2)};
  const auto first = began(*one_, bill), second = began(*two_, bill);
  EXPECT_THAT(charges_of(*one_), IsEmpty());
  const ImportOutcome of_first = must(first->commit()), of_second = must(second->commit());
  EXPECT_EQ(of_first.charges.created, 3u);
  EXPECT_EQ(of_second.charges.created, 0u);
  EXPECT_EQ(of_second.charges.existing, 3u);
  EXPECT_EQ(of_second.number, 2u);
  EXPECT_EQ(charges_of(*one_).size(), 3u);
}

TEST_P(SeveralWriters, AConflictWithAConcurrentImportIsFound) {
  const auto first = must(one_->begin_import(source())),
             second = must(two_->begin_import(source()));
  must(first->append_nodes(std::vector{node("n1"), node("n2")}));
  must(second->append_nodes(std::vector{node("n1", "g6.xlarge"), node("n3")}));
  must(second->append_charges(std::vector{charge("a", 2)}));
  must(first->append_charges(std::vector{charge("a", 1)}));
  must(first->commit());
  const ImportOutcome outcome = must(second->commit());
  EXPECT_EQ(outcome.nodes.created, 1u);
  EXPECT_EQ(outcome.nodes.conflicts, 1u);
  EXPECT_EQ(outcome.charges.conflicts, 1u);
  ASSERT_EQ(outcome.conflict_rows.size(), 2u);
  EXPECT_THAT(outcome.conflict_rows[1].reason, HasSubstr("'p5.48xlarge' there, 'g6.xlarge' here"));
  EXPECT_EQ(must(one_->nodes()).size(), 3u);
}

TEST_P(SeveralWriters, AFileOfDifferencesIsImportedOnce) {
  const std::vector<Charge> lines = {charge("a", -3)};
  const auto first = began(*one_, lines, styled(DeliveryStyle::kDelta)),
             second = began(*two_, lines, styled(DeliveryStyle::kDelta));
  EXPECT_FALSE(must(first->commit()).known_file);
  const ImportOutcome again = must(second->commit());
  EXPECT_TRUE(again.known_file);
  EXPECT_EQ(again.charges.created, 0u);
  EXPECT_EQ(charges_of(*one_).size(), 1u);
}

TEST_P(SeveralWriters, AReplacementReplacesAConcurrentImport) {
  const auto later = began(*two_, {charge("a", 2)}, styled(DeliveryStyle::kReplacement, 2));
  must(began(*one_, {charge("a", 1), charge("b", 1)}, styled(DeliveryStyle::kReplacement))
           ->commit());
  EXPECT_EQ(must(later->commit()).restated.removed, 2u);
  ASSERT_EQ(charges_of(*one_).size(), 1u);
  EXPECT_EQ(charges_of(*one_)[0].costs, costs(2));
}

TEST_P(SeveralWriters, LinesOfAMonthThatIsClosedMeanwhileAreLate) {
  import_charges(*one_, {charge("a", 1)});
  keep_run(*one_, run(), whole(charges_of(*one_)));
  const auto late = began(*two_, {charge("b", 2)});
  EXPECT_EQ(must(one_->close_month(closing())).lines, 1u);
  EXPECT_EQ(must(late->commit()).restated.late, 1u);
  EXPECT_EQ(charges_of(*one_, "2026-03").size(), 1u);
  EXPECT_EQ(charges_of(*one_, "2026-04").size(), 1u);
}

TEST_P(SeveralWriters, ARunOfAMonthThatWasClosedMeanwhileIsRefused) {
  import_charges(*one_, {charge("a", 1)});
  keep_run(*one_, run(), whole(charges_of(*one_)));
  const auto session = must(two_->begin_run(run("philly", "another")));
  must(session->append_postings(whole(charges_of(*two_))));
  must(one_->close_month(closing()));
  const auto refused = session->commit();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("2026-03 is closed"));
  EXPECT_EQ(must(two_->runs()).size(), 1u);
}

TEST_P(SeveralWriters, RunsOfOneScopeFollowOneAnother) {
  const auto first = must(one_->begin_run(run("philly", "p")));
  auto second = must(two_->begin_run(run("philly", "q")));
  must(first->append_postings(std::vector{posting({{1, 1}}, "a", costs(1))}));
  must(second->append_postings(std::vector{posting({{1, 1}}, "b", costs(2))}));
  EXPECT_EQ(must(second->commit()).number, 1u);
  second.reset();
  EXPECT_EQ(must(first->commit()).number, 2u);
  const auto runs = must(two_->runs());
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].policy, "p");
  EXPECT_TRUE(runs[1].current);
  EXPECT_FALSE(runs[0].current);
  EXPECT_EQ(postings_in(*two_, run().scope).size(), 1u);
  // The same as the current one, no matter which program made that.
  EXPECT_EQ(keep_run(*two_, run("philly", "p"), {posting({{1, 1}}, "a", costs(1))}).number, 2u);
}

TEST_P(SeveralWriters, APartOfARunThatWasReplacedIsNotKept) {
  keep_run(*one_, run(), {posting({{1, 1}}, "a", costs(1)), posting({{2, 2}}, "a", costs(1))});
  const auto session = must(two_->begin_run(run()));
  must(session->keep_previous_except(std::vector{FactId{{2, 2}}}));
  keep_run(*one_, run(), {posting({{1, 1}}, "b", costs(5))});
  const auto refused = session->commit();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("start the run again"));
  EXPECT_EQ(must(one_->runs()).size(), 2u);
}

TEST_P(SeveralWriters, AnInvoiceIsIssuedOnce) {
  const IssuedInvoice invoice{"PW-1", "2026-03", "acme", at("2026-04-02"), "{}", {1, 1}, ""};
  IssuedInvoice other = invoice;
  other.digest = {2, 2};
  must(one_->issue_invoices(std::vector{invoice}));
  EXPECT_TRUE(two_->issue_invoices(std::vector{invoice}));
  EXPECT_FALSE(two_->issue_invoices(std::vector{other}));
  EXPECT_EQ(must(two_->issued_invoices()), std::vector{invoice});
}

// The bills overlap and are imported at the same time: each line is created by exactly one import.
TEST_P(SeveralWriters, ConcurrentImportsAreSerialised) {
  constexpr int kWriters = 3, kBills = 3;
  std::atomic<std::uint64_t> created{0}, existing{0};
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        const auto store = ledger_.open();
        for (int bill = 0; bill < kBills; ++bill) {
          std::vector<Charge> lines;
          for (int i = 0; i < 50; ++i) {
            lines.push_back(charge("i-" + std::to_string((writer + bill) * 25 + i), i % 5));
          }
          const ImportOutcome outcome = import_charges(*store, lines);
          created += outcome.charges.created;
          existing += outcome.charges.existing;
          EXPECT_EQ(outcome.charges.conflicts, 0u);
        }
      });
    }
  }
  const auto lines = charges_of(*one_);
  EXPECT_EQ(lines.size(), std::size_t{25 * (kWriters + kBills - 2) + 50});
  EXPECT_EQ(created.load(), lines.size());
  EXPECT_EQ(created.load() + existing.load(), std::uint64_t{50 * kWriters * kBills});
  const auto imports = must(two_->imports());
  ASSERT_EQ(imports.size(), std::size_t{kWriters * kBills});
  std::uint64_t recorded = 0;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    EXPECT_EQ(imports[i].number, i + 1);
    recorded += imports[i].charges;
  }
  EXPECT_EQ(recorded, lines.size());
}

}  // namespace
}  // namespace pennyweight
