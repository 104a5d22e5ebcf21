// The provider's invoices as an input format: a small CSV, written by hand or exported, that says
// what a month of an account comes to. Bills are checked against it
// (reporting/queries/bill_status).
#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "app/import/detect_format.h"
#include "app/import/format_lists.h"
#include "app/import/parser_tools.h"
#include "core/date.h"
#include "core/try.h"
#include "ingest/csv/reader.h"
#include "ledger/total_subject.h"
#include "reporting/money_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::array<std::string_view, 4> kNeededTotals = {"provider", "account", "month",
                                                           "amount"};

// Sums of totals stay within the range of Money.
constexpr Decimal kTotalMax = Decimal::from_units(10'000'000'000'000);

class ProviderTotals : public csv::Sink {
 public:
  explicit ProviderTotals(const ParserInput& input)
      : file_(input.file), statement_(input.statement), reader_({}, *this) {}

  Result<void> feed(std::string_view chunk) { return reader_.feed(chunk); }
  Result<void> finish() { return reader_.finish(); }

  Result<void> header(const csv::Header& header) override {
    places_ = TRY(header.require(kNeededTotals));
    currency_ = header.find("currency");
    service_ = header.find("service");
    invoice_ = header.find("invoice");
    return {};
  }
  Result<void> row(const csv::Row& row) override {
    const auto total = read(row);
    if (!total) return refuse(row.line, total.error().message);
    if (auto added = add(*total, invoice_ ? row.fields[*invoice_] : std::string_view()); !added) {
      return refuse(row.line, added.error().message);
    }
    return {};
  }
  Result<void> bad_row(const csv::BadRow& row) override { return refuse(row.line, row.reason); }

 private:
  // The lines about one month, provider, account, service and currency, which is one total.
  struct Stated {
    std::size_t at = 0;  // among the totals of the statement
    std::string first;   // where it is from
    std::uint64_t lines = 0;
    std::map<std::pair<std::string, Int128>, std::string> sources;  // by invoice and amount
  };

  // Two invoices of one account and month add up. A line that was copied does not.
  Result<void> add(const ControlTotal& total, std::string_view invoice) {
    const auto [found, is_first] = stated_.try_emplace(
        subject_of(total),
        Stated{.at = statement_.totals.size(), .first = total.source, .lines = 0, .sources = {}});
    Stated& stated = found->second;
    const auto [same, is_new] =
        stated.sources.try_emplace({std::string(invoice), total.billed.ticks()}, total.source);
    if (!is_new) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("{} states the same amount, {}, of the same month and account; if "
                              "they are two invoices, tell them apart in a column invoice",
                              same->second, exact_money(total.billed)));
    }
    ++stated.lines;
    if (is_first) {
      statement_.totals.push_back(total);
      return {};
    }
    ControlTotal& sum = statement_.totals[stated.at];
    sum.billed += total.billed;
    sum.source = fmt::format("{} and {} more", stated.first, counted(stated.lines - 1, "line"));
    return {};
  }

  // The amount may name its currency: "1234.56 USD".
  Result<ControlTotal> read(const csv::Row& row) const {
    const std::string month(row.fields[places_[2]]);
    if (!parse_date(month + "-01")) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'{}' is not a month; write it as 2026-03", month));
    }
    std::string_view amount = row.fields[places_[3]];
    std::string_view code = currency_ ? row.fields[*currency_] : std::string_view();
    const std::size_t space = amount.find(' ');
    if (code.empty() && space != std::string_view::npos) {
      code = amount.substr(space + 1);
      amount = amount.substr(0, space);
    }
    const auto currency = Currency::parse(code);
    if (!currency) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'{}' is not a currency; write it after the amount, such as 1234.56 "
                              "USD, or in a column currency",
                              code));
    }
    const auto number = TRY(parse_decimal(amount));
    const auto billed = Money::from_decimal(number.value, *currency);
    if (billed.ticks() > kTotalMax.ticks() || billed.ticks() < -kTotalMax.ticks()) {
      return fail(ErrorCode::kBadValue, fmt::format("{} is more than an invoice has", amount));
    }
    return ControlTotal{.month = month,
                        .provider = std::string(row.fields[places_[0]]),
                        .account = std::string(row.fields[places_[1]]),
                        .service = service_ ? std::string(row.fields[*service_]) : std::string(),
                        .billed = billed,
                        .source = fmt::format("{}:{}", file_, row.line)};
  }

  // A total that nobody reads would let `close` pass.
  static Result<void> refuse(std::uint64_t line, const std::string& reason) {
    return fail(ErrorCode::kBadFile,
                fmt::format("line {}: {}; no total of the file is kept", line, reason));
  }

  std::string file_;
  std::map<TotalSubject, Stated> stated_;
  BillStatement& statement_;
  std::vector<std::size_t> places_;
  std::optional<std::size_t> currency_, service_, invoice_;
  csv::Reader reader_;
};

}  // namespace

std::vector<InputFormat> provider_totals_inputs() {
  return {{.name = "provider-totals",
           .description = "totals of a provider's invoices (CSV)",
           .matches =
               [](const InputFormat&, const FileStart& start) {
                 return start.has_column("provider") && start.has_column("account") &&
                        start.has_column("month") && start.has_column("amount");
               },
           .open = [](const InputFormat&, const ParserInput& input) -> Result<FileParser> {
             return stream_parser(std::make_shared<ProviderTotals>(input));
           }}};
}

}  // namespace pennyweight
