// The columns of every stored record, listed once.
//
// Table<Record>::list() names each column with its field, and calls a method of its argument for
// the kind of value: io.text(name, field), io.instant(name, field), … Each store has visitors that
// take such calls: to define the table, to write records, and to read them. So a definition, an
// INSERT and a SELECT can't disagree, and a new column is added here alone.
//
// A field is a pointer to a member, or anything else that std::invoke turns a record into a
// reference with (member_of). Stores put columns of their own before or after the list: the
// session or the import that wrote the row. Where such a column stands in the middle, the list is
// offered in two parts.
//
// Column names are those an analyst would look for; money is DECIMAL(38,18), times are UTC. Names
// and order are part of the format of ledgers, which never changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/charge.h"
#include "ledger/closing.h"
#include "ledger/correction.h"
#include "ledger/holding.h"
#include "ledger/issued_invoice.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/outcome.h"
#include "ledger/posting.h"
#include "ledger/rejected_row.h"
#include "ledger/run.h"
#include "ledger/store.h"
#include "ledger/usage.h"
#include "ledger/work.h"

namespace pennyweight {

template <class Record>
struct Table;

// A member of a member: member_of(&RunRecord::run, &Run::policy).
constexpr auto member_of(auto... members) {
  return [members...](auto& record) -> auto& { return (record.*....*members); };
}

template <>
struct Table<Charge> {
  static constexpr const char* kName = "charges";
  static constexpr const char* kId = "charge_id";
  static constexpr const char* kFact = "charge";
  static Charge blank() {
    const Interval none(Instant(), Instant(std::chrono::milliseconds(1)));
    return Charge(none, none, Costs::zero(kUsd));
  }
  static void list(auto& io) {
    io.text("billing_account_id", &Charge::billing_account_id);
    io.text("billing_account_name", &Charge::billing_account_name);
    io.text("sub_account_id", &Charge::sub_account_id);
    io.text("sub_account_name", &Charge::sub_account_name);
    io.interval("billing_period_start", "billing_period_end", &Charge::billing_period);
    io.interval("charge_period_start", "charge_period_end", &Charge::charge_period);
    io.text("invoice_id", &Charge::invoice_id);
    io.text("invoice_issuer_name", &Charge::invoice_issuer_name);
    io.text("service_provider_name", &Charge::service_provider_name);
    io.choice("charge_category", &Charge::charge_category, parse_charge_category);
    io.boolean("is_correction", &Charge::is_correction);
    io.optional_choice("charge_frequency", &Charge::charge_frequency, parse_charge_frequency);
    io.text("charge_description", &Charge::charge_description);
    io.text("service_category", &Charge::service_category);
    io.text("service_subcategory", &Charge::service_subcategory);
    io.text("service_name", &Charge::service_name);
    io.text("region_id", &Charge::region_id);
    io.text("availability_zone", &Charge::availability_zone);
    io.text("resource_id", &Charge::resource_id);
    io.text("resource_name", &Charge::resource_name);
    io.text("resource_type", &Charge::resource_type);
    io.text("sku_id", &Charge::sku_id);
    io.text("sku_meter", &Charge::sku_meter);
    io.text("sku_price_id", &Charge::sku_price_id);
    io.text("sku_price_details", &Charge::sku_price_details);
    io.text("instance_type", &Charge::instance_type);
    io.labels("tags", &Charge::tags);
    io.costs(&Charge::costs);
    io.optional_choice("pricing_category", &Charge::pricing_category, parse_pricing_category);
    io.optional_decimal("pricing_quantity", &Charge::pricing_quantity);
    io.text("pricing_unit", &Charge::pricing_unit);
    io.optional_decimal("list_unit_price", &Charge::list_unit_price);
    io.optional_decimal("contracted_unit_price", &Charge::contracted_unit_price);
    io.optional_decimal("consumed_quantity", &Charge::consumed_quantity);
    io.text("consumed_unit", &Charge::consumed_unit);
    io.text("commitment_discount_id", &Charge::commitment_discount_id);
    io.text("commitment_discount_category", &Charge::commitment_discount_category);
    io.text("commitment_discount_type", &Charge::commitment_discount_type);
    io.optional_choice("commitment_discount_status", &Charge::commitment_discount_status,
                       parse_used_or_unused);
    io.text("capacity_reservation_id", &Charge::capacity_reservation_id);
    io.optional_choice("capacity_reservation_status", &Charge::capacity_reservation_status,
                       parse_used_or_unused);
    io.text("cluster", &Charge::cluster);
    io.text("pool", &Charge::pool);
    io.text("other_columns", &Charge::other_columns);
  }
};

template <>
struct Table<Holding> {
  static constexpr const char* kName = "holdings";
  static constexpr const char* kId = "holding_id";
  static constexpr const char* kFact = "holding";
  static Holding blank() {
    return Holding(ClusterId(""), WorkloadId(""),
                   Interval(Instant(), Instant(std::chrono::milliseconds(1))), OnGpus{});
  }
  static void list(auto& io) {
    io.id("cluster", &Holding::cluster);
    io.id("workload", &Holding::workload);
    io.text("attempt", &Holding::attempt);
    io.interval("held_from", "held_to", &Holding::held);
    io.boolean("ended", &Holding::ended);
    io.count("suspended_ms", &Holding::suspended_ms);
    io.spelled("device", &Holding::device, parse_device);
    io.text("gpu_model", &Holding::gpu_model);
    io.spelled("placement", &Holding::placement, parse_placement);
    io.optional_count("cpu_milli", &Holding::cpu_milli);
    io.optional_count("memory_bytes", &Holding::memory_bytes);
    io.text("claim", &Holding::claim);
    io.text("gpu_group", &Holding::gpu_group);
    io.boolean("is_reservation", &Holding::is_reservation);
    io.labels("labels", &Holding::labels);
  }
};

template <>
struct Table<Node> {
  static constexpr const char* kName = "nodes";
  static constexpr const char* kId = "node_id";
  static constexpr const char* kFact = "node";
  static Node blank() {
    return {.cluster = ClusterId(""),
            .name = NodeId(""),
            .provider_id = {},
            .instance_type = {},
            .region = {},
            .pool = PoolId(""),
            .gpu_model = {},
            .cpu_milli = {},
            .memory_bytes = {},
            .from = {},
            .to = {},
            .id = {},
            .source = {}};
  }
  static void list(auto& io) {
    io.id("cluster", &Node::cluster);
    io.id("name", &Node::name);
    io.text("provider_id", &Node::provider_id);
    io.text("instance_type", &Node::instance_type);
    io.text("region", &Node::region);
    io.id("pool", &Node::pool);
    io.text("gpu_model", &Node::gpu_model);
    io.small_count("gpu_count", &Node::gpu_count);
    io.small_count("shard_count", &Node::shard_count);
    io.small_count("mps_count", &Node::mps_count);
    io.choice("sharing", &Node::sharing, parse_gpu_sharing);
    io.small_count("gpu_replicas", &Node::gpu_replicas);
    io.boolean("replicas_renamed", &Node::replicas_renamed);
    io.optional_count("cpu_milli", &Node::cpu_milli);
    io.optional_count("memory_bytes", &Node::memory_bytes);
    io.instant("valid_from", &Node::from);
    io.optional_instant("valid_to", &Node::to);
  }
};

template <>
struct Table<Gpu> {
  static constexpr const char* kName = "gpus";
  static constexpr const char* kId = "gpu_id";
  static constexpr const char* kFact = "GPU";
  static Gpu blank() {
    return {.cluster = ClusterId(""),
            .node = NodeId(""),
            .uuid = GpuId(""),
            .model = {},
            .memory_bytes = {},
            .mig_instances = {},
            .from = {},
            .to = {},
            .id = {},
            .source = {}};
  }
  static void list(auto& io) {
    io.id("cluster", &Gpu::cluster);
    io.id("node", &Gpu::node);
    io.id("uuid", &Gpu::uuid);
    io.small_count("gpu_index", &Gpu::index);
    io.text("model", &Gpu::model);
    io.optional_count("memory_bytes", &Gpu::memory_bytes);
    io.mig_instances("mig_instances", &Gpu::mig_instances);
    io.instant("valid_from", &Gpu::from);
    io.optional_instant("valid_to", &Gpu::to);
  }
};

template <>
struct Table<Usage> {
  static constexpr const char* kName = "usages";
  static constexpr const char* kId = "usage_id";
  static constexpr const char* kFact = "usage";
  static Usage blank() {
    return {.cluster = ClusterId(""),
            .node = NodeId(""),
            .gpu = GpuId(""),
            .mig_instance = {},
            .mig_profile = {},
            .model = {},
            .at = {},
            .gpu_util_ppm = {},
            .engine_active_ppm = {},
            .sm_active_ppm = {},
            .memory_used_bytes = {},
            .memory_total_bytes = {},
            .power_milliwatts = {},
            .energy_millijoules = {},
            .workload = WorkloadId(""),
            .id = {},
            .source = {}};
  }
  static void list(auto& io) {
    io.id("cluster", &Usage::cluster);
    io.id("node", &Usage::node);
    io.id("gpu", &Usage::gpu);
    io.text("mig_instance", &Usage::mig_instance);
    io.text("mig_profile", &Usage::mig_profile);
    io.text("model", &Usage::model);
    io.instant("observed_at", &Usage::at);
    list_numbers(io, 0, kNumbersBeforeWorkload);
    io.id("workload", &Usage::workload);
    io.boolean("of_workload", &Usage::of_workload);
    io.small_count("span_ms", &Usage::span_ms);
    io.count("part", &Usage::part);
    list_numbers(io, kNumbersBeforeWorkload, kUsageNumbers.size());
  }
  // What a series of samples has in common, in the order by which samples are handed over.
  static void list_series(auto& io) {
    io.id("gpu", &Usage::gpu);
    io.text("mig_instance", &Usage::mig_instance);
    io.id("workload", &Usage::workload);
    io.id("node", &Usage::node);
    io.text("mig_profile", &Usage::mig_profile);
    io.text("model", &Usage::model);
    io.boolean("of_workload", &Usage::of_workload);
  }
  // What tells the samples of a series apart.
  static void list_sample(auto& io) {
    io.instant("observed_at", &Usage::at);
    io.small_count("span_ms", &Usage::span_ms);
    io.count("part", &Usage::part);
  }
  // The numbers that a scan hands over.
  static std::vector<UsageNumber> numbers(UsageDetail detail) {
    std::vector<UsageNumber> wanted;
    for (const UsageNumber& number : kUsageNumbers) {
      if (detail == UsageDetail::kAll || number.decides_shares) wanted.push_back(number);
    }
    return wanted;
  }

 private:
  // Numbers of later versions stand behind the columns of the first.
  static constexpr std::size_t kNumbersBeforeWorkload = 7;
  static void list_numbers(auto& io, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      io.optional_count(kUsageNumbers[i].column, kUsageNumbers[i].field);
    }
  }
};

template <>
struct Table<Outcome> {
  static constexpr const char* kName = "outcomes";
  static constexpr const char* kId = "outcome_id";
  static constexpr const char* kFact = "outcome";
  static Outcome blank() {
    return Outcome(ClusterId(""), WorkloadId(""), "",
                   Interval(Instant(), Instant(std::chrono::milliseconds(1))), 0);
  }
  static void list(auto& io) {
    io.id("cluster", &Outcome::cluster);
    io.id("workload", &Outcome::workload);
    io.text("measure", &Outcome::measure);
    io.labels("labels", &Outcome::labels);
    io.interval("counted_from", "counted_to", &Outcome::during);
    io.count("counted", &Outcome::count);
    io.count("part", &Outcome::part);
  }
};

template <>
struct Table<Outage> {
  static constexpr const char* kName = "outages";
  static constexpr const char* kId = "outage_id";
  static constexpr const char* kFact = "outage";
  static Outage blank() {
    return Outage(ClusterId(""), NodeId(""),
                  Interval(Instant(), Instant(std::chrono::milliseconds(1))));
  }
  static void list(auto& io) {
    io.id("cluster", &Outage::cluster);
    io.id("node", &Outage::node);
    io.id("gpu", &Outage::gpu);
    io.interval("out_from", "out_to", &Outage::during);
    io.text("reason", &Outage::reason);
  }
};

template <>
struct Table<Correction> {
  static constexpr const char* kName = "corrections";
  static constexpr const char* kId = "correction_id";
  static constexpr const char* kFact = "correction";
  static Correction blank() {
    return Correction(ClusterId(""), "", Interval(Instant(), Instant(std::chrono::milliseconds(1))),
                      Money::zero(kUsd));
  }
  static void list(auto& io) {
    io.id("cluster", &Correction::cluster);
    io.text("name", &Correction::name);
    io.interval("booked_from", "booked_to", &Correction::during);
    io.labels("moved_from", &Correction::from);
    io.labels("moved_to", &Correction::to);
    io.money("currency", "amount", &Correction::amount);
    io.text("reason", &Correction::reason);
    io.text("author", &Correction::author);
  }
};

template <>
struct Table<Posting> {
  static constexpr const char* kName = "postings";
  static Posting blank() {
    return {.charge = {},
            .kind = PostingKind::kShared,
            .component = Component::kWhole,
            .interval = Interval(Instant(), Instant(std::chrono::milliseconds(1))),
            .day = {},
            .node = NodeId(""),
            .gpu = GpuId(""),
            .workload = WorkloadId(""),
            .holding = {},
            .weight = 0,
            .costs = Costs::zero(kUsd),
            .gpu_time = {},
            .memory_time = {},
            .observed_time = {}};
  }
  static void list(auto& io) {
    io.fact_id("charge_id", &Posting::charge);
    io.choice("kind", &Posting::kind, parse_posting_kind);
    io.choice("component", &Posting::component, parse_component);
    io.interval("posted_from", "posted_to", &Posting::interval);
    io.date("day", &Posting::day);
    io.id("node", &Posting::node);
    io.id("gpu", &Posting::gpu);
    io.id("workload", &Posting::workload);
    io.optional_fact_id("holding_id", &Posting::holding);
    io.wide("weight", &Posting::weight);
    io.costs(&Posting::costs);
    io.quantity("gpu_time", &Posting::gpu_time);
    io.quantity("memory_time", &Posting::memory_time);
    io.quantity("observed_time", &Posting::observed_time);
  }
};

// ---- records beside facts and postings

template <>
struct Table<RunRecord> {
  static constexpr const char* kName = "runs";
  static RunRecord blank() {
    return {.run = {.scope = {ClusterId(""), ""},
                    .policy = {},
                    .policy_version = {},
                    .catalog_version = {},
                    .time_zone = {},
                    .program_version = {},
                    .at = {},
                    .postings_digest = {}},
            .dimensions_digest = {},
            .postings_sum = {}};
  }
  static void list_scope(auto& io) {
    io.id("cluster", member_of(&RunRecord::run, &Run::scope, &Scope::cluster));
    io.text("month", member_of(&RunRecord::run, &Run::scope, &Scope::month));
  }
  static void list_rest(auto& io) {
    io.text("policy", member_of(&RunRecord::run, &Run::policy));
    io.hash("policy_version", member_of(&RunRecord::run, &Run::policy_version));
    io.hash("catalog_version", member_of(&RunRecord::run, &Run::catalog_version));
    io.text("time_zone", member_of(&RunRecord::run, &Run::time_zone));
    io.text("program_version", member_of(&RunRecord::run, &Run::program_version));
    io.instant("made_at", member_of(&RunRecord::run, &Run::at));
    io.count("postings", member_of(&RunRecord::run, &Run::postings));
    io.hash("postings_digest", member_of(&RunRecord::run, &Run::postings_digest));
    io.hash("dimensions_digest", &RunRecord::dimensions_digest);
    io.hash("postings_sum", &RunRecord::postings_sum);
  }
  static void list(auto& io) {
    list_scope(io);
    list_rest(io);
  }
};

// A dimension of a workload in a run. A workload without dimensions has one row with an empty one.
struct DimensionRecord {
  std::string workload, dimension, value;
};

template <>
struct Table<DimensionRecord> {
  static constexpr const char* kName = "run_dimensions";
  static DimensionRecord blank() { return {}; }
  static void list(auto& io) {
    io.text("workload", &DimensionRecord::workload);
    io.text("dimension", &DimensionRecord::dimension);
    io.text("value", &DimensionRecord::value);
  }
};

// DuckDB's file has the outcomes last, since they came with a later version.
template <>
struct Table<ImportRecord> {
  static constexpr const char* kName = "imports";
  static ImportRecord blank() { return {}; }
  static void list_source(auto& io) {
    io.text("format", member_of(&ImportRecord::source, &ImportSource::format));
    io.text("name", member_of(&ImportRecord::source, &ImportSource::name));
    io.hash("file_hash", member_of(&ImportRecord::source, &ImportSource::file_hash));
    io.instant("imported_at", member_of(&ImportRecord::source, &ImportSource::at));
    io.count("charges", &ImportRecord::charges);
    io.count("holdings", &ImportRecord::holdings);
    io.count("nodes", &ImportRecord::nodes);
    io.count("gpus", &ImportRecord::gpus);
    io.count("usages", &ImportRecord::usages);
    io.count("outages", &ImportRecord::outages);
    io.count("corrections", &ImportRecord::corrections);
  }
  static void list_outcomes(auto& io) { io.count("outcomes", &ImportRecord::outcomes); }
  static void list_statement(auto& io) { io.text("statement", &ImportRecord::statement); }
  static void list_rest(auto& io) {
    io.count("rejected", &ImportRecord::rejected);
    io.choice("style", member_of(&ImportRecord::source, &ImportSource::style),
              parse_delivery_style);
    io.text("reason", member_of(&ImportRecord::source, &ImportSource::reason));
    io.count("removed", member_of(&ImportRecord::restated, &Restated::removed));
    io.count("reversed", member_of(&ImportRecord::restated, &Restated::reversed));
    io.count("late", member_of(&ImportRecord::restated, &Restated::late));
  }
  static void list(auto& io) {
    list_source(io);
    list_outcomes(io);
    list_rest(io);
    list_statement(io);
  }
};

template <>
struct Table<RejectedRow> {
  static constexpr const char* kName = "rejected_rows";
  static RejectedRow blank() { return {}; }
  static void list(auto& io) {
    io.text("file", &RejectedRow::file);
    io.count("line", &RejectedRow::line);
    io.text("column_name", &RejectedRow::column);
    io.text("reason", &RejectedRow::reason);
    io.text("row_text", &RejectedRow::text);
  }
};

// A charge that a delivery took back: by a reversal, or, where there is none, by leaving the
// accounts of its open month.
struct RetirementRecord {
  FactId charge;
  std::optional<FactId> reversal;
};

template <>
struct Table<RetirementRecord> {
  static constexpr const char* kName = "retired_charges";
  static RetirementRecord blank() { return {}; }
  static void list_charge(auto& io) { io.fact_id("charge_id", &RetirementRecord::charge); }
  static void list_reversal(auto& io) {
    io.optional_fact_id("reversal", &RetirementRecord::reversal);
  }
  static void list(auto& io) {
    list_charge(io);
    list_reversal(io);
  }
};

template <>
struct Table<Closing> {
  static constexpr const char* kName = "closings";
  static Closing blank() { return {}; }
  static void list(auto& io) {
    io.text("month", &Closing::month);
    io.instant("closed_at", &Closing::at);
    io.text("closed_by", &Closing::by);
    io.text("reason", &Closing::reason);
    io.count("last_import", &Closing::last_import);
    io.count("lines", &Closing::lines);
    io.count("runs", &Closing::runs);
    io.hash("digest", &Closing::digest);
  }
};

template <>
struct Table<IssuedInvoice> {
  static constexpr const char* kName = "invoices";
  static IssuedInvoice blank() { return {}; }
  static void list(auto& io) {
    io.text("number", &IssuedInvoice::number);
    io.text("month", &IssuedInvoice::month);
    io.text("customer", &IssuedInvoice::customer);
    io.instant("issued_at", &IssuedInvoice::issued_at);
    io.text("document", &IssuedInvoice::document);
    io.hash("digest", &IssuedInvoice::digest);
    io.text("refers_to", &IssuedInvoice::refers_to);
  }
};

template <>
struct Table<Invalidation> {
  static constexpr const char* kName = "import_touches";
  static Invalidation blank() { return {InvalidationKind::kCharges, ClusterId(""), {}}; }
  static void list(auto& io) {
    io.choice("touched", &Invalidation::kind, parse_invalidation_kind);
    io.id("cluster", &Invalidation::cluster);
    io.date("day", &Invalidation::day);
  }
};

template <>
struct Table<WorkClaim> {
  static constexpr const char* kName = "work_claims";
  static WorkClaim blank() { return {}; }
  // `to_claim`: the members that lead from a record to its claim.
  static void list(auto& io, auto... to_claim) {
    io.count("number", member_of(to_claim..., &WorkClaim::number));
    io.id("cluster", member_of(to_claim..., &WorkClaim::scope, &Scope::cluster));
    io.text("month", member_of(to_claim..., &WorkClaim::scope, &Scope::month));
    io.text("worker", member_of(to_claim..., &WorkClaim::worker));
    io.instant("claimed_at", member_of(to_claim..., &WorkClaim::at));
    io.milliseconds("lease_ms", member_of(to_claim..., &WorkClaim::lease));
    io.count("run", member_of(to_claim..., &WorkClaim::run));
  }
};

// In DuckDB's file a claim's heartbeats stand in its row.
template <>
struct Table<ClaimState> {
  static constexpr const char* kName = "work_claims";
  static ClaimState blank() { return {}; }
  static void list(auto& io) {
    Table<WorkClaim>::list(io, &ClaimState::claim);
    io.count("signs", &ClaimState::heartbeats);
    io.instant("last_sign", &ClaimState::last_heartbeat);
    io.boolean("given_back", &ClaimState::is_over);
  }
};

// On ClickHouse each is a row, so that nothing is ever updated.
struct HeartbeatRecord {
  std::uint64_t claim = 0;
  std::uint64_t heartbeat = 0;  // unique, so that no two rows are identical
  Instant at = {};
  bool is_over = false;  // it gives the claim back
};

template <>
struct Table<HeartbeatRecord> {
  static constexpr const char* kName = "work_signs";
  static HeartbeatRecord blank() { return {}; }
  static void list(auto& io) {
    io.count("claim", &HeartbeatRecord::claim);
    io.count("sign", &HeartbeatRecord::heartbeat);
    io.instant("sign_at", &HeartbeatRecord::at);
    io.boolean("is_over", &HeartbeatRecord::is_over);
  }
};

template <>
struct Table<WorkCompletion> {
  static constexpr const char* kName = "work_done";
  static WorkCompletion blank() { return {}; }
  static void list(auto& io) {
    io.count("claim", &WorkCompletion::claim);
    io.id("cluster", member_of(&WorkCompletion::scope, &Scope::cluster));
    io.text("month", member_of(&WorkCompletion::scope, &Scope::month));
    io.count("run", &WorkCompletion::run);
    io.count("imports", member_of(&WorkCompletion::inputs, &RunInputs::imports));
    io.hash("lines", member_of(&WorkCompletion::inputs, &RunInputs::lines));
    io.hash("join_rules", member_of(&WorkCompletion::inputs, &RunInputs::join_rules));
    io.hash("elsewhere", member_of(&WorkCompletion::inputs, &RunInputs::elsewhere));
    io.instant("began_at", &WorkCompletion::began);
    io.instant("done_at", &WorkCompletion::at);
  }
};

// A plan without its scopes.
template <>
struct Table<WorkPlan> {
  static constexpr const char* kName = "work_plans";
  static WorkPlan blank() { return {}; }
  static void list_month(auto& io) { io.text("month", &WorkPlan::month); }
  static void list_rest(auto& io) {
    io.count("imports", &WorkPlan::imports);
    io.hash("join_rules", &WorkPlan::join_rules);
    io.instant("began_at", &WorkPlan::began);
    io.instant("planned_at", &WorkPlan::at);
  }
  static void list(auto& io) {
    list_month(io);
    list_rest(io);
  }
};

template <>
struct Table<PlannedScope> {
  static constexpr const char* kName = "work_plan_scopes";
  static PlannedScope blank() { return {.cluster = ClusterId(""), .lines = {}}; }
  static void list(auto& io) {
    io.id("cluster", &PlannedScope::cluster);
    io.count("line_count", &PlannedScope::count);
    io.hash("lines", &PlannedScope::lines);
    io.optional_interval("reach_from", "reach_to", &PlannedScope::reach);
  }
};

}  // namespace pennyweight
