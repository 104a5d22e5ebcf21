#include "bills_made.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <tuple>
#include <utility>

#include "core/duckdb/database.h"
#include "core/instant.h"
#include "core/try.h"
#include "ingest/bills/aws/aws_bill.h"
#include "ingest/bills/azure/azure_bill.h"
#include "ingest/bills/focus/focus_bill.h"
#include "ingest/bills/gcp/gcp_bill.h"
#include "reporting/export/focus_csv.h"
#include "testing/generate/bills/made_up_fleet.h"
#include "testing/generate/bills/native_bill.h"
#include "testing/generate/bills/native_parquet.h"
#include "testing/generate/generate_bill.h"

namespace pennyweight::bench {
namespace {

using bills::NativeForm;

constexpr std::uint64_t kSmallRows = 100'000;
constexpr std::uint32_t kTrialNodes = 40;
constexpr std::size_t kLinesAtOnce = 4096;

BillOptions options_of(std::string_view provider, std::uint64_t rows) {
  BillOptions options;
  options.first_day = std::chrono::sys_days(std::chrono::year(2026) / 3 / 1);
  options.last_day = options.first_day + std::chrono::days(rows < kSmallRows ? 1 : 30);
  options.granularity = BillGranularity::kHourly;
  options.provider = provider;
  options.prices_as_of = parse_instant("2026-08-15").value();
  return options;
}

Result<std::vector<Node>> fleet_of(const BillOptions& options, std::uint32_t nodes) {
  return bills::made_up_fleet({.seed = 1,
                               .provider = options.provider,
                               .nodes = nodes,
                               .clusters = 4,
                               .prices_at = *options.prices_as_of,
                               .from = Instant(options.first_day)},
                              Catalog::built_in());
}

// The number of machines for a number of rows, estimated from a small bill.
template <class CountRows>
Result<std::vector<Node>> fleet_for(const BillOptions& options, std::uint64_t rows,
                                    const CountRows& count_rows) {
  const auto few = fleet_of(options, kTrialNodes);
  if (!few) return few;
  const std::uint64_t of_few = TRY(count_rows(*few));
  const std::uint64_t nodes =
      std::max<std::uint64_t>(4, (rows * kTrialNodes + of_few - 1) / of_few);
  return fleet_of(options, static_cast<std::uint32_t>(nodes));
}

class TextFile {
 public:
  explicit TextFile(const std::filesystem::path& path) : out_(path, std::ios::binary) {}
  Result<void> write(std::string_view text) {
    out_.write(text.data(), static_cast<std::streamsize>(text.size()));
    return out_ ? Result<void>{} : fail(ErrorCode::kIo, "the disk takes no more");
  }

 private:
  std::ofstream out_;
};

// Twice: once for the columns, once for the lines.
Result<BillTotals> write_focus(const std::vector<Node>& nodes, const BillOptions& options,
                               const std::filesystem::path& path) {
  FocusCsv csv(FocusVersion::k1_4);
  const auto noted = generate_bill(nodes, Catalog::built_in(), options,
                                   [&](const Charge& charge) { return csv.note({&charge, 1}); });
  if (!noted) return noted;
  TextFile file(path);
  std::string text = csv.header();
  std::vector<Charge> lines;
  const auto flush = [&]() -> Result<void> {
    TRY(csv.rows(lines, text));
    lines.clear();
    auto written = file.write(text);
    text.clear();
    return written;
  };
  auto totals =
      generate_bill(nodes, Catalog::built_in(), options, [&](const Charge& charge) -> Result<void> {
        lines.push_back(charge);
        return lines.size() < kLinesAtOnce ? Result<void>{} : flush();
      });
  if (!totals) return totals;
  TRY(flush());
  return totals;
}

// Amounts as decimals and times as timestamps, everything else as text: the types of FOCUS.
Result<void> focus_to_parquet(const std::filesystem::path& csv,
                              const std::filesystem::path& parquet) {
  auto database = TRY(duckdb::Database::open({.memory_bytes_max = std::uint64_t{4} << 30,
                                              .temp_directory = parquet.parent_path().string()}));
  auto connection = TRY(database.connect());
  std::string typed;
  for (const char* column :
       {"BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "ListUnitPrice",
        "ContractedUnitPrice", "PricingQuantity", "ConsumedQuantity"}) {
    typed += fmt::format("{0}::DECIMAL(38,18) AS {0}, ", column);
  }
  for (const char* column :
       {"BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"}) {
    typed += fmt::format("{0}::TIMESTAMP AS {0}, ", column);
  }
  typed.resize(typed.size() - 2);
  return connection.execute(fmt::format(
      "COPY (SELECT * REPLACE ({}) FROM read_csv({}, all_varchar = true, header = true)) TO {} "
      "(FORMAT parquet)",
      typed, duckdb::quote_text(csv.string()), duckdb::quote_text(parquet.string())));
}

Result<std::vector<MadeBill>> make_focus(std::uint64_t rows, const std::filesystem::path& folder) {
  const BillOptions options = options_of("aws", rows);
  const auto nodes =
      TRY(fleet_for(options, rows, [&](const std::vector<Node>& few) -> Result<std::uint64_t> {
        const auto totals = generate_bill(few, Catalog::built_in(), options,
                                          [](const Charge&) { return Result<void>{}; });
        if (!totals) return std::unexpected(totals.error());
        return totals->lines;
      }));
  const auto path = folder / "focus.csv";
  const auto totals = TRY(write_focus(nodes, options, path));
  const auto parquet = folder / "focus.parquet";
  TRY(focus_to_parquet(path, parquet));
  const BillSums truth{totals.costs.billed.ticks(), totals.costs.effective.ticks(),
                       totals.costs.list.ticks(), totals.costs.contracted.ticks()};
  const auto reader = focus::focus_bill();
  const std::vector<std::string> costs = {"BilledCost", "EffectiveCost", "ListCost",
                                          "ContractedCost"};
  std::vector<MadeBill> made;
  made.push_back({"FOCUS 1.4, CSV", path, false, totals.lines, truth, reader, costs});
  made.push_back({"FOCUS 1.4, Parquet", parquet, true, totals.lines, truth, reader, costs});
  return made;
}

Result<bills::BillTruth> write_native(const std::vector<Node>& nodes,
                                      const bills::NativeBillOptions& options,
                                      const std::filesystem::path& path) {
  TextFile file(path);
  return bills::write_native_bill(nodes, Catalog::built_in(), options,
                                  [&](std::string_view text) { return file.write(text); });
}

struct NativeKind {
  NativeForm form;
  std::string name;
  bool billed_is_told = true;  // an amortised export does not state what is billed
  bill::RowReaderFactory reader;
  std::vector<std::string> cost_columns;
  // The form whose text becomes Parquet.
  std::optional<NativeForm> parquet;
};

Result<std::vector<MadeBill>> make_native(const NativeKind& kind, std::uint64_t rows,
                                          const std::filesystem::path& folder) {
  bills::NativeBillOptions options;
  options.form = kind.form;
  options.bill = options_of(bills::provider_of(kind.form), rows);
  const auto nodes =
      TRY(fleet_for(options.bill, rows, [&](const std::vector<Node>& few) -> Result<std::uint64_t> {
        const auto truth = bills::write_native_bill(
            few, Catalog::built_in(), options, [](std::string_view) { return Result<void>{}; });
        if (!truth) return std::unexpected(truth.error());
        return truth->rows;
      }));
  const auto path = folder / fmt::format("{}.csv", bills::to_text(kind.form));
  const auto truth = TRY(write_native(nodes, options, path));
  BillSums sums{std::nullopt, truth.effective().ticks(), std::nullopt, std::nullopt};
  if (kind.billed_is_told) sums.billed = truth.billed().ticks();
  std::vector<MadeBill> made;
  made.push_back(
      {kind.name + ", CSV", path, false, truth.rows, sums, kind.reader, kind.cost_columns});
  if (!kind.parquet) return made;

  auto text = path;
  if (*kind.parquet != kind.form) {
    options.form = *kind.parquet;
    text = folder / "for_parquet.text";
    std::ignore = TRY(write_native(nodes, options, text));
  }
  const auto parquet = folder / fmt::format("{}.parquet", bills::to_text(kind.form));
  TRY(bills::text_to_parquet(text.string(), options, parquet.string()));
  if (text != path) std::filesystem::remove(text);
  made.push_back(
      {kind.name + ", Parquet", parquet, true, truth.rows, sums, kind.reader, kind.cost_columns});
  return made;
}

}  // namespace

const std::vector<std::string_view>& providers() {
  static const std::vector<std::string_view> names = {"focus", "aws-cur2", "azure", "gcp"};
  return names;
}

Result<std::vector<MadeBill>> make_bills(std::string_view provider, std::uint64_t rows,
                                         const std::filesystem::path& folder) {
  if (provider == "focus") return make_focus(rows, folder);
  if (provider == "aws-cur2") {
    return make_native({NativeForm::kAwsCur2,
                        "CUR 2.0",
                        true,
                        aws::aws_bill({}),
                        {"line_item_unblended_cost"},
                        NativeForm::kAwsCur2},
                       rows, folder);
  }
  if (provider == "azure") {
    return make_native({NativeForm::kAzureAmortised,
                        "Azure amortised",
                        false,
                        azure::azure_bill({azure::CostMetric::kAmortised}),
                        {"CostInBillingCurrency"},
                        std::nullopt},
                       rows, folder);
  }
  if (provider == "gcp") {
    return make_native({NativeForm::kGcpCsv,
                        "GCP detailed",
                        true,
                        gcp::gcp_bill(),
                        {"cost"},
                        NativeForm::kGcpJson},
                       rows, folder);
  }
  return fail(ErrorCode::kConfig,
              fmt::format("{} is none of {}", provider, fmt::join(providers(), ", ")));
}

}  // namespace pennyweight::bench
