#include "testing/generate/bill_line.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/json_text.h"

namespace pennyweight {
namespace {

struct ProviderNames {
  std::string_view key;
  std::string_view provider;
  std::string_view issuer;
  std::string_view compute_service;
  std::string_view commitment_type;
  std::string_view billing_account_type;
  std::string_view sub_account_type;
};
constexpr ProviderNames kProviders[] = {
    {"aws", "AWS", "Amazon Web Services, Inc.", "Amazon Elastic Compute Cloud", "Reserved Instance",
     "Management Account", "Member Account"},
    {"gcp", "Google Cloud", "Google Cloud", "Compute Engine", "Committed Use Discount",
     "Billing Account", "Project"},
    {"azure", "Microsoft", "Microsoft", "Virtual Machines", "Reservation", "Billing Profile",
     "Subscription"},
    {"oci", "Oracle", "Oracle", "Compute", "Commitment", "Subscription", "Tenancy"},
};

ProviderNames names_of(std::string_view provider) {
  for (const ProviderNames& names : kProviders) {
    if (names.key == provider) return names;
  }
  return {provider,     provider,          provider,     "Virtual Machines",
          "Commitment", "Billing Account", "Sub Account"};
}

// The names of regions as bills print them; other regions are printed as their id.
std::string_view region_name(std::string_view region) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"us-east-1", "US East (N. Virginia)"}, {"us-central1", "Iowa"}, {"eastus", "East US"}};
  for (const auto& [id, name] : kNames) {
    if (id == region) return name;
  }
  return region;
}

// "SKU-0123456789AB".
std::string sku_code(std::string_view prefix, std::initializer_list<std::string_view> parts) {
  Fingerprint fingerprint;
  for (const std::string_view part : parts) fingerprint.add(part);
  const std::string code = ascii::upper_case(to_text(fingerprint.hash()).substr(0, 12));
  return fmt::format("{}-{}", prefix, code);
}

// FOCUS defines the keys; our own begin with x_.
std::string price_details(const InstanceType* type, const std::string& instance_type) {
  std::string details = "{\"InstanceType\":" + json_string(instance_type);
  if (type != nullptr) {
    if (type->cpu_milli) details += fmt::format(",\"CoreCount\":{}", *type->cpu_milli / 1000);
    details += fmt::format(",\"GpuCount\":{}", type->gpu_count);
    if (type->memory_bytes) details += fmt::format(",\"MemorySize\":{}", *type->memory_bytes >> 30);
    details += ",\"x_GpuModel\":" + json_string(type->gpu_model);
  }
  return details + '}';
}

Product compute_product(const BillOptions& options, std::string_view meter, std::string_view sku,
                        std::string_view option) {
  return {.service_category = "Compute",
          .service_subcategory = "Virtual Machines",
          .service_name = std::string(names_of(options.provider).compute_service),
          .sku_meter = std::string(meter),
          .sku = std::string(sku),
          .option = std::string(option),
          .unit = "Hours"};
}

// Labels within the limits of limits.h: the keys are ours, the values are names of nodes and
// clusters.
void set_tag(Charge& charge, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  const auto set = charge.tags.set(key, value);
  CHECK(set.has_value(), "a name is shorter than a label's value may be");
}

}  // namespace

BillLine BillLines::begin_line(const Product& product, ChargeCategory category,
                               const Interval& charged, std::string_view cluster,
                               std::string_view region, std::string_view description,
                               std::string_view price_source) const {
  const ProviderNames names = names_of(options_.provider);
  BillLine line{Charge(billed_, charged, Costs::zero(options_.currency)), {}};
  Charge& charge = line.charge;
  charge.billing_account_id = plan_.account_id;
  charge.billing_account_name = "Generated account";
  line.other_columns["BillingAccountType"] = names.billing_account_type;
  if (!cluster.empty()) {
    line.other_columns["SubAccountType"] = names.sub_account_type;
    charge.sub_account_id = account_number(options_.seed, cluster);
    charge.sub_account_name = cluster;
    set_tag(charge, "cluster", cluster);
  }
  charge.invoice_id = fmt::format("GENERATED-{}-{}", plan_.account_id, month_.text());
  charge.invoice_issuer_name = names.issuer;
  charge.service_provider_name = names.provider;
  charge.charge_category = category;
  charge.charge_frequency = ChargeFrequency::kUsageBased;
  charge.charge_description = fmt::format("Generated: {}", description);
  charge.service_category = product.service_category;
  charge.service_subcategory = product.service_subcategory;
  charge.service_name = product.service_name;
  charge.cluster = cluster;
  if (!region.empty()) {
    charge.region_id = region;
    line.other_columns["RegionName"] = region_name(region);
  }
  if (!product.sku_meter.empty()) {
    charge.sku_meter = product.sku_meter;
    charge.sku_id = sku_code("SKU", {options_.provider, product.sku_meter, product.sku});
    charge.sku_price_id = sku_code("PRICE", {charge.sku_id, region, product.option});
    charge.pricing_category = PricingCategory::kStandard;
    charge.pricing_unit = product.unit;
  }
  line.other_columns["x_Generated"] = "true";
  line.other_columns["x_GeneratorSeed"] = fmt::format("{}", options_.seed);
  line.other_columns["x_PriceSource"] = price_source;
  return line;
}

void BillLines::set_commitment(BillLine& line, const Commitment& commitment) const {
  Charge& charge = line.charge;
  charge.commitment_discount_id = commitment.id;
  charge.commitment_discount_category = "Usage";
  charge.commitment_discount_type = names_of(options_.provider).commitment_type;
  line.other_columns["CommitmentDiscountUnit"] = "Hours";
}

BillLine BillLines::node_line(const PlannedNode& planned, const InstanceType* type,
                              const HourlyPrices& prices) const {
  struct TermText {
    std::string_view option;
    std::string_view text;
    PricingCategory category;
  };
  constexpr TermText kTermTexts[] = {{"on_demand", "on-demand", PricingCategory::kStandard},
                                     {"spot", "spot", PricingCategory::kDynamic},
                                     {"committed", "reserved", PricingCategory::kCommitted}};
  const TermText& term_text = kTermTexts[static_cast<std::size_t>(planned.term)];
  const Node& node = *planned.node;
  BillLine line = begin_line(
      compute_product(options_, "Compute " + node.instance_type, node.instance_type,
                      term_text.option),
      ChargeCategory::kUsage, planned.present, node.cluster.text(), prices.region,
      fmt::format("{} {} of node {}", term_text.text, node.instance_type, node.name.text()),
      prices.source);
  Charge& charge = line.charge;
  charge.pricing_category = term_text.category;
  charge.consumed_unit = "Hours";
  charge.resource_id = planned.resource_id;
  if (planned.resource_id != node.name.text()) charge.resource_name = node.name.text();
  charge.resource_type = "Instance";
  charge.instance_type = node.instance_type;
  charge.sku_price_details = price_details(type, node.instance_type);
  charge.pool = node.pool.text();
  set_tag(charge, "pool", node.pool.text());
  if (planned.term == NodeTerm::kReserved) {
    set_commitment(line, plan_.commitments[planned.commitment]);
    charge.commitment_discount_status = UsedOrUnused::kUsed;
  }
  return line;
}

BillLine BillLines::unused_line(const Commitment& commitment, const HourlyPrices& prices) const {
  BillLine line =
      begin_line(compute_product(options_, "Commitment " + commitment.instance_type,
                                 commitment.instance_type, "committed"),
                 ChargeCategory::kUsage, billed_, commitment.cluster, prices.region,
                 fmt::format("unused commitment of {}", commitment.instance_type), prices.source);
  Charge& charge = line.charge;
  set_commitment(line, commitment);
  charge.commitment_discount_status = UsedOrUnused::kUnused;
  charge.pricing_category = PricingCategory::kCommitted;
  charge.resource_id = commitment.id;
  charge.resource_type = charge.commitment_discount_type;
  return line;
}

BillLine BillLines::purchase_line(const Commitment& commitment, const HourlyPrices& prices) const {
  BillLine line = begin_line(
      compute_product(options_, "Commitment " + commitment.instance_type, commitment.instance_type,
                      "committed"),
      ChargeCategory::kPurchase, billed_, commitment.cluster, prices.region,
      fmt::format("monthly fee of a commitment to {} {}",
                  to_text(Decimal::from_ticks(static_cast<Int128>(commitment.milli_instances) *
                                              (Decimal::kTicksPerUnit / 1000))),
                  commitment.instance_type),
      prices.source);
  Charge& charge = line.charge;
  set_commitment(line, commitment);
  charge.charge_frequency = ChargeFrequency::kRecurring;
  charge.resource_id = commitment.id;
  charge.resource_type = charge.commitment_discount_type;
  return line;
}

const Charge& BillLine::finish() {
  std::string& json = charge.other_columns;
  json.clear();
  for (const auto& [column, text] : other_columns) {
    json += json.empty() ? '{' : ',';
    json += json_string(column) + ':' + json_string(text);
  }
  if (!json.empty()) json += '}';
  return charge;
}

Result<void> set_amounts(BillLine& line, Decimal quantity, const UnitPrices& prices) {
  Charge& charge = line.charge;
  const std::array<std::pair<Decimal, Money Costs::*>, 4> products = {{
      {prices.list, &Costs::list},
      {prices.contracted, &Costs::contracted},
      {prices.billed, &Costs::billed},
      {prices.effective, &Costs::effective},
  }};
  const Currency currency = charge.costs.currency();
  for (const auto& [price, cost] : products) {
    // Nothing is rounded: price and quantity together have at most eighteen digits.
    const auto product = multiply(price, quantity, Rounding::kHalfEven);
    if (!product) return std::unexpected(product.error().during(charge.charge_description));
    charge.costs.*cost = Money::from_decimal(*product, currency);
  }
  charge.pricing_quantity = quantity;
  charge.list_unit_price = prices.list;
  charge.contracted_unit_price = prices.contracted;
  if (!charge.consumed_unit.empty()) charge.consumed_quantity = quantity;
  if (!charge.commitment_discount_id.empty()) {
    line.other_columns["CommitmentDiscountQuantity"] = to_text(quantity);
  }
  return {};
}

}  // namespace pennyweight
