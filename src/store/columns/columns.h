// The columns of each table, listed once and used three ways: to make the table (Schema), to write
// facts (ColumnFiller) and to read them (ColumnReader). So the three can't come apart.
//
// Names are those an analyst would look for; money is DECIMAL(38,18), times are UTC.
#pragma once

#include "ledger/charge.h"
#include "ledger/correction.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/outcome.h"
#include "ledger/posting.h"
#include "ledger/usage.h"

namespace pennyweight {

template <class Fact>
struct Table;

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
    io.optional_count("gpu_util_ppm", &Usage::gpu_util_ppm);
    io.optional_count("engine_active_ppm", &Usage::engine_active_ppm);
    io.optional_count("sm_active_ppm", &Usage::sm_active_ppm);
    io.optional_count("memory_used_bytes", &Usage::memory_used_bytes);
    io.optional_count("memory_total_bytes", &Usage::memory_total_bytes);
    io.optional_count("power_milliwatts", &Usage::power_milliwatts);
    io.optional_count("energy_millijoules", &Usage::energy_millijoules);
    io.id("workload", &Usage::workload);
    io.boolean("of_workload", &Usage::of_workload);
    io.small_count("span_ms", &Usage::span_ms);
    io.count("part", &Usage::part);
    io.optional_count("tensor_active_ppm", &Usage::tensor_active_ppm);
    io.optional_count("dram_active_ppm", &Usage::dram_active_ppm);
    io.optional_count("memory_reserved_bytes", &Usage::memory_reserved_bytes);
    io.optional_count("temperature_celsius", &Usage::temperature_celsius);
    io.optional_count("sm_clock_mhz", &Usage::sm_clock_mhz);
    io.optional_count("pcie_bytes_per_second", &Usage::pcie_bytes_per_second);
    io.optional_count("nvlink_bytes_per_second", &Usage::nvlink_bytes_per_second);
    io.optional_count("energy_used_millijoules", &Usage::energy_used_millijoules);
    io.optional_count("activity_max_ppm", &Usage::activity_max_ppm);
    io.optional_count("memory_used_max_bytes", &Usage::memory_used_max_bytes);
    io.optional_count("power_max_milliwatts", &Usage::power_max_milliwatts);
    io.optional_count("throttled_ms", &Usage::throttled_ms);
    io.optional_count("xid_errors", &Usage::xid_errors);
    io.optional_count("last_xid", &Usage::last_xid);
    io.optional_count("ecc_errors", &Usage::ecc_errors);
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

}  // namespace pennyweight
