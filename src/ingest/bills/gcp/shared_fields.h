// SharedFields: fills the fields that all charges of a row share: who is billed, when, for what, on
// which resource. charge_builder.h decides money and category.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/billing_period.h"
#include "core/error.h"
#include "ingest/bills/gcp/row.h"
#include "ingest/bills/row_reader.h"
#include "ledger/charge.h"

namespace pennyweight::gcp {

class SharedFields {
 public:
  // An Error when the machine lacks the time zone of Google's months.
  static Result<SharedFields> create();

  // REQUIRES: nothing in `charge` is set. A row without usage times is a fault with
  // `needs_usage_time`; otherwise it is for its whole month.
  std::optional<bill::RowFault> fill(Row& row, bool needs_usage_time, Charge& charge);

  // Rows whose labels or tags are not lists of them; they are stored as text.
  std::uint64_t unread_json() const { return unread_json_; }

 private:
  struct ParsedTags {
    Labels labels;
    bool unread = false;
  };
  struct LastInstant {
    std::string text;
    Instant at;
  };

  explicit SharedFields(TimeZone zone) : zone_(std::move(zone)) {}
  std::optional<bill::RowFault> fill_month(Row& row, Charge& charge);
  std::optional<bill::RowFault> fill_times(Row& row, bool needs_usage_time, Charge& charge);
  void fill_resource(Row& row, Charge& charge) const;
  void fill_tags(Row& row, Charge& charge);
  static void fill_reservation(Charge& charge);

  TimeZone zone_;
  std::uint64_t unread_json_ = 0;
  // Bills repeat themselves from row to row: the values read last are cached.
  std::string last_month_text_;
  std::optional<Interval> last_month_;
  LastInstant last_begin_;
  LastInstant last_end_;
  std::unordered_map<std::string, ParsedTags> tags_cache_;
  std::string tags_key_;
};

}  // namespace pennyweight::gcp
