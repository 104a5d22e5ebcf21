// The columns of Azure's cost exports: one name for each, and how the agreements spell it.
#pragma once

#include <vector>

#include "testing/generate/bills/native_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

// In the order of the agreement's files. A column that the agreement lacks is not among them.
std::vector<SheetColumn> azure_columns(AzureAgreement agreement);

}  // namespace pennyweight::bills
