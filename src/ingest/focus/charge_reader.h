// ChargeReader: a row of texts under a FOCUS header → a Charge, or the column at fault and why.
//
// The header decides once where each column goes; a row is then a walk over that plan. A Charge
// that is filled again and again keeps its memory, which is what makes ten million rows affordable.
//
// What is null: an empty text; NULL, null or \N outside quotes. In quotes these words are texts, as
// RFC 4180 has no other way to write them; but where a number, time or code must stand they are
// null also in quotes, because exporters that quote everything write them so.
//
// What some exports write otherwise than FOCUS wants, and means no less clearly, is taken, counted
// and said (warnings()): codes in another letter case; an empty ListCost or ContractedCost, which
// nobody is invoiced; a charge of a moment; times finer than a millisecond; quantities beyond what
// a Decimal holds.
//
// Nothing is dropped: a column that no rule reads goes word for word into Charge::other_columns.
// Two deprecated columns do so only where they say something of their own: ProviderName and
// PublisherName equal to ServiceProviderName add nothing.
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
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/json_column.h"
#include "ingest/csv/header.h"
#include "ingest/focus/column.h"
#include "ledger/charge.h"

namespace pennyweight::focus {

using bill::Fault;

class ChargeReader {
 public:
  // An Error that lists them when columns are missing without which no line can be taken.
  static Result<ChargeReader> of(const csv::Header& header);

  Version version() const { return version_; }
  // About the header, and how often rows were taken that FOCUS wants written otherwise.
  std::vector<std::string> warnings() const;
  std::uint64_t rounded_numbers() const { return rounded_numbers_; }
  std::uint64_t unread_json() const { return unread_json_; }

  // REQUIRES: as many fields as the header has columns; `quoted` likewise; `charge` is new or was
  // filled by this reader. ENSURES: every field of `charge` is set when nothing is returned.
  std::optional<Fault> read(std::span<const std::string_view> fields,
                            std::span<const std::uint8_t> quoted, Charge& charge);

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
  enum class Keep {
    kAlways,
    kUnlessProvider,
    kIfUnreadTags,
    kIfUnreadDetails,
    kIfNotInstanceType,
    kIfTooLarge,  // a number under x_ and its name
    kIfMoment,    // the moment of a charge that has no length
  };
  struct OtherColumn {
    std::string name;
    std::string json_key;  // "name":
    std::size_t at;
    Keep keep;
    std::size_t number;  // of kIfTooLarge: which of numbers_
  };
  struct LastInstant {
    std::string text;
    Instant at;
    bool cut = false;
  };
  // Rows that were taken although FOCUS wants them written otherwise, each by what was unlike it.
  struct Leniencies {
    std::uint64_t list = 0;
    std::uint64_t contracted = 0;
    std::uint64_t codes = 0;
    std::uint64_t moments = 0;
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
    bool respelled = false;  // a code
    bool moment = false;
    bool cut_time = false;
    std::uint32_t too_large = 0;  // a bit for each of numbers_
  };

  ChargeReader() = default;
  std::optional<std::size_t> find(std::string_view name) const;
  void plan_other_columns(const csv::Header& header);
  void note_warnings(const csv::Header& header);

  std::optional<Fault> read_costs(RowState& row, Charge& charge);
  std::optional<Fault> read_periods(RowState& row, Charge& charge);
  std::optional<Fault> read_numbers(RowState& row, Charge& charge);
  std::optional<Fault> read_codes(RowState& row, Charge& charge) const;
  void read_texts(const RowState& row, Charge& charge) const;
  void read_json(RowState& row, Charge& charge);
  void keep_others(const RowState& row, Charge& charge) const;
  std::string_view value_of(const RowState& row, std::optional<std::size_t> at) const;
  Result<Instant> instant_of(std::size_t slot, std::string_view text, RowState& row);
  void count(const RowState& row, const Charge& charge);

  Version version_ = Version::k1_0;
  std::vector<std::string> warnings_;
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t unread_json_ = 0;
  std::uint64_t rows_ = 0;  // taken
  Leniencies lenient_;

  std::unordered_map<std::string, std::size_t> places_;  // names of today → column of the file
  std::array<std::size_t, 4> costs_{};  // the last is the first again where the file lacks it
  bool lacks_contracted_ = false;
  std::array<std::size_t, 4> periods_{};
  std::size_t currency_ = 0;
  std::size_t category_ = 0;
  std::optional<std::size_t> class_, frequency_, pricing_category_, commitment_category_,
      commitment_status_, reservation_status_, tags_, details_, instance_type_, credits_;
  std::vector<TextColumn> texts_;
  std::vector<NumberColumn> numbers_;
  std::vector<OtherColumn> others_;
  std::vector<std::string> names_;

  // Bills repeat themselves from row to row; what was read last is read again without work.
  std::array<LastInstant, 4> last_instants_;
  std::string last_currency_text_;
  Currency last_currency_ = kUsd;
  bill::JsonColumns json_;
  std::unordered_map<std::string, std::optional<Labels>> tags_seen_;
  std::unordered_map<std::string, std::optional<std::string>> details_seen_;
};

}  // namespace pennyweight::focus
