// Finds cost of a delivery that stands under another billing period already, such as a month that
// was exported with the next month's invoice.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "app/import/delivered_lines.h"
#include "app/import/delivery_doubles.h"
#include "app/import/period_cells.h"

namespace pennyweight {

// The months beside the delivered ones in which the same charges could stand: those of its charge
// periods, and the one after each, where late charges of a month are billed.
std::set<std::string> other_periods_of(const DeliveredLines& delivered);

// The days on which the charges of the delivery begin.
std::set<std::chrono::sys_days> days_of(const DeliveredLines& delivered);

// Adds a sentence for each account of which the same charges stand under two billing periods.
// `doubles`: so many that it is no chance. `similar`: others that cost the same to the last digit.
// `elsewhere`: lines of the ledger that begin on these days and are billed in none of the delivered
// months.
void find_in_other_periods(const PeriodCells& delivered, const PeriodCells& elsewhere,
                           DoubleFindings& findings);

}  // namespace pennyweight
