// ViewReport: what a saved view of Explore shows of one period, as a message.
//
// It is made with the role and the scope that the view's owner has now, by the query that the page
// asks, so that it says what the owner would see.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/date.h"
#include "core/error.h"
#include "server/access/accounts.h"
#include "server/api/services.h"

namespace pennyweight::api {

struct ViewReport {
  std::string subject;  // one line
  std::string text;     // for people, in lines of at most 100 columns where names allow it
  std::string csv;      // for spreadsheets: no text is taken for a formula
  std::string file_name;
  std::string json;              // {"view": …, "period": …, "tables": […]}
  std::string address;           // the owner's mail address; may be empty
  bool may_tell_others = false;  // the owner may choose what others receive
};

// The last whole period before `today`, as its first and last day.
std::pair<Date, Date> last_period(access::ViewPeriod every, Date today);

// How long a period waits for its costs: bills come late.
inline constexpr std::chrono::days kViewWaits{3};

// The period to send next: the earliest of the last seven that was not sent, once costs are there
// up to its last day, or it is over for kViewWaits. The first time, the latest that is ready.
// Nothing: all are sent, or none is ready. `today`: in the zone of the policy; `complete_until`:
// the last day with all costs.
std::optional<std::pair<Date, Date>> due_period(const access::ViewSchedule& schedule, Date today,
                                                std::optional<Date> complete_until);

// What the page Explore groups by where its address doesn't say: the first dimension of owners that
// the filters don't fix to one value; "workload" where they fix all.
std::string usual_grouping(const Policy& policy, const std::vector<std::string>& filters);

// Whether a view can be sent: an Error of kBadValue says why not.
Result<void> check_sendable_view(const access::SavedView& view);

// Of the days `first` to `last`, whatever days the view shows. Errors: as check_sendable_view(),
// where the owner is gone, blocked or may no longer read costs, and of the query.
Result<ViewReport> view_report(const Services& services, const access::SavedView& view, Date first,
                               Date last);

}  // namespace pennyweight::api
