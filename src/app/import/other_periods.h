// Finds cost of a delivery that stands under another billing period already, such as a month that
// was exported with the next month's invoice.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "app/import/delivered_lines.h"

namespace pennyweight {

// The months beside the delivered ones in which the same charges could stand: those of its charge
// periods, and the one after each, where late charges of a month are billed.
std::set<std::string> other_periods_of(const DeliveredLines& delivered);

// The days on which the charges of the delivery begin.
std::set<std::chrono::sys_days> days_of(const DeliveredLines& delivered);

// Adds a sentence for what would count twice. `elsewhere`: lines of the ledger that begin on these
// days and are billed in none of the delivered months.
void find_in_other_periods(const DeliveredLines& delivered, const DeliveredLines& elsewhere,
                           std::vector<std::string>& doubles);

}  // namespace pennyweight
