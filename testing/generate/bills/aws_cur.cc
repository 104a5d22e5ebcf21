#include "testing/generate/bills/aws_cur.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/try.h"
#include "testing/generate/bills/aws_columns.h"
#include "testing/generate/bills/json_text.h"
#include "testing/generate/bills/number_text.h"
#include "testing/generate/random.h"
#include "testing/generate/round_decimal.h"

namespace pennyweight::bills {
namespace {

constexpr std::int64_t kHoursOfYear = 8760;
constexpr Decimal kVolumePerGbMonth = Decimal::from_ticks(80'000'000'000'000'000);  // 0.08
constexpr Decimal kBucketPerGbMonth = Decimal::from_ticks(23'000'000'000'000'000);  // 0.023
constexpr Decimal kTransferPerGb = Decimal::from_ticks(90'000'000'000'000'000);     // 0.09
constexpr std::string_view kLegalEntity = "Amazon Web Services, Inc.";

struct Service {
  std::string_view code;
  std::string_view name;
  std::string_view family;
};
constexpr Service kCompute = {"AmazonEC2", "Amazon Elastic Compute Cloud", "Compute Instance"};
constexpr Service kVolumes = {"AmazonEC2", "Amazon Elastic Compute Cloud", "Storage"};
constexpr Service kBuckets = {"AmazonS3", "Amazon Simple Storage Service", "Storage"};
constexpr Service kTransfer = {"AmazonEC2", "Amazon Elastic Compute Cloud", "Data Transfer"};
constexpr Service kSavingsPlans = {"ComputeSavingsPlans", "Savings Plans for AWS Compute usage",
                                   ""};
constexpr Service kSupport = {"AWSSupportBusiness", "AWS Support (Business)", "Support"};

// "USW2-" before a usage type; nothing in the first region.
std::string usage_prefix(std::string_view region) {
  if (region == "us-east-1") return "";
  std::string prefix;
  bool first = true;
  for (std::size_t i = 0; i < region.size(); ++i) {
    const char c = region[i];
    if (c == '-') {
      first = true;
    } else if (ascii::is_digit(c)) {
      prefix += c;
    } else if (first || i < 2) {
      prefix += static_cast<char>(c - 'a' + 'A');
      first = false;
    }
  }
  return prefix + '-';
}

// The cost of a commitment, before and after the program's discount.
struct Fees {
  Decimal recurring;
  Decimal upfront;  // the part that falls into this time
};

class AwsCur : public BillForm {
 public:
  AwsCur(const FleetBill& fleet, const TextSink& sink, BillTruth& truth)
      : fleet_(fleet),
        options_(fleet.options()),
        sheet_(aws_columns(fleet.options()), sink),
        truth_(truth),
        discountable_(fleet.bill().clusters.size()),
        billed_(fleet.bill().clusters.size()) {}

  Result<void> begin_month(const BillingPeriod& month, const Interval& covered,
                           std::span<const CommitmentMonth> commitments) override {
    const bool is_first = !month_;
    month_ = month;
    covered_ = covered;
    invoice_ = fmt::format("GENERATED-{}", month.text());
    commitments_.assign(commitments.begin(), commitments.end());
    used_.assign(commitments.size(), {});
    slice_.assign(commitments.size(), {});
    for (auto& services : discountable_) services = {};
    billed_.assign(billed_.size(), Decimal());
    refund_.reset();
    if (!is_first) return {};
    for (const CommitmentMonth& commitment : commitments_) {
      TRY(write_upfront(commitment));
    }
    return {};
  }

  Result<void> node(const NodeUse& use) override {
    Result<void> done;
    switch (use.node->planned->term) {
      case NodeTerm::kOnDemand:
        done = write_on_demand(use);
        break;
      case NodeTerm::kSpot:
        done = write_spot(use);
        break;
      case NodeTerm::kReserved:
        done = write_covered(use);
        break;
    }
    if (!done || !options_.aws_split_rows) return done;
    if (Random(use.node->planned->key ^ 2).next() % 4 != 0) return done;
    return write_split(use);
  }

  Result<void> end_slice(const Interval& slice, std::span<const Decimal> cluster_hours) override {
    for (const CommitmentMonth& commitment : commitments_) {
      if (!commitment.is_spend) continue;
      TRY(write_savings_plan(commitment, slice));
    }
    for (std::size_t i = 0; i < cluster_hours.size(); ++i) {
      if (cluster_hours[i] == Decimal()) continue;
      TRY(write_cluster(i, slice, cluster_hours[i]));
    }
    return {};
  }

  Result<void> end_month() override {
    for (const CommitmentMonth& commitment : commitments_) {
      if (commitment.is_spend) continue;
      TRY(write_reservation_fee(commitment));
    }
    TRY(write_refund());
    if (options_.aws_discount == AwsDiscount::kLines) {
      TRY(write_discounts());
    }
    TRY(write_support());
    TRY(write_tax());
    return write_credit();
  }

  Result<void> finish() { return sheet_.finish(); }

 private:
  struct Used {
    Fees gross;
    Fees net;
    Decimal hours;
  };
  struct SavingsSlice {
    Decimal list;  // of covered use, reversed by the negation
    Decimal used;
    Decimal hours;
  };
  struct Refundable {
    std::uint64_t draw;
    const BilledNode* node;
    std::size_t cluster;
    Interval when;
    Decimal hours;
    Decimal price;
  };

  bool net() const { return options_.aws_discount == AwsDiscount::kNetColumns; }
  bool second() const { return options_.form == NativeForm::kAwsCur2; }
  const PlannedNode& planned(const NodeUse& use) const { return *use.node->planned; }

  Decimal after_discount(Decimal amount) const {
    return minus(
        amount, per_mille_of(amount, options_.bill.negotiated_discount_per_mille, fleet_.digits()));
  }

  void set(std::string_view name, std::string_view text) { sheet_.set(name, text); }
  void set(std::string_view name, Decimal value) { sheet_.set(name, java_double(value)); }

  std::string time(Instant at) const {
    std::string text = pennyweight::to_text(at);
    if (second()) text.insert(text.size() - 1, ".000");
    return text;
  }

  // The columns of every row. `cluster` past the end: a row of the paying account.
  void begin(std::string_view type, const Service& service, std::size_t cluster,
             const Interval& when, std::string_view description) {
    const auto& clusters = fleet_.bill().clusters;
    const bool of_cluster = cluster < clusters.size();
    account_ = of_cluster ? fleet_.account(cluster) : fleet_.bill().account_id;
    service_ = service.name;
    team_.clear();
    Fingerprint id;
    id.add(static_cast<std::int64_t>(fleet_.seed())).add(static_cast<std::int64_t>(++rows_));
    set("identity/LineItemId", "generated" + pennyweight::to_text(id.hash()));
    set("identity/TimeInterval",
        fmt::format("{}/{}", pennyweight::to_text(when.begin()), pennyweight::to_text(when.end())));
    set("bill/InvoiceId", invoice_);
    set("bill/InvoicingEntity", kLegalEntity);
    set("bill/BillingEntity", "AWS");
    set("bill/BillType", "Anniversary");
    set("bill/PayerAccountId", fleet_.bill().account_id);
    const Interval month = month_->to_interval();
    set("bill/BillingPeriodStartDate", time(month.begin()));
    set("bill/BillingPeriodEndDate", time(month.end()));
    set("lineItem/UsageAccountId", account_);
    set("lineItem/LineItemType", type);
    set("lineItem/UsageStartDate", time(when.begin()));
    set("lineItem/UsageEndDate", time(when.end()));
    set("lineItem/ProductCode", service.code);
    set("lineItem/CurrencyCode", options_.bill.currency.text());
    set("lineItem/LineItemDescription", fmt::format("{} (generated)", description));
    set("lineItem/LegalEntity", kLegalEntity);
    set("product/productFamily", service.family);
    set("product/servicecode", service.code);
    set("pricing/currency", options_.bill.currency.text());
    if (second()) {
      set("bill/PayerAccountName", "Generated account");
      set("lineItem/UsageAccountName",
          of_cluster ? std::string_view(clusters[cluster].name) : "Generated account");
      product_ = {{"product_name", std::string(service.name)}};
      tags_ = {{"user_generated", "pennyweight"}};
    } else {
      set("product/ProductName", service.name);
      set("resourceTags/user:generated", "pennyweight");
    }
  }

  void product(std::string_view legacy, std::string_view key, std::string_view text) {
    if (second()) {
      product_.emplace_back(key, text);
    } else {
      set(legacy, text);
    }
  }
  void tag(std::string_view key, std::string_view text) {
    if (text.empty()) return;
    if (key == "team") team_ = text;
    if (second()) {
      tags_.emplace_back("user_" + snake(key), text);
    } else {
      set(fmt::format("resourceTags/user:{}", key), text);
    }
  }
  static std::string snake(std::string_view key) {
    return key == "Name" ? "name" : std::string(key);
  }

  void node_columns(const NodeUse& use, std::string_view usage_type, std::string_view operation) {
    const Node& node = *planned(use).node;
    const std::string& region = use.prices->region;
    set("lineItem/UsageType",
        fmt::format("{}{}:{}", usage_prefix(region), usage_type, node.instance_type));
    set("product/usagetype",
        fmt::format("{}{}:{}", usage_prefix(region), usage_type, node.instance_type));
    set("lineItem/Operation", operation);
    set("product/operation", operation);
    set("lineItem/AvailabilityZone", region + "a");
    set("lineItem/ResourceId", use.node->id);
    set("lineItem/UsageAmount", use.hours);
    set("product/regionCode", region);
    set("pricing/unit", "Hrs");
    product("product/region", "region", region);
    product("product/operatingSystem", "operating_system", "Linux");
    product("product/tenancy", "tenancy", "Shared");
    if (use.node->type != nullptr) {
      product("product/gpu", "gpu", fmt::format("{}", use.node->type->gpu_count));
      if (use.node->type->cpu_milli) {
        product("product/vcpu", "vcpu", fmt::format("{}", *use.node->type->cpu_milli / 1000));
      }
    }
    tag("team", use.node->team);
    tag("Name", node.name.text());
    tag("cluster", node.cluster.text());
  }
  // Spot rows leave the columns of the instance empty.
  void instance_columns(const NodeUse& use) {
    const std::string& type = planned(use).node->instance_type;
    set("product/instanceType", type);
    set("product/instanceFamily", "GPU instance");
    set("product/location", use.prices->region);
    set("product/sku", sku(type));
    set("pricing/RateId", fmt::format("{}", hash_of(type).low % 10'000'000'000));
    set("pricing/RateCode", sku(type) + ".JRTCKXETXF.6YS6EN2CT7");
  }
  static std::string sku(std::string_view of) {
    return ascii::upper_case(pennyweight::to_text(hash_of(of)).substr(0, 16));
  }

  void costs(Decimal rate, Decimal unblended) {
    set("lineItem/UnblendedRate", rate);
    set("lineItem/UnblendedCost", unblended);
    set("lineItem/BlendedRate", rate);
    set("lineItem/BlendedCost", unblended);
    if (net()) {
      set("lineItem/NetUnblendedRate", rate);
      set("lineItem/NetUnblendedCost", unblended);
    }
  }
  // Subtracts the program's discount, if the report has columns for it.
  Decimal discounted(Decimal rate, Decimal unblended) {
    costs(rate, unblended);
    if (!net()) return unblended;
    const Decimal rest = after_discount(unblended);
    const Decimal discount = minus(rest, unblended);
    set("lineItem/NetUnblendedRate", after_discount(rate));
    set("lineItem/NetUnblendedCost", rest);
    if (second()) {
      const std::array<TextPair, 1> discounts = {{{"edp_discount", java_double(discount)}}};
      set("discount", json_object(discounts));
      set("discount/BundledDiscount", Decimal());
    } else {
      set("discount/EdpDiscount", discount);
    }
    set("discount/TotalDiscount", discount);
    return rest;
  }

  void note(LineType type, const std::string& team, Decimal billed, Decimal effective) {
    truth_.add({.month = month_->text(),
                .invoice = row_invoice_.empty() ? invoice_ : row_invoice_,
                .account = account_,
                .service = service_,
                .team = team,
                .type = type},
               billed, effective);
  }
  Result<void> end(LineType type, std::size_t cluster, Decimal billed, Decimal effective) {
    note(type, team_, billed, effective);
    if (cluster < billed_.size()) billed_[cluster] = plus(billed_[cluster], billed);
    row_invoice_.clear();
    return end_row();
  }
  Result<void> end_row() {
    ++truth_.rows;
    if (second()) {
      set("product", json_object(product_));
      set("resource_tags", json_object(tags_));
      set("cost_category", "{}");
    }
    return sheet_.end_row();
  }

  // Usage at a price of its own, to which the program's discount applies.
  Result<void> end_usage(LineType type, std::size_t cluster, std::size_t service, Decimal rate,
                         Decimal unblended) {
    const Decimal billed = discounted(rate, unblended);
    discountable_[cluster][service] = plus(discountable_[cluster][service], unblended);
    return end(type, cluster, billed, billed);
  }

  Result<void> write_on_demand(const NodeUse& use) {
    const std::string& type = planned(use).node->instance_type;
    const Decimal rate = fleet_.rounded(use.prices->list);
    const Decimal cost = fleet_.cost(rate, use.hours);
    begin(
        "Usage", kCompute, use.cluster, use.when,
        fmt::format("${} per On Demand Linux {} Instance Hour", pennyweight::to_text(rate), type));
    node_columns(use, "BoxUsage", "RunInstances");
    instance_columns(use);
    set("pricing/term", "OnDemand");
    set("pricing/publicOnDemandRate", rate);
    set("pricing/publicOnDemandCost", cost);
    consider_refund(use, rate);
    return end_usage(LineType::kOnDemand, use.cluster, 0, rate, cost);
  }

  Result<void> write_spot(const NodeUse& use) {
    const std::string& type = planned(use).node->instance_type;
    const Decimal rate = fleet_.rounded(use.prices->effective);
    const Decimal cost = fleet_.cost(rate, use.hours);
    begin("Usage", kCompute, use.cluster, use.when,
          fmt::format("{} Linux/UNIX Spot Instance-hour in {} in VPC Zone #1", type,
                      use.prices->region));
    node_columns(use, "SpotUsage", "RunInstances:SV001");
    const Decimal list = fleet_.rounded(use.prices->list);
    set("pricing/publicOnDemandRate", list);
    set("pricing/publicOnDemandCost", fleet_.cost(list, use.hours));
    // The program's discounts do not apply to spot usage.
    costs(rate, cost);
    return end(LineType::kSpot, use.cluster, cost, cost);
  }

  Fees rates(const CommitmentMonth& commitment) const {
    // Four tenths are paid upfront.
    const Decimal upfront = per_mille_of(commitment.rate, 400, fleet_.digits());
    return {.recurring = minus(commitment.rate, upfront), .upfront = upfront};
  }
  Fees net_rates(const CommitmentMonth& commitment) const {
    const Fees gross = rates(commitment);
    if (!net()) return gross;
    return {.recurring = after_discount(gross.recurring), .upfront = after_discount(gross.upfront)};
  }

  Result<void> write_covered(const NodeUse& use) {
    const CommitmentMonth& commitment = commitments_[planned(use).commitment];
    const std::string& type = planned(use).node->instance_type;
    const Decimal list = fleet_.rounded(use.prices->list);
    const Decimal list_cost = fleet_.cost(list, use.hours);
    if (commitment.is_spend) {
      const Decimal effective = fleet_.cost(commitment.rate, use.hours);
      begin("SavingsPlanCoveredUsage", kCompute, use.cluster, use.when,
            fmt::format("${} per On Demand Linux {} Instance Hour", pennyweight::to_text(list),
                        type));
      node_columns(use, "BoxUsage", "RunInstances");
      instance_columns(use);
      costs(list, list_cost);
      set("pricing/term", "OnDemand");
      set("pricing/publicOnDemandRate", list);
      set("pricing/publicOnDemandCost", list_cost);
      savings_plan_columns(commitment);
      set("savingsPlan/SavingsPlanRate", commitment.rate);
      set("savingsPlan/SavingsPlanEffectiveCost", effective);
      if (net()) set("savingsPlan/NetSavingsPlanEffectiveCost", effective);
      SavingsSlice& slice = slice_[commitment.index];
      slice.list = plus(slice.list, list_cost);
      slice.used = plus(slice.used, effective);
      slice.hours = plus(slice.hours, use.hours);
      // AWS bills the list price and reverses it in the negation, which names neither resource nor
      // tags. FOCUS: the BilledCost of covered use is 0. So the team has only the effective cost,
      // and the list price appears next to its negation.
      note(LineType::kNegation, "", list_cost, Decimal());
      return end(LineType::kCommitmentUsed, use.cluster, Decimal(), effective);
    }
    const auto part = [&](const Fees& rate) {
      return Fees{.recurring = fleet_.cost(rate.recurring, use.hours),
                  .upfront = fleet_.cost(rate.upfront, use.hours)};
    };
    const Fees gross = part(rates(commitment));
    const Fees rest = part(net_rates(commitment));
    begin("DiscountedUsage", kCompute, use.cluster, use.when,
          fmt::format("Linux/UNIX (Amazon VPC), {} reserved instance applied", type));
    node_columns(use, "BoxUsage", "RunInstances");
    instance_columns(use);
    costs(Decimal(), Decimal());
    set("pricing/term", "Reserved");
    set("pricing/publicOnDemandRate", list);
    set("pricing/publicOnDemandCost", list_cost);
    reservation_columns(commitment);
    set("reservation/EffectiveCost", plus(gross.recurring, gross.upfront));
    set("reservation/RecurringFeeForUsage", gross.recurring);
    set("reservation/AmortizedUpfrontCostForUsage", gross.upfront);
    if (net()) {
      set("reservation/NetEffectiveCost", plus(rest.recurring, rest.upfront));
      set("reservation/NetRecurringFeeForUsage", rest.recurring);
      set("reservation/NetAmortizedUpfrontCostForUsage", rest.upfront);
    }
    Used& used = used_[commitment.index];
    const auto add = [](Fees& sum, const Fees& more) {
      sum = {.recurring = plus(sum.recurring, more.recurring),
             .upfront = plus(sum.upfront, more.upfront)};
    };
    add(used.gross, gross);
    add(used.net, rest);
    used.hours = plus(used.hours, use.hours);
    return end(LineType::kCommitmentUsed, use.cluster, Decimal(),
               plus(rest.recurring, rest.upfront));
  }

  std::string arn(const CommitmentMonth& commitment) const {
    const std::string& id = commitment.commitment->id;
    if (!commitment.is_spend) return id;
    return fmt::format("arn:aws:savingsplans::{}:savingsplan/{}", fleet_.bill().account_id,
                       id.substr(id.rfind('/') + 1));
  }
  std::size_t cluster_of(const CommitmentMonth& commitment) const {
    std::size_t cluster = 0;
    while (fleet_.bill().clusters[cluster].name != commitment.commitment->cluster) ++cluster;
    return cluster;
  }
  void reservation_columns(const CommitmentMonth& commitment) {
    set("reservation/ReservationARN", arn(commitment));
    set("reservation/SubscriptionId",
        fmt::format("{}", hash_of(commitment.commitment->id).low % 10'000'000'000));
    const Instant begin = fleet_.bill().period.begin();
    set("reservation/StartTime", time(begin));
    set("reservation/EndTime", time(begin + std::chrono::hours(kHoursOfYear)));
    set("pricing/LeaseContractLength", "1yr");
    set("pricing/OfferingClass", "standard");
    set("pricing/PurchaseOption", "Partial Upfront");
  }
  void savings_plan_columns(const CommitmentMonth& commitment) {
    set("savingsPlan/SavingsPlanARN", arn(commitment));
    set("savingsPlan/OfferingType", "ComputeSavingsPlans");
    set("savingsPlan/PaymentOption", "Partial Upfront");
    set("savingsPlan/PurchaseTerm", "1yr");
    const Instant begin = fleet_.bill().period.begin();
    set("savingsPlan/StartTime", time(begin));
    set("savingsPlan/EndTime", time(begin + std::chrono::hours(kHoursOfYear)));
  }

  // The upfront payment for a year, with an invoice of its own.
  Result<void> write_upfront(const CommitmentMonth& commitment) {
    const Decimal year = hours_of(static_cast<std::uint64_t>(kHoursOfYear) * 3600 *
                                  commitment.commitment->milli_instances);
    const Decimal value = fleet_.cost(rates(commitment).upfront, year);
    const Interval when(covered_->begin(), covered_->begin() + std::chrono::hours(1));
    const std::size_t cluster = cluster_of(commitment);
    const std::string& type = commitment.commitment->instance_type;
    Decimal billed = value;
    if (commitment.is_spend) {
      begin("SavingsPlanUpfrontFee", kSavingsPlans, cluster, when, "1 year Compute Savings Plan");
      savings_plan_columns(commitment);
      set("lineItem/UsageType", "ComputeSP:1yrPartialUpfront");
      costs(value, value);
    } else {
      begin("Fee", kCompute, cluster, when,
            fmt::format("Sign up charge for subscription: {}, planId: 2261",
                        hash_of(commitment.commitment->id).low % 10'000'000'000));
      reservation_columns(commitment);
      set("reservation/UpfrontValue", value);
      set("lineItem/UsageType", "HeavyUsage:" + type);
      billed = fleet_.cost(net_rates(commitment).upfront, year);
      costs(value, value);
      if (net()) {
        set("lineItem/NetUnblendedCost", billed);
        set("lineItem/NetUnblendedRate", billed);
        set("reservation/NetUpfrontValue", billed);
        set("discount/TotalDiscount", minus(billed, value));
      }
    }
    set("lineItem/UsageAmount", Decimal::from_units(1));
    set("bill/BillType", "Purchase");
    row_invoice_ = fmt::format("{}-P{}", invoice_, commitment.index + 1);
    set("bill/InvoiceId", row_invoice_);
    return end(LineType::kCommitmentUpfront, cluster, billed, Decimal());
  }

  // The negation of the usage that the plan covered, and the fee for the slice, including the part
  // that was not used.
  Result<void> write_savings_plan(const CommitmentMonth& commitment, const Interval& slice) {
    SavingsSlice& used = slice_[commitment.index];
    const std::size_t cluster = cluster_of(commitment);
    const std::string& type = commitment.commitment->instance_type;
    const std::string& region = commitment.prices->region;
    const std::string usage_type = fmt::format("{}BoxUsage:{}", usage_prefix(region), type);
    if (used.list != Decimal()) {
      begin("SavingsPlanNegation", kCompute, cluster, slice,
            fmt::format("SavingsPlanNegation used by AccountId : {} and UsageSku : {}",
                        fleet_.account(cluster), sku(type)));
      set("lineItem/UsageType", usage_type);
      set("lineItem/Operation", "RunInstances");
      set("lineItem/UsageAmount", used.hours);
      set("product/sku", sku(type));
      set("product/instanceType", type);
      costs(-fleet_.rounded(commitment.prices->list), -used.list);
      savings_plan_columns(commitment);
      note(LineType::kNegation, "", -used.list, Decimal());
      TRY(end_row());
    }
    const Decimal hours = committed_hours(slice, *commitment.commitment);
    const Decimal recurring = fleet_.cost(rates(commitment).recurring, hours);
    const Decimal upfront = fleet_.cost(rates(commitment).upfront, hours);
    const Decimal total = plus(recurring, upfront);
    const Decimal unused = minus(total, used.used);
    CHECK(!unused.is_negative(), "more is committed than the reserved nodes are");
    begin("SavingsPlanRecurringFee", kSavingsPlans, cluster, slice,
          "1 year Partial Upfront Compute Savings Plan");
    set("lineItem/UsageType", "ComputeSP:1yrPartialUpfront");
    set("lineItem/UsageAmount", Decimal::from_units(1));
    costs(recurring, recurring);
    savings_plan_columns(commitment);
    set("savingsPlan/TotalCommitmentToDate", total);
    set("savingsPlan/UsedCommitment", used.used);
    set("savingsPlan/RecurringCommitmentForBillingPeriod", recurring);
    set("savingsPlan/AmortizedUpfrontCommitmentForBillingPeriod", upfront);
    if (net()) {
      set("savingsPlan/NetRecurringCommitmentForBillingPeriod", recurring);
      set("savingsPlan/NetAmortizedUpfrontCommitmentForBillingPeriod", upfront);
    }
    settle(commitment, {.recurring = recurring, .upfront = upfront}, used.used);
    used = {};
    return end(LineType::kCommitmentFee, cluster, recurring, unused);
  }

  void settle(const CommitmentMonth& commitment, const Fees& paid, Decimal used) {
    CommitmentTruth& there = truth_.commitments[arn(commitment)];
    there.recurring = plus(there.recurring, paid.recurring);
    there.amortised_upfront = plus(there.amortised_upfront, paid.upfront);
    there.used = plus(there.used, used);
    there.unused = plus(there.unused, minus(plus(paid.recurring, paid.upfront), used));
  }

  Result<void> write_reservation_fee(const CommitmentMonth& commitment) {
    const std::size_t cluster = cluster_of(commitment);
    const std::string& type = commitment.commitment->instance_type;
    const auto whole = [&](const Fees& rate) {
      return Fees{.recurring = fleet_.cost(rate.recurring, commitment.committed),
                  .upfront = fleet_.cost(rate.upfront, commitment.committed)};
    };
    const Fees paid = whole(rates(commitment));
    const Fees rest = whole(net_rates(commitment));
    const Used& used = used_[commitment.index];
    begin("RIFee", kCompute, cluster, *covered_,
          fmt::format("USD {} hourly fee per Linux/UNIX (Amazon VPC), {} instance",
                      pennyweight::to_text(rates(commitment).recurring), type));
    set("lineItem/UsageType",
        fmt::format("{}HeavyUsage:{}", usage_prefix(commitment.prices->region), type));
    set("lineItem/Operation", "RunInstances");
    set("lineItem/UsageAmount", commitment.committed);
    set("product/instanceType", type);
    set("product/regionCode", commitment.prices->region);
    costs(rates(commitment).recurring, paid.recurring);
    reservation_columns(commitment);
    set("reservation/AmortizedUpfrontFeeForBillingPeriod", paid.upfront);
    set("reservation/UnusedQuantity", minus(commitment.committed, used.hours));
    set("reservation/UnusedRecurringFee", minus(paid.recurring, used.gross.recurring));
    set("reservation/UnusedAmortizedUpfrontFeeForBillingPeriod",
        minus(paid.upfront, used.gross.upfront));
    set("reservation/NumberOfReservations", "1");
    set("reservation/TotalReservedUnits", commitment.committed);
    set("reservation/UnitsPerReservation", commitment.committed);
    if (net()) {
      set("lineItem/NetUnblendedCost", rest.recurring);
      set("lineItem/NetUnblendedRate", net_rates(commitment).recurring);
      set("discount/TotalDiscount", minus(rest.recurring, paid.recurring));
      set("reservation/NetAmortizedUpfrontFeeForBillingPeriod", rest.upfront);
      set("reservation/NetUnusedRecurringFee", minus(rest.recurring, used.net.recurring));
      set("reservation/NetUnusedAmortizedUpfrontFeeForBillingPeriod",
          minus(rest.upfront, used.net.upfront));
    }
    const Decimal used_cost = plus(used.net.recurring, used.net.upfront);
    settle(commitment, rest, used_cost);
    return end(LineType::kCommitmentFee, cluster, rest.recurring,
               minus(plus(rest.recurring, rest.upfront), used_cost));
  }

  // A pod that had half of the instance: its cost is in columns of its own, and the row itself
  // costs nothing.
  // costs nothing.
  Result<void> write_split(const NodeUse& use) {
    struct SplitComponent {
      std::string_view usage;
      std::uint32_t per_mille;
    };
    constexpr SplitComponent kComponents[] = {
        {"vCPU-Hours", 60}, {"GB-Hours", 40}, {"Accelerator-Hours", 400}};
    const Decimal cost = fleet_.cost(use.prices->effective, use.hours);
    for (const SplitComponent& component : kComponents) {
      begin("Usage", {"AmazonEKS", "Amazon Elastic Kubernetes Service", ""}, use.cluster, use.when,
            "split cost of a pod");
      const std::string& region = use.prices->region;
      set("lineItem/UsageType", fmt::format("{}EKS-EC2-{}", usage_prefix(region), component.usage));
      set("lineItem/Operation", "EKSPod-EC2");
      set("lineItem/ResourceId",
          fmt::format("arn:aws:eks:{}:{}:pod/{}/training/worker-0/{}", region, account_,
                      planned(use).node->cluster.text(), use.node->id));
      set("lineItem/UsageAmount", use.hours);
      costs(Decimal(), Decimal());
      set("splitLineItem/ParentResourceId", use.node->id);
      set("splitLineItem/SplitUsage", use.hours);
      set("splitLineItem/ReservedUsage", use.hours);
      set("splitLineItem/SplitUsageRatio", per_mille_of(Decimal::from_units(1), 500, 4));
      set("splitLineItem/SplitCost", per_mille_of(cost, component.per_mille, fleet_.digits()));
      set("splitLineItem/UnusedCost", per_mille_of(cost, component.per_mille, fleet_.digits()));
      tag("team", use.node->team);
      ++truth_.repeating_rows;
      TRY(end_row());
    }
    return {};
  }

  // Volumes, a bucket and internet traffic of a cluster's nodes.
  Result<void> write_cluster(std::size_t cluster, const Interval& slice, Decimal hours) {
    const BilledCluster& billed = fleet_.bill().clusters[cluster];
    const std::string prefix = usage_prefix(billed.region.empty() ? "us-east-1" : billed.region);
    Random random(fleet_.seed(), fmt::format("{}\n{}", billed.name, unix_ms(slice.begin())));
    const std::string team = team_of_cluster(cluster);
    struct AwsService {
      const Service& service;
      LineType type;
      std::size_t discounted_as;
      std::string_view usage;
      std::string_view operation;
      std::string_view unit;
      Decimal price;
      std::uint64_t per_mille_hour;  // of the unit, per node hour
      std::string resource;
    };
    const std::string volume = "vol-" + pennyweight::to_text(hash_of(billed.name)).substr(0, 17);
    const AwsService services[] = {
        {kVolumes, LineType::kStorage, 0, "EBS:VolumeUsage.gp3", "CreateVolume-Gp3", "GB-Mo",
         kVolumePerGbMonth, random.between(650, 700), volume},
        {kBuckets, LineType::kStorage, 1, "TimedStorage-ByteHrs", "StandardStorage", "GB-Mo",
         kBucketPerGbMonth, random.between(1, 2000), "generated-" + billed.name},
        {kTransfer, LineType::kNetwork, 0, "DataTransfer-Out-Bytes", "RunInstances", "GB",
         kTransferPerGb, random.between(50, 250), node_of_cluster(cluster)},
    };
    for (const AwsService& service : services) {
      const Decimal quantity =
          fleet_.cost(hours, Decimal::from_ticks(static_cast<Int128>(service.per_mille_hour) *
                                                 (Decimal::kTicksPerUnit / 1000)));
      begin("Usage", service.service, cluster, slice,
            fmt::format("${} per {} of {}", pennyweight::to_text(service.price), service.unit,
                        service.usage));
      set("lineItem/UsageType", prefix + std::string(service.usage));
      set("product/usagetype", prefix + std::string(service.usage));
      set("lineItem/Operation", service.operation);
      set("lineItem/ResourceId", service.resource);
      set("lineItem/UsageAmount", quantity);
      set("product/regionCode", billed.region);
      set("product/sku", sku(service.usage));
      set("pricing/unit", service.unit);
      set("pricing/term", "OnDemand");
      set("pricing/publicOnDemandRate", service.price);
      const Decimal cost = fleet_.cost(service.price, quantity);
      set("pricing/publicOnDemandCost", cost);
      tag("team", team);
      tag("cluster", billed.name);
      TRY(end_usage(service.type, cluster, service.discounted_as, service.price, cost));
    }
    return {};
  }

  const BilledNode& first_of(std::size_t cluster) const {
    const std::string& name = fleet_.bill().clusters[cluster].name;
    std::size_t i = 0;
    while (fleet_.nodes()[i].planned->node->cluster.text() != name) ++i;
    return fleet_.nodes()[i];
  }
  std::string team_of_cluster(std::size_t cluster) const { return first_of(cluster).team; }
  std::string node_of_cluster(std::size_t cluster) const { return first_of(cluster).id; }

  // Half of one on-demand charge is refunded: the one with the smallest draw of the month.
  void consider_refund(const NodeUse& use, Decimal price) {
    const auto begin = static_cast<std::uint64_t>(unix_ms(use.when.begin()));
    const std::uint64_t draw = Random(planned(use).key ^ begin).next();
    if (refund_ && refund_->draw <= draw) return;
    refund_ = Refundable{.draw = draw,
                         .node = use.node,
                         .cluster = use.cluster,
                         .when = use.when,
                         .hours = use.hours,
                         .price = price};
  }
  Result<void> write_refund() {
    if (!refund_) return {};
    const Refundable refund = *refund_;
    const Decimal hours = per_mille_of(refund.hours, 500, kQuantityDigits);
    const Decimal back = -fleet_.cost(refund.price, hours);
    if (back == Decimal()) return {};
    const std::string& type = refund.node->planned->node->instance_type;
    begin("Refund", kCompute, refund.cluster, refund.when,
          fmt::format("Refund of an outage of {}", refund.node->id));
    set("bill/BillType", "Refund");
    set("lineItem/UsageType", "BoxUsage:" + type);
    set("lineItem/Operation", "RunInstances");
    set("lineItem/ResourceId", refund.node->id);
    set("lineItem/UsageAmount", Decimal::from_units(1));
    tag("team", refund.node->team);
    costs(back, back);
    return end(LineType::kRefund, refund.cluster, back, back);
  }

  // By account and service, as in the program's lines.
  Result<void> write_discounts() {
    for (std::size_t cluster = 0; cluster < discountable_.size(); ++cluster) {
      for (std::size_t i = 0; i < discountable_[cluster].size(); ++i) {
        const Decimal discount =
            -per_mille_of(discountable_[cluster][i], options_.bill.negotiated_discount_per_mille,
                          fleet_.digits());
        if (discount == Decimal()) continue;
        begin("EdpDiscount", i == 0 ? kCompute : kBuckets, cluster, *covered_,
              "Enterprise Discount Program discount");
        set("lineItem/UsageAmount", Decimal::from_units(1));
        costs(discount, discount);
        TRY(end(LineType::kDiscount, cluster, discount, discount));
      }
    }
    return {};
  }

  std::size_t payer() const { return billed_.size(); }

  Result<void> write_support() {
    Decimal spent;
    for (const Decimal& amount : billed_) spent = plus(spent, amount);
    const Decimal fee = per_mille_of(spent, options_.bill.support_per_mille, 2);
    if (fee <= Decimal()) return {};
    begin("Fee", kSupport, payer(), *covered_, "AWS Support (Business)");
    set("lineItem/UsageType", "Dollar");
    set("lineItem/UsageAmount", Decimal::from_units(1));
    costs(fee, fee);
    return end(LineType::kSupport, payer(), fee, fee);
  }

  Result<void> write_tax() {
    for (std::size_t cluster = 0; cluster < billed_.size(); ++cluster) {
      const Decimal tax = per_mille_of(billed_[cluster], options_.bill.tax_per_mille, 2);
      if (tax <= Decimal()) continue;
      begin("Tax", kCompute, cluster, *covered_, "Tax for product code AmazonEC2");
      set("lineItem/UsageAmount", Decimal::from_units(1));
      set("lineItem/TaxType", "USSalesTax");
      costs(Decimal(), tax);
      TRY(end(LineType::kTax, cluster, tax, tax));
    }
    return {};
  }

  Result<void> write_credit() {
    const Random seeded(fleet_.seed(), "credit " + month_->text());
    Random random = seeded;
    const auto per_mille = static_cast<std::uint32_t>(random.between(5, 15));
    const Decimal credit = -per_mille_of(billed_[0], per_mille, 2);
    if (credit >= Decimal()) return {};
    begin("Credit", kCompute, 0, *covered_, "Promotional credit");
    set("lineItem/UsageAmount", Decimal::from_units(1));
    costs(Decimal(), credit);
    return end(LineType::kCredit, 0, credit, credit);
  }

  const FleetBill& fleet_;
  const NativeBillOptions& options_;
  Sheet sheet_;
  BillTruth& truth_;
  std::uint64_t rows_ = 0;

  // State of the month being written.
  std::optional<BillingPeriod> month_;
  std::optional<Interval> covered_;
  std::string invoice_;
  std::vector<CommitmentMonth> commitments_;
  std::vector<Used> used_;
  std::vector<SavingsSlice> slice_;                   // of the slice being written
  std::vector<std::array<Decimal, 2>> discountable_;  // by cluster: compute, buckets
  std::vector<Decimal> billed_;                       // by cluster
  std::optional<Refundable> refund_;

  // State of the row being written.
  std::string account_;
  std::string service_;
  std::string team_;
  std::string row_invoice_;  // if it differs from the month's
  std::vector<TextPair> product_;
  std::vector<TextPair> tags_;
};

}  // namespace

Result<void> write_aws_cur(const FleetBill& fleet, const TextSink& sink, BillTruth& truth) {
  AwsCur form(fleet, sink, truth);
  TRY(walk(fleet, TimeZone::utc(), form));
  return form.finish();
}

}  // namespace pennyweight::bills
