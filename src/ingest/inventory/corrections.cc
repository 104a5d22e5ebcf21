#include "ingest/inventory/corrections.h"

#include <fmt/format.h>

#include <utility>

#include "core/decimal.h"
#include "ingest/inventory/fact_table.h"
#include "ingest/inventory/lists.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kCorrectionRequired[] = {"name",   "begin",    "end",
                                                    "amount", "currency", "reason"};
constexpr std::string_view kCorrectionOptional[] = {"cluster", "from", "to", "author"};
constexpr csv::Columns kCorrectionColumns{
    .required = kCorrectionRequired, .optional = kCorrectionOptional, .open_prefix = {}};

// "team=nlp;user=ann".
Labels owner_of(csv::Cells& cells, std::string_view column) {
  Labels owner;
  for (const std::string_view part : split_list(cells.text(column))) {
    const auto [dimension, value] = split_pair(part);
    if (part.find('=') == std::string_view::npos || dimension.empty() ||
        dimension.find('=') != std::string_view::npos) {
      cells.refuse(column, fmt::format("'{}' is not DIMENSION=VALUE; write team=nlp;user=ann",
                                       part.substr(0, 80)));
      return {};
    }
    if (owner.find(dimension)) {
      cells.refuse(column, fmt::format("'{}' appears twice", dimension.substr(0, 80)));
      return {};
    }
    if (const auto set = owner.set(dimension, value); !set) {
      cells.refuse(column, set.error().message);
      return {};
    }
  }
  return owner;
}

Money amount_of(csv::Cells& cells) {
  Money amount = Money::zero(kUsd);
  if (cells.name("currency").empty() || cells.name("amount").empty()) return amount;
  const auto currency = Currency::parse(cells.text("currency"));
  if (!currency) {
    cells.refuse("currency", currency.error().message);
    return amount;
  }
  const auto decimal = parse_exact_decimal(cells.text("amount"));
  if (!decimal) {
    cells.refuse("amount", decimal.error().message);
    return amount;
  }
  if (*decimal <= Decimal()) {
    cells.refuse("amount",
                 "moves nothing, or backwards; write a positive amount, and swap `from` "
                 "and `to` to undo one");
  }
  return Money::from_decimal(*decimal, *currency);
}

std::optional<Correction> read_correction(const csv::Header&, csv::Cells& cells,
                                          const TableOptions& options) {
  ClusterId cluster = read_cluster(cells, options.cluster);
  std::string name(cells.name("name"));
  const auto span = read_interval(cells);
  Labels from = owner_of(cells, "from");
  Labels to = owner_of(cells, "to");
  const Money amount = amount_of(cells);
  const std::string_view reason = cells.name("reason");
  const std::string_view author = cells.optional_name("author");
  if (from == to) {
    cells.refuse("to", from.empty() ? "neither `from` nor `to` names an owner; fill in one"
                                    : "`from` and `to` are the same owner; nothing moves");
  }
  if (cells.refusal()) return std::nullopt;
  Correction correction(std::move(cluster), std::move(name), *span, amount);
  correction.from = std::move(from);
  correction.to = std::move(to);
  correction.reason = reason;
  correction.author = author;
  return correction;
}

}  // namespace

class CorrectionReader::Table final : public FactTable<Correction> {
  using FactTable::FactTable;
};

CorrectionReader::CorrectionReader(const TableOptions& options, FactSink<Correction> corrections,
                                   FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(
          options.file, kCorrectionColumns,
          [options](const csv::Header& header, csv::Cells& cells) {
            return read_correction(header, cells, options);
          },
          std::move(corrections), std::move(rejected))) {}
CorrectionReader::~CorrectionReader() = default;
Result<void> CorrectionReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> CorrectionReader::finish() { return table_->finish(); }
const TableCounts& CorrectionReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
