// The columns of Azure's cost exports: one name for each, and its spelling in each agreement.
#pragma once

#include <vector>

#include "testing/generate/bills/native_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

// In the order of the agreement's files, without the columns that the agreement lacks.
std::vector<SheetColumn> azure_columns(AzureAgreement agreement);

}  // namespace pennyweight::bills
