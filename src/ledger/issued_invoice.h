// IssuedInvoice: a chargeback invoice as it was sent.
//
// It never changes; a mistake is corrected by a further invoice that refers to it.
#pragma once

#include <string>

#include "core/hash.h"
#include "core/instant.h"

namespace pennyweight {

struct IssuedInvoice {
  std::string number;    // "PW-2026-03-0001": unique in the ledger
  std::string month;     // "2026-03", the month that it bills
  std::string customer;  // the dimension value that it is for
  Instant issued_at;
  std::string document;   // its content as canonical JSON
  Hash128 digest;         // of the document
  std::string refers_to;  // the number of the invoice that it corrects; empty: none
  bool operator==(const IssuedInvoice&) const = default;
};

}  // namespace pennyweight
