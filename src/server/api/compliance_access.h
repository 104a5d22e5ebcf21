// Adds to a client's compliance report who may see what it is charged, and who changed what: the
// accounts, and the audit log of the month.
#pragma once

#include <string>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/queries/compliance_query.h"
#include "server/access/accounts.h"

namespace pennyweight::api {

// Users, and tokens that work at `now`, whose scope shows costs of the clients of the query: all of
// them, or a part. Customers without a scope see nothing.
Result<void> add_access(const ComplianceQuery& query, access::Accounts& accounts, Instant now,
                        Compliance& compliance);

// The changes of the month that the audit log has, the oldest first; sign-ins are none. Of more
// than kComplianceChangesMax the last, and how many there were. A log that is not there has none.
inline constexpr std::size_t kComplianceChangesMax = 2000;
Result<void> add_changes(const ComplianceQuery& query, const std::string& audit_log,
                         const TimeZone& zone, Compliance& compliance);

}  // namespace pennyweight::api
