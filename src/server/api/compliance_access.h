// Adds to a client's compliance report who may see what it is charged, and who changed what: the
// accounts, and the audit log of the month.
#pragma once

#include <string>
#include <string_view>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/queries/compliance_query.h"
#include "server/access/accounts.h"

namespace pennyweight::api {

// Users, and tokens that work at `now`, whose scope shows costs of the clients of the query: all of
// them, or a part. The values of scopes are not shown, since they may name other clients. Customers
// see statements only, by the dimension `statements_by` (invoice.by).
Result<void> add_access(const ComplianceQuery& query, access::Accounts& accounts,
                        std::string_view statements_by, Instant now, Compliance& compliance);

// The changes of the month that the audit log has, the oldest first; sign-ins are none. A report of
// one client has only those of accounts that see it, which add_access() has found, and of the
// month, so that it names nobody else's. Of more than kComplianceChangesMax the last, and how many
// there were. A log that is not there has none.
inline constexpr std::size_t kComplianceChangesMax = 2000;
Result<void> add_changes(const ComplianceQuery& query, const std::string& audit_log,
                         const TimeZone& zone, Compliance& compliance);

}  // namespace pennyweight::api
