// Finds cost of a delivery that the ledger has already from elsewhere: in another form of the bill,
// under another spelling of the account, or from another export.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/import/delivered_lines.h"
#include "ledger/delivery.h"

namespace pennyweight {

struct DoubleFindings {
  std::vector<std::string> doubles;  // what would be counted twice, a sentence each
  // What costs the same to the last digit and may be another bill, a sentence each.
  std::vector<std::string> similar;
};

// Whether lines of the ledger came in another form than the delivery, such as a CUR and FOCUS.
using FormTest = std::function<bool(const LineGroup&)>;

// `standing`: the lines that stay beside the delivery.
DoubleFindings find_doubles(const DeliveredLines& delivered, const DeliveredLines& standing,
                            DeliveryStyle style, const FormTest& is_of_other_form);

// Lines of one delivery that stand in it more than once, such as in two files written one behind
// the other. Adds to `doubles` what no provider sends so: a number that two lines have, or a bill
// in which each line stands an even number of times. Other lines that are alike are each counted,
// which is said in `similar`.
void find_repeats(const DeliveredLines& delivered, DoubleFindings& findings);

// Lines of two files that are for the same thing and cost the same.
struct LinesInCommon {
  std::uint64_t lines = 0;
  std::uint64_t percent = 0;  // of the money of the file that has less of it
  bool all = false;           // all of that money
};
LinesInCommon lines_in_common(const DeliveredLines& first, const DeliveredLines& second);
// Of two files of a delivery, one of which names no sub accounts: how much of the money of the one
// that has less is that of the other one, in percent.
std::uint64_t percent_without_sub_accounts(const DeliveredLines& first,
                                           const DeliveredLines& second);

// "2026-03 account 12 has 55.00 USD billed, 2026-03 account 13 …".
std::string text_of_accounts(const DeliveredLines& lines);
// "55.00 USD and 6.00 EUR".
std::string text_of_total(const DeliveredLines& lines);

}  // namespace pennyweight
