// `invoice send`: mails issued invoices to their customers, as PDF, in the client's view.
#pragma once

#include <string>
#include <vector>

#include "app/cli/verb.h"

namespace pennyweight {

struct SendInvoiceOptions {
  std::string number;           // one invoice
  std::string month;            // or all that were issued for a month
  std::string customer;         // of the month, only this one's
  std::vector<std::string> to;  // in place of the configured addresses
  std::string format = "pdf";
};

// Each invoice is a mail of its own and an event of the audit log. kCheckFailed where one could not
// be sent: the others are, and messages say which.
Result<ExitCode> send_invoices(const SendInvoiceOptions& options, Context& context);

}  // namespace pennyweight
