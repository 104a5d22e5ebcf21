// For tests: a month of a made-up provider, written as each real one writes its bill.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pennyweight {

// What one machine cost on one day.
struct BillRow {
  unsigned sub = 0, machine = 0, day = 1;  // of March 2026
  std::int64_t cents = 0;
  unsigned assembly = 0;  // of Google Cloud: the export that the row came with
  bool is_daily = false;  // billed by the day, not by the hour; Azure bills all by the day
  std::string resource() const { return fmt::format("i-0abc0000000000s{}m{}", sub, machine); }
  bool operator==(const BillRow&) const = default;
};

// What providers write anew about the same lines.
struct BillLook {
  bool has_more_columns = false;
  unsigned invoice = 0, tags = 0;
  bool is_reversed = false, has_crlf = false;
};

using BillCells = std::vector<std::pair<std::string, std::string>>;

inline std::string dollars_of(std::int64_t cents) {
  const std::int64_t size = cents < 0 ? -cents : cents;
  return fmt::format("{}{}.{:02}", cents < 0 ? "-" : "", size / 100, size % 100);
}

// When the charge period of a row ends that begins at an hour of its day.
inline std::string end_of(const BillRow& row, unsigned hour, char separator) {
  return row.is_daily ? fmt::format("2026-03-{:02}{}{:02}:00", row.day + 1, separator, hour)
                      : fmt::format("2026-03-{:02}{}{:02}:00", row.day, separator, hour + 1);
}

inline BillCells aws_cells(const BillRow& row, const BillLook& look) {
  const std::string day = fmt::format("2026-03-{:02}T", row.day);
  return {{"bill_bill_type", "Anniversary"},
          {"bill_invoice_id", look.invoice == 0 ? "" : fmt::format("INV-{}", look.invoice)},
          {"bill_payer_account_id", "111111111111"},
          {"bill_billing_period_start_date", "2026-03-01T00:00:00Z"},
          {"bill_billing_period_end_date", "2026-04-01T00:00:00Z"},
          {"line_item_line_item_type", "Usage"},
          {"line_item_usage_account_id", fmt::format("22222222222{}", row.sub)},
          {"line_item_usage_start_date", day + "00:00:00Z"},
          {"line_item_usage_end_date", end_of(row, 0, 'T') + ":00Z"},
          {"line_item_product_code", "AmazonEC2"},
          {"line_item_usage_type", "BoxUsage:p5.48xlarge"},
          {"line_item_resource_id", row.resource()},
          {"line_item_currency_code", "USD"},
          {"line_item_unblended_cost", dollars_of(row.cents)},
          {"resource_tags_user_team", look.tags == 0 ? "" : fmt::format("team-{}", look.tags)}};
}

inline BillCells azure_cells(const BillRow& row, const BillLook& look) {
  return {{"BillingAccountId", "12345678"},
          {"InvoiceId", look.invoice == 0 ? "" : fmt::format("INV-{}", look.invoice)},
          {"SubscriptionId", fmt::format("sub-{}", row.sub)},
          {"BillingPeriodStartDate", "03/01/2026"},
          {"BillingPeriodEndDate", "03/31/2026"},
          {"Date", fmt::format("03/{:02}/2026", row.day)},
          {"MeterCategory", "Virtual Machines"},
          {"MeterId", "meter-1"},
          {"UnitOfMeasure", "1 Hour"},
          {"Quantity", "1"},
          {"CostInBillingCurrency", dollars_of(row.cents)},
          {"BillingCurrencyCode", "USD"},
          {"ResourceId", fmt::format("/subscriptions/sub-{}/resourceGroups/rg/providers/"
                                     "Microsoft.Compute/virtualMachines/{}",
                                     row.sub, row.resource())},
          {"ChargeType", "Usage"},
          {"PricingModel", "OnDemand"},
          {"Frequency", "UsageBased"},
          {"Tags", look.tags == 0 ? "" : fmt::format(R"("team": "team-{}")", look.tags)}};
}

inline BillCells gcp_cells(const BillRow& row, const BillLook& look) {
  const std::string day = fmt::format("2026-03-{:02} ", row.day);
  return {
      {"billing_account_id", "01-02-03"},
      {"service.description", "Compute Engine"},
      {"sku.id", "AAAA-BBBB-CCCC"},
      {"sku.description", fmt::format("GPU {}", look.invoice)},
      {"usage_start_time", day + "05:00:00 UTC"},
      {"usage_end_time", end_of(row, 5, ' ') + ":00 UTC"},
      {"project.id", fmt::format("project-{}", row.sub)},
      {"labels",
       look.tags == 0 ? "[]" : fmt::format(R"([{{"key":"team","value":"team-{}"}}])", look.tags)},
      {"resource.global_name",
       fmt::format("//compute.googleapis.com/instances/{}", row.resource())},
      {"cost", dollars_of(row.cents)},
      {"currency", "USD"},
      {"credits", "[]"},
      {"invoice.month", "202603"},
      {"cost_type", "regular"},
      {"export_time", fmt::format("2026-03-{:02} 23:00:00 UTC", 10 + row.assembly)}};
}

inline BillCells oci_cells(const BillRow& row, const BillLook& look) {
  const std::string day = fmt::format("2026-03-{:02}T", row.day);
  return {{"lineItem/referenceNo", fmt::format("ref-{}-{}", row.resource(), row.day)},
          {"lineItem/tenantId", "ocid1.tenancy.oc1..t"},
          {"lineItem/intervalUsageStart", day + "05:00Z"},
          {"lineItem/intervalUsageEnd", end_of(row, 5, 'T') + "Z"},
          {"product/service", "COMPUTE"},
          {"product/compartmentId", fmt::format("ocid1.compartment.oc1..{}", row.sub)},
          {"product/resourceId", fmt::format("ocid1.instance.oc1.iad.{}", row.resource())},
          {"product/Description", fmt::format("GPU {}", look.invoice)},
          {"cost/productSku", "B98415"},
          {"cost/myCost", dollars_of(row.cents)},
          {"cost/currencyCode", "USD"},
          {"lineItem/isCorrection", "false"},
          {"lineItem/backreferenceNo", ""},
          {"tags/team", look.tags == 0 ? "" : fmt::format("team-{}", look.tags)}};
}

// Of a provider of its own, or as the FOCUS report of one of the above.
inline BillCells focus_cells(const BillRow& row, const BillLook& look, const std::string& issuer,
                             const std::string& account, const std::string& resource_begins = "") {
  const std::string day = fmt::format("2026-03-{:02}T", row.day);
  const std::string cost = dollars_of(row.cents);
  return {{"BilledCost", cost},
          {"EffectiveCost", cost},
          {"ListCost", cost},
          {"ContractedCost", cost},
          {"BillingCurrency", "USD"},
          {"ChargeCategory", "Usage"},
          {"BillingAccountId", account},
          {"BillingPeriodStart", "2026-03-01T00:00:00Z"},
          {"BillingPeriodEnd", "2026-04-01T00:00:00Z"},
          {"ChargePeriodStart", day + "00:00:00Z"},
          {"ChargePeriodEnd", end_of(row, 0, 'T') + ":00Z"},
          {"InvoiceIssuerName", issuer},
          {"InvoiceId", look.invoice == 0 ? "" : fmt::format("INV-{}", look.invoice)},
          {"SubAccountId", fmt::format("sub-{}", row.sub)},
          {"ResourceId", resource_begins + row.resource()},
          {"ServiceName", "GPUs"},
          {"Tags", look.tags == 0 ? "" : fmt::format(R"({{"team":"team-{}"}})", look.tags)}};
}

struct BillWriter {
  const char* name;
  BillCells (*cells)(const BillRow&, const BillLook&);
  // The same bill in another form.
  BillCells (*other_form)(const BillRow&, const BillLook&);
  // Of which rows a later one takes the place: those of its sub account, of its sub account and
  // export, or the one with its number.
  enum class Identity { kSubAccount, kExport, kLine } identity;
};

inline constexpr BillWriter kBillWriters[] = {
    {"AWS", aws_cells,
     [](const BillRow& row, const BillLook& look) {
       return focus_cells(row, look, "Amazon Web Services", "111111111111");
     },
     BillWriter::Identity::kSubAccount},
    {"Azure", azure_cells,
     [](const BillRow& row, const BillLook& look) {
       return focus_cells(row, look, "Microsoft", "12345678");
     },
     BillWriter::Identity::kSubAccount},
    {"Google Cloud", gcp_cells,
     [](const BillRow& row, const BillLook& look) {
       return focus_cells(row, look, "Google Cloud", "01-02-03",
                          "//compute.googleapis.com/instances/");
     },
     BillWriter::Identity::kExport},
    {"Oracle", oci_cells,
     [](const BillRow& row, const BillLook& look) {
       return focus_cells(row, look, "Oracle", "ocid1.tenancy.oc1..t", "ocid1.instance.oc1.iad.");
     },
     BillWriter::Identity::kLine},
    {"FOCUS",
     [](const BillRow& row, const BillLook& look) {
       return focus_cells(row, look, "Acme Cloud", "acme-1");
     },
     [](const BillRow& row, const BillLook& look) {
       return focus_cells(row, look, "Acme Cloud", "/accounts/ACME-1");
     },
     BillWriter::Identity::kSubAccount},
};

inline std::string csv_of_bill(const std::vector<BillCells>& rows, const BillLook& look) {
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out.append(c == '"' ? 2 : 1, c);
    return out + "\"";
  };
  const std::string end = look.has_crlf ? "\r\n" : "\n";
  std::string text;
  for (const auto& [column, value] : rows.front()) text += (text.empty() ? "" : ",") + column;
  text += (look.has_more_columns ? ",new/Column" : "") + end;
  const auto add = [&](const BillCells& row) {
    std::string line;
    for (const auto& [column, value] : row) line += (line.empty() ? "" : ",") + quoted(value);
    text += line + (look.has_more_columns ? ",more" : "") + end;
  };
  if (look.is_reversed) {
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) add(*row);
  } else {
    for (const BillCells& row : rows) add(row);
  }
  return text;
}

}  // namespace pennyweight
