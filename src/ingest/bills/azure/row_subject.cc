// AzureRowReader: the account, commitment, SKU and resource of a row.
#include <utility>

#include "core/json_text.h"
#include "ingest/bills/azure/azure_row_reader.h"
#include "ingest/bills/azure/azure_text.h"
#include "ingest/bills/azure/service_category.h"

namespace pennyweight::azure {
namespace {}  // namespace

void AzureRowReader::read_accounts(Row& row, Charge& charge) const {
  const bool by_profile =
      columns_.agreement() == Agreement::kCustomer && !text(row, Column::kBillingProfileId).empty();
  charge.billing_account_id =
      text(row, by_profile ? Column::kBillingProfileId : Column::kBillingAccountId);
  charge.billing_account_name =
      text(row, by_profile ? Column::kBillingProfileName : Column::kBillingAccountName);
  keep(row, by_profile ? Column::kBillingAccountId : Column::kBillingProfileId);
  keep(row, by_profile ? Column::kBillingAccountName : Column::kBillingProfileName);
  charge.sub_account_id = text(row, Column::kSubscriptionId);
  charge.sub_account_name = text(row, Column::kSubscriptionName);
  // Pay-as-you-go exports have no account; the subscription is invoiced.
  if (charge.billing_account_id.empty()) charge.billing_account_id = charge.sub_account_id;
  charge.invoice_id = text(row, Column::kInvoiceId);
  const std::string_view partner = text(row, Column::kPartnerName);
  charge.invoice_issuer_name = partner.empty() ? "Microsoft" : partner;
  charge.service_provider_name = "Microsoft";
}

void AzureRowReader::read_commitment(Row& row, Charge& charge) const {
  if (!row.of_commitment) return;
  const std::string_view benefit = text(row, Column::kBenefitId);
  const std::string_view reservation = text(row, Column::kReservationId);
  charge.commitment_discount_id = benefit.empty() ? reservation : benefit;
  const std::string_view name = text(row, Column::kBenefitName);
  row.commitment_name = name.empty() ? text(row, Column::kReservationName) : name;
  if (reservation != charge.commitment_discount_id) keep(row, Column::kReservationId);
  if (text(row, Column::kReservationName) != row.commitment_name) {
    keep(row, Column::kReservationName);
  }
  if (charge.commitment_discount_id.empty()) return;
  const bool is_plan =
      row.model == PricingModel::kSavingsPlan || row.type == ChargeType::kUnusedSavingsPlan ||
      (row.model != PricingModel::kReservation && row.type != ChargeType::kUnusedReservation &&
       find_ignoring_case(benefit, "/microsoft.billingbenefits/") != std::string_view::npos);
  charge.commitment_discount_category = is_plan ? "Spend" : "Usage";
  charge.commitment_discount_type = is_plan ? "Savings Plan" : "Reservation";
  if (row.type == ChargeType::kUsage) {
    charge.commitment_discount_status = UsedOrUnused::kUsed;
  } else if (charge.charge_category == ChargeCategory::kUsage && !charge.is_correction) {
    charge.commitment_discount_status = UsedOrUnused::kUnused;
  }
}

void AzureRowReader::read_sku(Row& row, Charge& charge) const {
  charge.charge_description = text(row, Column::kProductName);
  const std::string_view category = text(row, Column::kMeterCategory);
  charge.service_name = category;
  for (const Column other : {Column::kServiceName, Column::kConsumedService}) {
    if (charge.service_name.empty()) charge.service_name = text(row, other);
  }
  if (charge.service_name.empty()) charge.service_name = "Azure";
  for (const Column other : {Column::kServiceName, Column::kConsumedService}) {
    if (text(row, other) != charge.service_name) keep(row, other);
  }
  const bill::ServiceCategory service =
      service_category(category, text(row, Column::kServiceFamily));
  charge.service_category = service.category;
  charge.service_subcategory = service.subcategory;
  keep(row, Column::kServiceFamily);

  const std::string_view meter = text(row, Column::kMeterId);
  const std::string_view product = text(row, Column::kProductId);
  const std::string_view part = text(row, Column::kPartNumber);
  const bool has_sku = charge.charge_category == ChargeCategory::kUsage ||
                       charge.charge_category == ChargeCategory::kPurchase;
  if (has_sku) {
    charge.sku_id = product.empty() ? meter : product;
    charge.sku_price_id = part.empty() ? meter : part;
    if (charge.sku_id.empty()) charge.sku_id = charge.sku_price_id;
    if (charge.sku_price_id.empty()) charge.sku_price_id = charge.sku_id;
  }
  // FOCUS has no SKU for taxes, credits and adjustments, and no meter without a SKU.
  if (!charge.sku_id.empty()) {
    charge.sku_meter = text(row, Column::kMeterName);
  } else {
    keep(row, Column::kMeterName);
  }
  if (meter != charge.sku_id && meter != charge.sku_price_id) keep(row, Column::kMeterId);
  if (product != charge.sku_id) keep(row, Column::kProductId);
  if (part != charge.sku_price_id) keep(row, Column::kPartNumber);
}

void AzureRowReader::read_json(Row& row, Charge& charge) {
  if (const std::string_view tags = text(row, Column::kTags); !tags.empty()) {
    const std::optional<Labels>& parsed = tags_cache_.parse(with_braces(tags));
    if (parsed) {
      charge.tags = *parsed;
    } else {
      row.counts.unread_json += 1;
      keep(row, Column::kTags);
    }
  }
}

// Runs after the other fields are set, since a commitment is the resource of its own charges.
void AzureRowReader::read_resource(Row& row, Charge& charge) {
  charge.region_id = text(row, Column::kRegion);
  charge.availability_zone = text(row, Column::kAvailabilityZone);
  const std::string_view id = text(row, Column::kResourceId);
  const std::string_view name = text(row, Column::kResourceName);
  const std::string_view type = text(row, Column::kResourceType);

  AdditionalInfo info;
  if (const std::string_view json = text(row, Column::kAdditionalInfo); !json.empty()) {
    keep(row, Column::kAdditionalInfo);
    if (auto read = info_reader_.read(json)) {
      info = std::move(*read);
    } else {
      row.counts.unread_json += 1;
    }
  }
  // Other services put other words there; only sizes of machines begin like this.
  if (starts_with_ignoring_case(info.service_type, "Standard_") ||
      starts_with_ignoring_case(info.service_type, "Basic_")) {
    charge.instance_type = info.service_type;
    if (!charge.sku_price_id.empty()) {
      charge.sku_price_details = "{\"InstanceType\":";
      append_stored_json_string(charge.sku_price_details, info.service_type);
      charge.sku_price_details += '}';
    }
  }

  // FOCUS: the commitment is the resource of its purchase and of its unused part.
  const bool is_commitment = !charge.commitment_discount_id.empty() &&
                             charge.commitment_discount_status != UsedOrUnused::kUsed;
  if (is_commitment) {
    charge.resource_id = charge.commitment_discount_id;
    charge.resource_name = row.commitment_name;
    charge.resource_type = charge.commitment_discount_type;
  } else if (!id.empty()) {
    charge.resource_id = id;
    charge.resource_name = name.empty() ? last_segment(id) : name;
    charge.resource_type = type.empty() ? resource_type_of(id) : std::string(type);
    // The row of a scale set names the machine only here: "<scale set>_<number>".
    const std::string_view set = last_segment(id);
    if (info.vm_name.size() > set.size() && starts_with_ignoring_case(info.vm_name, set) &&
        info.vm_name[set.size()] == '_') {
      charge.resource_name = info.vm_name;
    }
    if (charge.resource_name == charge.resource_id) charge.resource_name.clear();
  }
  if (id != charge.resource_id) keep(row, Column::kResourceId);
  if (name != charge.resource_name) keep(row, Column::kResourceName);
  if (type != charge.resource_type) keep(row, Column::kResourceType);
}

}  // namespace pennyweight::azure
