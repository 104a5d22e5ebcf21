// Circumstances: what all lines of a row share: who is billed, for when, for what, on which
// resource. Money and kind are the matter of charge_lines.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/billing_period.h"
#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/gcp/row.h"
#include "ledger/charge.h"

namespace pennyweight::gcp {

class Circumstances {
 public:
  // An Error when the machine has no rules of the zone that Google's months follow.
  static Result<Circumstances> make();

  // `charge` is new. With `needs_usage_time` the row must say when it was used; otherwise, where it
  // does not, it is for its whole month.
  std::optional<bill::Fault> fill(Row& row, bool needs_usage_time, Charge& charge);

  // Rows whose labels or tags are no lists of such; they are kept as text.
  std::uint64_t unread_json() const { return unread_json_; }

 private:
  struct Tags {
    Labels labels;
    bool unread = false;
  };
  struct Times {
    std::string text;
    Instant at;
  };

  explicit Circumstances(TimeZone zone) : zone_(std::move(zone)) {}
  std::optional<bill::Fault> fill_month(Row& row, Charge& charge);
  std::optional<bill::Fault> fill_times(Row& row, bool needs_usage_time, Charge& charge);
  void fill_resource(Row& row, Charge& charge) const;
  void fill_tags(Row& row, Charge& charge);
  static void fill_reservation(Charge& charge);

  TimeZone zone_;
  std::uint64_t unread_json_ = 0;
  // Bills repeat themselves from row to row.
  std::string last_month_text_;
  std::optional<Interval> last_month_;
  Times last_begin_;
  Times last_end_;
  std::unordered_map<std::string, Tags> tags_seen_;
  std::string tags_key_;
};

}  // namespace pennyweight::gcp
