// Every provider's generated months, read by its reader: the same money in both ledgers, by month,
// invoice, account, service and team, and the same costs of commitments.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/bills/aws/aws_bill.h"
#include "ingest/bills/azure/azure_bill.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/gcp/gcp_bill.h"
#include "ingest/bills/gcp/json_import.h"
#include "ingest/bills/oci/oci_bill.h"
#include "ingest/bills/parquet_import.h"
#include "testing/generate/bills/made_up_fleet.h"
#include "testing/generate/bills/native_bill.h"
#include "testing/generate/bills/native_parquet.h"

namespace pennyweight::bills {
namespace {

constexpr std::uint64_t kSeeds = 12;
const std::string kNoService = "Azure";

// Month, invoice, account, service, team: the columns that both sides have.
using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
struct Ledgers {
  Int128 billed = 0;
  Int128 effective = 0;
  bool operator==(const Ledgers&) const = default;
};
using Sums = std::map<Key, Ledgers>;

std::string text_of(const Key& key) {
  return fmt::format("month {}, invoice '{}', account '{}', service '{}', team '{}'",
                     std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key),
                     std::get<4>(key));
}
std::string text_of(const Ledgers& sums) {
  return fmt::format("billed {}, effective {}", to_text(Decimal::from_ticks(sums.billed)),
                     to_text(Decimal::from_ticks(sums.effective)));
}

struct Written {
  std::string text;
  BillTruth truth;
};

NativeBillOptions options_of(NativeForm form, std::uint64_t seed) {
  NativeBillOptions options;
  options.bill.seed = seed;
  options.form = form;
  options.bill.first_day = std::chrono::sys_days(std::chrono::year(2025) / 2 / 27);
  options.bill.last_day = std::chrono::sys_days(std::chrono::year(2025) / 4 / 2);
  options.bill.prices_as_of = parse_instant("2026-08-15").value();
  options.bill.on_demand_per_mille = 350;
  options.bill.spot_per_mille = 150;
  options.hostile = seed % 2 == 0;
  options.aws_discount = static_cast<AwsDiscount>(seed % 3);
  options.azure_agreement = seed % 4 < 2 ? AzureAgreement::kEnterprise : AzureAgreement::kCustomer;
  return options;
}

// Two clusters; one machine starts and one ends in the middle of a day.
std::vector<Node> fleet_of(NativeForm form, std::uint64_t seed) {
  MadeUpFleet fleet{.seed = seed,
                    .provider = std::string(provider_of(form)),
                    .nodes = 24,
                    .clusters = 2,
                    .prices_at = parse_instant("2026-08-15").value(),
                    .from = parse_instant("2025-01-01").value()};
  auto nodes = made_up_fleet(fleet, Catalog::built_in());
  EXPECT_TRUE(nodes.has_value()) << nodes.error().message;
  (*nodes)[1].to = parse_instant("2025-03-09T13:28:16Z").value();
  (*nodes)[2].from = parse_instant("2025-03-05T06:10:00Z").value();
  return *std::move(nodes);
}

Written write(const NativeBillOptions& options) {
  Written written;
  const auto nodes = fleet_of(options.form, options.bill.seed);
  const TextSink sink = [&](std::string_view text) -> Result<void> {
    written.text += text;
    return {};
  };
  auto truth = write_native_bill(nodes, Catalog::built_in(), options, sink);
  EXPECT_TRUE(truth.has_value()) << truth.error().message;
  if (truth) written.truth = *std::move(truth);
  return written;
}

struct Read {
  bill::CollectingSink lines;
  bill::ImportSummary summary;
};

void read(std::string_view text, bill::RowReaderFactory reader, Read& into) {
  const auto summary = bill::import_csv(text, "generated.csv", std::move(reader), into.lines);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  into.summary = *summary;
}

Sums sums_of(std::span<const Charge> charges) {
  Sums sums;
  for (const Charge& charge : charges) {
    // A month in Pacific time begins on the first in UTC too.
    Ledgers& there = sums[{pennyweight::to_text(charge.billing_period.begin()).substr(0, 7),
                           charge.invoice_id, charge.sub_account_id, charge.service_name,
                           std::string(charge.tags.find("team").value_or(""))}];
    there.billed += charge.costs.billed.ticks();
    there.effective += charge.costs.effective.ticks();
  }
  return sums;
}

enum class Take { kBoth, kBilled, kEffective };
void add(Sums& sums, const BillTruth& truth, Take take) {
  for (const auto& [key, amount] : truth.amounts) {
    // Azure's taxes and rounding rows have no service; FOCUS requires one.
    const std::string& service = key.service.empty() ? kNoService : key.service;
    Ledgers& there = sums[{key.month, key.invoice, key.account, service, key.team}];
    if (take != Take::kEffective) there.billed += amount.billed.ticks();
    if (take != Take::kBilled) there.effective += amount.effective.ticks();
  }
}

void drop_zeros(Sums& sums) {
  std::erase_if(sums, [](const auto& entry) { return entry.second == Ledgers{}; });
}

void expect_same(Sums got, Sums want) {
  drop_zeros(got);
  drop_zeros(want);
  EXPECT_GT(want.size(), 10u) << "a bill has several teams, accounts and months";
  int shown = 0;
  for (const auto& [key, sum] : want) {
    if (got[key] == sum || ++shown > 5) continue;
    ADD_FAILURE() << text_of(key) << ": read " << text_of(got[key]) << ", truth " << text_of(sum);
  }
  for (const auto& [key, sum] : got) {
    if (want.contains(key) || sum == Ledgers{} || ++shown > 5) continue;
    ADD_FAILURE() << text_of(key) << ": read " << text_of(sum) << ", truth nothing";
  }
}

// No row is set aside, and the skipped rows are those that repeat others.
void expect_accounted(const Read& read, const BillTruth& truth) {
  const bill::ImportSummary& summary = read.summary;
  EXPECT_EQ(summary.rejected, 0u);
  for (std::size_t i = 0; i < read.lines.bad.size() && i < 3; ++i) {
    const RejectedRow& row = read.lines.bad[i];
    ADD_FAILURE() << row.line << ": " << row.column << ": " << row.reason << "\n" << row.text;
  }
  std::uint64_t passed = 0;
  for (const auto& [reason, rows] : summary.skipped) passed += rows;
  EXPECT_EQ(passed, truth.repeating_rows);
  EXPECT_EQ(summary.rows, truth.rows);
  EXPECT_EQ(summary.rows, summary.imported + summary.rejected + passed);
  EXPECT_EQ(summary.rounded_numbers, 0u);
}

enum class Uses { kNamed, kUnnamed };  // whether covered usage names its commitment
void expect_commitments(std::span<const Charge> charges, const BillTruth& truth, Uses named) {
  struct Use {
    Int128 used = 0;
    Int128 unused = 0;
  };
  std::map<std::string, Use> uses;
  for (const Charge& charge : charges) {
    if (!charge.commitment_discount_status) continue;
    Use& use = uses[charge.commitment_discount_id];
    (*charge.commitment_discount_status == UsedOrUnused::kUsed ? use.used : use.unused) +=
        charge.costs.effective.ticks();
  }
  for (const auto& [id, commitment] : truth.commitments) {
    EXPECT_TRUE(commitment.holds()) << id;
    EXPECT_TRUE(uses.contains(id)) << id;
    if (named == Uses::kNamed) {
      EXPECT_EQ(to_text(Decimal::from_ticks(uses[id].used)), to_text(commitment.used)) << id;
    }
    EXPECT_EQ(to_text(Decimal::from_ticks(uses[id].unused)), to_text(commitment.unused)) << id;
  }
}

void expect_read_back(const Written& written, const Read& back) {
  expect_accounted(back, written.truth);
  Sums want;
  add(want, written.truth, Take::kBoth);
  expect_same(sums_of(back.lines.lines), want);
}

TEST(RoundTrip, Aws) {
  for (const NativeForm form : {NativeForm::kAwsCur, NativeForm::kAwsCur2}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(fmt::format("{} of seed {}", to_text(form), seed));
      const Written written = write(options_of(form, seed));
      Read back;
      read(written.text, aws::aws_bill({}), back);
      expect_read_back(written, back);
      expect_commitments(back.lines.lines, written.truth, Uses::kNamed);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(RoundTrip, AwsByTheHour) {
  NativeBillOptions options = options_of(NativeForm::kAwsCur2, 5);
  options.bill.granularity = BillGranularity::kHourly;
  options.bill.last_day = options.bill.first_day + std::chrono::days(3);
  const Written written = write(options);
  Read back;
  read(written.text, aws::aws_bill({}), back);
  expect_read_back(written, back);
  expect_commitments(back.lines.lines, written.truth, Uses::kNamed);
}

// The amortised data set and the purchases of the actual one together make both ledgers; the actual
// one alone makes the billed one.
TEST(RoundTrip, Azure) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Written actual = write(options_of(NativeForm::kAzureActual, seed));
    const Written amortised = write(options_of(NativeForm::kAzureAmortised, seed));
    Sums want;
    add(want, actual.truth, Take::kBilled);

    Read alone;
    read(actual.text, azure::azure_bill({azure::CostMetric::kActual}), alone);
    expect_accounted(alone, actual.truth);
    Sums billed = sums_of(alone.lines.lines);
    for (auto& [key, sum] : billed) sum.effective = 0;
    expect_same(billed, want);

    Read shares;
    read(amortised.text, azure::azure_bill({azure::CostMetric::kAmortised}), shares);
    expect_accounted(shares, amortised.truth);
    expect_commitments(shares.lines.lines, amortised.truth, Uses::kNamed);
    Read purchases;
    read(actual.text, azure::azure_bill({azure::CostMetric::kActualPurchases}), purchases);
    EXPECT_EQ(purchases.summary.rejected, 0u);
    add(want, amortised.truth, Take::kEffective);
    std::vector<Charge> both = shares.lines.lines;
    both.insert(both.end(), purchases.lines.lines.begin(), purchases.lines.lines.end());
    expect_same(sums_of(both), want);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RoundTrip, Gcp) {
  for (const NativeForm form : {NativeForm::kGcpCsv, NativeForm::kGcpJson}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(fmt::format("{} of seed {}", to_text(form), seed));
      const Written written = write(options_of(form, seed));
      Read back;
      if (form == NativeForm::kGcpCsv) {
        read(written.text, gcp::gcp_bill(), back);
      } else {
        const auto summary = gcp::import_json(written.text, "generated.json", back.lines);
        ASSERT_TRUE(summary.has_value()) << summary.error().message;
        back.summary = *summary;
      }
      expect_read_back(written, back);
      expect_commitments(back.lines.lines, written.truth, Uses::kUnnamed);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// The same bills in the file formats that the providers deliver: doubles, maps and nested records.
TEST(RoundTrip, Parquet) {
  for (const NativeForm form : {NativeForm::kAwsCur2, NativeForm::kGcpJson}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(fmt::format("{} of seed {}", to_text(form), seed));
      const NativeBillOptions options = options_of(form, seed);
      const Written written = write(options);
      const std::string base =
          fmt::format("{}/generated-{}-{}-{}", testing::TempDir(), ::getpid(), to_text(form), seed);
      std::ofstream(base + ".text") << written.text;
      const auto made = text_to_parquet(base + ".text", options, base + ".parquet");
      ASSERT_TRUE(made.has_value()) << made.error().message;
      const auto reader = form == NativeForm::kAwsCur2 ? aws::aws_bill({}) : gcp::gcp_bill();
      Read back;
      const auto summary =
          bill::import_parquet(base + ".parquet", base + ".parquet", reader, back.lines);
      ASSERT_TRUE(summary.has_value()) << summary.error().message;
      back.summary = *summary;
      expect_read_back(written, back);
      std::filesystem::remove(base + ".text");
      std::filesystem::remove(base + ".parquet");
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(RoundTrip, Oci) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Written written = write(options_of(NativeForm::kOciReport, seed));
    Read back;
    read(written.text, oci::oci_bill(), back);
    expect_read_back(written, back);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace pennyweight::bills
