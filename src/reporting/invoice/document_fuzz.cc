// Any text is an invoice, or is refused. One that was read says the same when it is written and
// read again, and every page of it can be made.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "reporting/invoice/document.h"
#include "reporting/invoice/render.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto invoice = read_invoice(text);
  if (!invoice) {
    CHECK(!invoice.error().message.empty(), "a refusal says why");
    return 0;
  }
  const std::string document = invoice_document(*invoice);
  const auto again = read_invoice(document);
  CHECK(again && *again == *invoice, "what is written is read back");
  CHECK(invoice_document(*again) == document, "the same invoice gives the same bytes");
  const std::string page = render_invoice_html(*invoice);
  CHECK(page.find("<script") == std::string::npos, "no text becomes markup");
  CHECK(!render_invoice_text(*invoice).empty(), "a page of text");
  CHECK(!render_invoice_csv({&*invoice, 1}).empty(), "rows");
  return 0;
}
