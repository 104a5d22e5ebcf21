// FocusRowReader: reads the rows of a FOCUS bill, each into one charge.
//
// The header decides once where each column goes; reading a row then only walks that plan.
//
// Nulls: an empty text; NULL, null or \N outside quotes. In quotes these words are texts, since
// RFC 4180 has no other way to write them. Where a number, time or code must stand they are null in
// quotes as well, because exporters that quote everything write them so.
//
// Some exports deviate from FOCUS where their meaning is still clear. Such rows are imported, and a
// warning counts them: costs that the file does not state (cost_defaults.h); no billing period;
// codes in another spelling, of a draft, or of the emitter's own, which never cost a row its money;
// a '+' or spaces around a number; a charge period without length; times finer than a millisecond;
// quantities too large for a Decimal.
//
// Nothing is dropped: a column that no rule reads goes unchanged into Charge::other_columns. The
// deprecated columns ProviderName and PublisherName go there only where they differ from
// ServiceProviderName.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/focus/column.h"
#include "ingest/bills/focus/cost_defaults.h"
#include "ingest/bills/focus/local_months.h"
#include "ingest/bills/json_column.h"
#include "ingest/bills/row_reader.h"
#include "ingest/csv/header.h"
#include "ledger/charge.h"

namespace pennyweight::focus {

using bill::RowFault;

class FocusRowReader : public bill::RowReader {
 public:
  // An Error lists the columns without which no charge can be read.
  static Result<FocusRowReader> open(const csv::Header& header);

  bill::RowOutcome read(const bill::TextRow& texts, bill::ChargeBuffer& charges) override;
  void describe(bill::ImportSummary& summary) const override;

 private:
  using Text = std::string Charge::*;
  using Number = std::optional<Decimal> Charge::*;
  struct TextColumn {
    std::size_t at;
    Text member;
  };
  struct NumberColumn {
    std::size_t at;
    Number member;
  };
  // When the text of a column goes into other_columns.
  enum class KeepRule {
    kAlways,
    kUnlessProvider,
    kIfUnreadTags,
    kIfUnreadDetails,
    kIfNotInstanceType,
    kIfTooLarge,     // a number that a Decimal can't hold, under x_ and its name
    kIfZeroLength,   // the start of a charge period without length
    kIfUnknownCode,  // a code that FOCUS does not have, under x_ and its name
    kIfNoPeriod,     // a billing period of which only one end is stated
  };
  struct OtherColumn {
    std::string name;
    std::string json_key;  // "name":
    std::size_t at;
    KeepRule keep;
    std::size_t number;  // for kIfTooLarge: the index into numbers_; for kIfUnknownCode: a Code
  };
  struct LastInstant {
    std::string text;
    Instant at;
    bool cut = false;
  };
  // Imported rows that deviate from FOCUS, by deviation.
  struct Deviations {
    std::uint64_t empty_list_cost = 0;
    std::uint64_t empty_contracted_cost = 0;
    std::uint64_t letter_case = 0;
    std::uint64_t draft_codes = 0;
    std::uint64_t unknown_codes = 0;
    std::uint64_t unknown_categories = 0;
    std::uint64_t padded = 0;
    std::uint64_t no_period = 0;
    std::uint64_t local_period = 0;
    std::uint64_t odd_period = 0;
    std::uint64_t zero_length = 0;
    std::uint64_t cut_times = 0;
    std::uint64_t too_large = 0;
    std::uint64_t credits = 0;
  };
  struct RowState {
    std::span<const std::string_view> fields;
    std::span<const std::uint8_t> quoted;
    std::uint64_t rounded = 0;
    bool tags_unread = false;
    bool details_unread = false;
    bool list_empty = false;
    bool contracted_empty = false;
    bool recased_code = false;        // a code is in another spelling than FOCUS's
    bool draft_code = false;          // a code is one of FOCUS before 1.0
    std::uint32_t unknown_codes = 0;  // a bit for each Code
    bool padded = false;              // a '+', or spaces, around a number, code or time
    bool no_period = false;           // no billing period is stated
    bool local_period = false;        // it is from one local midnight to another
    bool odd_period = false;          // it begins shortly before a month, at no local midnight
    bool zero_length = false;         // the charge period
    bool cut_time = false;
    std::uint32_t too_large = 0;  // a bit for each of numbers_
  };

  FocusRowReader() = default;
  // The columns of codes.
  enum Code : std::size_t {
    kCategoryCode,
    kClassCode,
    kFrequencyCode,
    kPricingCode,
    kCommitmentCategoryCode,
    kCommitmentStatusCode,
    kReservationStatusCode,
    kCodes,
  };

  std::optional<std::size_t> find(std::string_view name) const;
  std::optional<std::size_t> code_column(Code code) const;
  void plan_other_columns(const csv::Header& header);
  void note_warnings(const csv::Header& header);
  std::vector<std::string> warnings() const;
  std::optional<RowFault> fill(RowState& row, Charge& charge);

  std::optional<RowFault> read_costs(RowState& row, Charge& charge);
  std::optional<RowFault> read_periods(RowState& row, Charge& charge);
  std::optional<RowFault> read_numbers(RowState& row, Charge& charge);
  void read_codes(RowState& row, Charge& charge) const;
  Result<std::optional<Interval>> read_billing_period(RowState& row, const Interval& charged);
  std::string_view cell(RowState& row, std::size_t at) const;
  Result<ParsedDecimal> parse_cell(RowState& row, std::string_view column, std::size_t at) const;
  void read_texts(const RowState& row, Charge& charge) const;
  void read_json(RowState& row, Charge& charge);
  void keep_others(const RowState& row, Charge& charge) const;
  std::string_view value_of(const RowState& row, std::optional<std::size_t> at) const;
  Result<Instant> read_instant(std::size_t slot, std::string_view text, RowState& row);
  void count(const RowState& row, const Charge& charge);

  Version version_ = Version::k1_0;
  std::vector<std::string> warnings_;
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t unread_json_ = 0;
  std::uint64_t rows_ = 0;  // imported
  Deviations deviations_;

  std::unordered_map<std::string, std::size_t> positions_;  // current name → column of the file
  CostColumns costs_{};
  std::array<std::optional<std::size_t>, 4> periods_{};
  std::size_t currency_ = 0;
  std::size_t category_ = 0;
  std::optional<std::size_t> class_, frequency_, pricing_category_, commitment_category_,
      commitment_status_, reservation_status_, tags_, details_, instance_type_, credits_;
  std::vector<TextColumn> texts_;
  std::vector<NumberColumn> numbers_;
  std::vector<OtherColumn> others_;
  std::vector<std::string> names_;

  // Bills repeat themselves from row to row: the values read last are cached.
  std::array<LastInstant, 4> last_instants_;
  LocalMonths local_months_;
  bill::CurrencyParser currency_parser_;
  bill::TagsCache tags_cache_;
  bill::JsonColumnParser json_;
  std::unordered_map<std::string, std::optional<std::string>> details_cache_;
};

}  // namespace pennyweight::focus
