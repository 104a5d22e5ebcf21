#include "reporting/queries/close_books.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/try.h"
#include "ledger/store_rules.h"
#include "reporting/money_text.h"
#include "reporting/number_format.h"
#include "reporting/queries/bill_status.h"

namespace pennyweight {
namespace {

Result<void> nothing_may_be_open(const BillStatus& status, const std::string& month) {
  if (status.aside_money.rows > 0) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} can't be closed: {} of its bills set aside ({}); 'pennyweight "
                            "import aside' lists them: mend or dismiss each, or import the bill "
                            "again once it is whole",
                            month, counted(status.aside_money.rows, "row"),
                            billed_text(status.aside_money)));
  }
  if (!status.missing.empty()) {
    const MissingParts& one = status.missing.front();
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} can't be closed: {}; the parts that came hold {}; what is missing is not "
                    "known: import the delivery once it is whole",
                    month, one.text(), billed_text(one.there)));
  }
  const auto off =
      std::ranges::find_if(status.totals, [](const CheckedTotal& total) { return !total.equal(); });
  if (off != status.totals.end()) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} can't be closed: the provider's total is {} ({}), and the ledger "
                            "has {} billed, {} apart; 'pennyweight reconcile --provider' shows all "
                            "totals",
                            month, exact_money(off->total.billed), off->total.source,
                            exact_money(off->found), exact_money(off->found - off->total.billed)));
  }
  return {};
}

}  // namespace

bool is_month_over(const std::string& month, Instant now) { return month_of(now) > month; }

Result<ClosedBooks> close_books(Store& store, Closing closing, const std::string& even_so) {
  const std::string month = closing.month;
  if (!is_month_over(month, closing.at)) {
    if (even_so.empty()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{} is not over, and a closed month never changes: its later charges "
                              "would be booked in the next month; close it from the 1st on, or say "
                              "why now (--even-so REASON, \"even_so\" in the API)",
                              month));
    }
    closing.reason += (closing.reason.empty() ? "" : "; ") + ("before it was over: " + even_so);
  }
  const auto status = TRY(query_bill_status(store, month));
  TRY(nothing_may_be_open(status, month));
  const auto closed = TRY(store.close_month(closing));
  return ClosedBooks{closed, status.checked_against()};
}

}  // namespace pennyweight
