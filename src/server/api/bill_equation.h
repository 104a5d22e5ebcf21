// The equation of an imported bill, for answers: rows and money in the files = taken + set aside +
// passed over.
#pragma once

#include "ledger/bill_statement.h"
#include "server/api/answers.h"

namespace pennyweight::api {

// Writes the field "equation". Null where the import is of no bill, or an earlier program made it.
void write_bill_equation(JsonWriter& out, const BillStatement& statement);

}  // namespace pennyweight::api
