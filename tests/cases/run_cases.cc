// Runs tests/cases/*.case: charges, holdings and the resulting costs, as text that an accountant
// can read.
//
// A case is a list of lines, `#` begins a comment:
//   node NAME gpus=8 [model= pool= vcpu= memory_gib= type=] [shards= mps=]
//       [sharing=time-slicing|mps replicas=4 [renamed]]
//   gpu UUID node=NAME index=0 [model= memory_gib= mig=ID:PROFILE,ID:PROFILE] [from= to=]
//   charge NAME FROM..TO USD 96.00 [effective=0] [node=NAME | pool=NAME]
//       [per_hour= category= status= service=]
//   use KEY=VALUE… (n1:6 | gpu:UUID,UUID | pool:NAME:3 | anywhere:3) FROM..TO [cpu= memory_gib=]
//       [fraction=1/4 | compute=1/2 memory=1/4 | mig=3g.20gb | shards | mps | replica |
//        vgpu [cores=30] [vmem_gib=4 | vmem_percent=50]] [claim= | group= [reservation]]
//   seen GPU FROM..TO [every=60] [compute=0.5] [memory=0.25] [by=WORKLOAD [own]] [gi=7 profile=]
//       one sample every so many seconds; compute is GR_ENGINE_ACTIVE, or util= is GPU_UTIL
//   outage (NODE | gpu:UUID) FROM..TO
//   policy [basis=request|usage|max|blend:300] [weights=600/400] [zone=Europe/Berlin]
//       [split=whole_node|residual|ratio:9:0.9:0.1|explicit:0.9:0.07:0.03]
//   sharing [model=] [when=KEY:VALUE] [weights=] [basis=]
//   overhead KEY:VALUE
//   owner [priority=] when=KEY:VALUE set=DIMENSION:VALUE
//   spread KIND (proportional|even|fixed) [within=node|pool|cluster] [over=month] [dimension=]
//       [parts=A:1,B:2] [service=]
//   correct NAME FROM..TO USD 5.00 [from=DIMENSION:VALUE] [to=DIMENSION:VALUE]
//   exchange 2026-03-31 USD JPY 150
//   by DIMENSION
//     the expected table: name, effective cost, GPU-hours held (exact), and how much of
//     them telemetry observed, where there is any
// Times are 2026-03-01 or 2026-03-01T12:00:00Z. UPDATE_CASES=1 rewrites the tables; read the diff
// before you commit it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "allocation/allocate.h"
#include "allocation/distribute.h"
#include "core/decimal.h"

namespace pennyweight {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  Words words;
  std::istringstream in(line.substr(0, line.find('#')));
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::pair<std::string, std::string> cut(const std::string& text, const std::string& at) {
  const std::size_t position = text.find(at);
  if (position == std::string::npos) return {text, ""};
  return {text.substr(0, position), text.substr(position + at.size())};
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

Interval interval_of(const std::string& text) {
  const auto [from, to] = cut(text, "..");
  return {parse_instant(from).value(), parse_instant(to).value()};
}

CardShare part_of(const std::string& text) {
  const auto [parts, of] = cut(text, "/");
  return CardShare::of(std::stoull(parts), std::stoull(of)).value();
}

// vCPU as milli and GiB as bytes, both written as decimals.
std::uint64_t scaled_number(const std::string& text, std::uint64_t scale) {
  const Int128 ticks = parse_exact_decimal(text).value().ticks();
  return static_cast<std::uint64_t>(ticks * static_cast<Int128>(scale) / Decimal::kTicksPerUnit);
}

std::string exact_hours(GpuTime time) {
  // Down to 10^-6 of a GPU-hour; marked where that is not all.
  const UInt128 micro = time.count() / (kGpuHour.count() / 1'000'000);
  const bool exact = micro * (kGpuHour.count() / 1'000'000) == time.count();
  return to_text(Decimal::from_ticks(static_cast<Int128>(micro) * 1'000'000'000'000)) +
         (exact ? " h" : "+ h");
}

class Case {
 public:
  explicit Case(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) read(line);
  }

  // The case's text with the tables that come out now.
  std::string rendered() const {
    std::string out;
    for (const auto& [line, dimension] : lines_) {
      out += line + "\n";
      if (!dimension.empty()) out += table(dimension);
    }
    return out;
  }

 private:
  using Options = std::map<std::string, std::string>;

  void read(const std::string& line) {
    if (line.starts_with("  ")) return;  // a row of a table: written anew
    const Words words = words_of(line);
    lines_.emplace_back(line, words.size() == 2 && words[0] == "by" ? words[1] : "");
    if (words.empty() || words[0] == "by") return;
    Options options;
    Words plain;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto [key, value] = cut(words[i], "=");
      if (words[i].find('=') == std::string::npos) {
        plain.push_back(words[i]);
      } else {
        options[key] = value;
      }
    }
    if (words[0] == "node") return add_node(plain, options);
    if (words[0] == "gpu") return add_gpu(plain, options);
    if (words[0] == "charge") return add_charge(plain, options);
    if (words[0] == "use") return add_use(plain, options);
    if (words[0] == "seen") return add_seen(plain, options);
    if (words[0] == "outage") return add_outage(plain);
    if (words[0] == "policy") return set_policy(options);
    if (words[0] == "sharing") return add_sharing(options);
    if (words[0] == "overhead") return policy_.overhead.push_back(match_of(plain.at(0)));
    if (words[0] == "owner") return add_owner(options);
    if (words[0] == "spread") return add_spread(plain, options);
    if (words[0] == "correct") return add_correction(plain, options);
    if (words[0] == "exchange") return add_exchange(plain);
    ADD_FAILURE() << "unknown line: " << line;
  }

  void add_exchange(const Words& plain) {
    exchange_ += fmt::format("{},{},{},{}\n", plain.at(0), plain.at(1), plain.at(2), plain.at(3));
  }

  Catalog catalog() const {
    if (exchange_.empty()) return Catalog::built_in();
    auto rates = ExchangeRates::parse("date,from,to,rate\n" + exchange_, "case").value();
    return Catalog::built_in().with_exchange_rates(std::move(rates), {});
  }

  void add_node(const Words& plain, Options& options) {
    Node node{.cluster = ClusterId("c"),
              .name = NodeId(plain.at(0)),
              .provider_id = plain.at(0),
              .instance_type = options["type"],
              .region = {},
              .pool = PoolId(options["pool"]),
              .gpu_model = options["model"],
              .cpu_milli = {},
              .memory_bytes = {},
              .from = *parse_instant("2020-01-01"),
              .to = {},
              .id = {},
              .source = {}};
    node.gpu_count = static_cast<std::uint32_t>(std::stoul(options["gpus"]));
    if (options.contains("shards")) {
      node.shard_count = static_cast<std::uint32_t>(std::stoul(options["shards"]));
    }
    if (options.contains("mps")) {
      node.mps_count = static_cast<std::uint32_t>(std::stoul(options["mps"]));
    }
    if (options.contains("sharing")) node.sharing = parse_gpu_sharing(options["sharing"]).value();
    if (options.contains("replicas")) {
      node.gpu_replicas = static_cast<std::uint32_t>(std::stoul(options["replicas"]));
    }
    node.replicas_renamed = plain.size() > 1 && plain[1] == "renamed";
    if (options.contains("vcpu")) node.cpu_milli = scaled_number(options["vcpu"], 1000);
    if (options.contains("memory_gib")) {
      node.memory_bytes = scaled_number(options["memory_gib"], 1u << 30);
    }
    if (options.contains("from")) node.from = parse_instant(options["from"]).value();
    if (options.contains("to")) node.to = parse_instant(options["to"]).value();
    nodes_.push_back(node);
  }

  void add_gpu(const Words& plain, Options& options) {
    Gpu gpu{.cluster = ClusterId("c"),
            .node = NodeId(options["node"]),
            .uuid = GpuId(plain.at(0)),
            .model = options["model"],
            .memory_bytes = {},
            .mig_instances = {},
            .from = *parse_instant("2020-01-01"),
            .to = {},
            .id = {},
            .source = {}};
    gpu.index = static_cast<std::uint32_t>(std::stoul(options["index"]));
    if (options.contains("memory_gib")) {
      gpu.memory_bytes = scaled_number(options["memory_gib"], 1u << 30);
    }
    for (const std::string& item : list_of(options["mig"])) {
      const auto [id, profile] = cut(item, ":");
      gpu.mig_instances.push_back({GpuId(id), profile});
    }
    if (options.contains("from")) gpu.from = parse_instant(options["from"]).value();
    if (options.contains("to")) gpu.to = parse_instant(options["to"]).value();
    gpus_.push_back(gpu);
  }

  void add_charge(const Words& plain, Options& options) {
    const Currency currency = Currency::parse(plain.at(2)).value();
    const Money amount = Money::from_decimal(parse_exact_decimal(plain.at(3)).value(), currency);
    const Interval period = interval_of(plain.at(1));
    Charge charge(period, period, {amount, amount, amount, amount});
    if (options.contains("effective")) {
      charge.costs.effective =
          Money::from_decimal(parse_exact_decimal(options["effective"]).value(), currency);
    }
    charge.charge_description = plain.at(0);
    charge.resource_id = options["node"];
    charge.pool = options["pool"];
    charge.service_category = options["service"];
    if (options.contains("category")) {
      charge.charge_category = parse_charge_category(options["category"]).value();
    }
    if (options.contains("status")) {
      charge.commitment_discount_status = parse_used_or_unused(options["status"]).value();
    }
    if (options.contains("per_hour")) {
      charge.list_unit_price = parse_exact_decimal(options["per_hour"]).value();
      charge.pricing_unit = "Hours";
    }
    charge.id = numbered(content_hash(charge), charges_.size());
    charges_.push_back(charge);
  }

  static Placement placement_of(const std::string& text) {
    if (text.starts_with("gpu:")) {
      OnGpus on;
      for (const std::string& id : list_of(text.substr(4))) on.gpus.emplace_back(id);
      return on;
    }
    const std::size_t colon = text.rfind(':');
    const auto devices = static_cast<std::uint32_t>(std::stoul(text.substr(colon + 1)));
    if (text.starts_with("anywhere:")) return InPool{.pools = {}, .devices = devices};
    if (text.starts_with("pool:")) {
      return InPool{.pools = {PoolId(text.substr(5, colon - 5))}, .devices = devices};
    }
    OnNodes on;
    for (const std::string& item : list_of(text)) {
      const auto [node, count] = cut(item, ":");
      on.parts.push_back({NodeId(node), static_cast<std::uint32_t>(std::stoul(count))});
    }
    return on;
  }

  void add_use(const Words& plain, Options& options) {
    Holding holding(
        ClusterId("c"),
        WorkloadId(options.contains("job") ? options["job"]
                                           : fmt::format("use-{}", holdings_.size() + 1)),
        interval_of(plain.at(1)), placement_of(plain.at(0)));
    holding.attempt = std::to_string(holdings_.size());
    for (std::size_t i = 2; i < plain.size(); ++i) {
      if (plain[i] == "shards") holding.device = Shard{};
      if (plain[i] == "mps") holding.device = MpsUnit{};
      if (plain[i] == "replica") holding.device = Replica{};
      if (plain[i] == "vgpu") holding.device = virtual_gpu(options);
      if (plain[i] == "reservation") holding.is_reservation = true;
    }
    holding.claim = options["claim"];
    holding.gpu_group = options["group"];
    if (options.contains("fraction")) {
      const CardShare part = part_of(options["fraction"]);
      holding.device = CardFraction{part, part};
    }
    if (options.contains("compute")) {
      holding.device = CardFraction{part_of(options["compute"]), part_of(options["memory"])};
    }
    if (options.contains("mig")) holding.device = MigSlice{options["mig"]};
    if (options.contains("model")) holding.gpu_model = options["model"];
    if (options.contains("cpu")) holding.cpu_milli = scaled_number(options["cpu"], 1000);
    if (options.contains("memory_gib")) {
      holding.memory_bytes = scaled_number(options["memory_gib"], 1u << 30);
    }
    for (const auto& [key, value] : options) ASSERT_TRUE(holding.labels.set(key, value));
    holding.id = FactId{natural_key(holding)};
    holdings_.push_back(holding);
  }

  static VirtualGpu virtual_gpu(Options& options) {
    VirtualGpu part;
    if (options.contains("cores")) {
      part.cores_percent = static_cast<std::uint32_t>(std::stoul(options["cores"]));
    }
    if (options.contains("vmem_gib")) {
      part.memory_bytes = scaled_number(options["vmem_gib"], 1u << 30);
    }
    if (options.contains("vmem_percent")) {
      part.memory_percent = static_cast<std::uint32_t>(std::stoul(options["vmem_percent"]));
    }
    return part;
  }

  void add_seen(const Words& plain, Options& options) {
    const Interval during = interval_of(plain.at(1));
    const auto every =
        std::chrono::seconds(options.contains("every") ? std::stoul(options["every"]) : 60);
    for (Instant at = during.begin(); at < during.end(); at += every) {
      Usage usage{.cluster = ClusterId("c"),
                  .node = NodeId(""),
                  .gpu = GpuId(plain.at(0)),
                  .mig_instance = options["gi"],
                  .mig_profile = options["profile"],
                  .model = {},
                  .at = at,
                  .gpu_util_ppm = {},
                  .engine_active_ppm = {},
                  .sm_active_ppm = {},
                  .memory_used_bytes = {},
                  .memory_total_bytes = {},
                  .power_milliwatts = {},
                  .energy_millijoules = {},
                  .workload = WorkloadId(options["by"]),
                  .of_workload = plain.size() > 2 && plain[2] == "own",
                  .id = {},
                  .source = {}};
      if (options.contains("compute")) {
        usage.engine_active_ppm = scaled_number(options["compute"], 1'000'000);
      }
      if (options.contains("util")) usage.gpu_util_ppm = scaled_number(options["util"], 1'000'000);
      if (options.contains("memory")) {
        usage.memory_used_bytes = scaled_number(options["memory"], 1'000'000);
        usage.memory_total_bytes = 1'000'000;
      }
      usages_.push_back(usage);
    }
    policy_.usage.interval_ms = static_cast<std::uint64_t>(every.count()) * 1000;
  }

  void add_outage(const Words& plain) {
    const bool of_gpu = plain.at(0).starts_with("gpu:");
    Outage outage(ClusterId("c"), NodeId(of_gpu ? "" : plain[0]), interval_of(plain.at(1)));
    if (of_gpu) outage.gpu = GpuId(plain[0].substr(4));
    outages_.push_back(outage);
  }

  static LabelMatch match_of(const std::string& text) {
    const auto [key, value] = cut(text, ":");
    return {.key = key, .op = LabelMatch::Op::kIn, .values = {value}};
  }

  static ShareWeights weights_of(const std::string& text) {
    const auto [compute, memory] = cut(text, "/");
    return {static_cast<std::uint32_t>(std::stoul(compute)),
            static_cast<std::uint32_t>(std::stoul(memory))};
  }

  static Basis basis_of(const std::string& text) {
    const auto [name, permille] = cut(text, ":");
    if (name == "request") return {.kind = Basis::Kind::kRequest};
    if (name == "usage") return {.kind = Basis::Kind::kUsage};
    if (name == "max") return {.kind = Basis::Kind::kMax};
    return {.kind = Basis::Kind::kBlend,
            .request_permille = static_cast<std::uint32_t>(std::stoul(permille))};
  }

  void add_sharing(Options& options) {
    SharingRule rule{
        .cluster = {}, .gpu_model = options["model"], .workload = {}, .weights = {}, .basis = {}};
    if (options.contains("when")) rule.workload.push_back(match_of(options["when"]));
    if (options.contains("weights")) rule.weights = weights_of(options["weights"]);
    if (options.contains("basis")) rule.basis = basis_of(options["basis"]);
    policy_.sharing.push_back(rule);
  }

  void add_owner(Options& options) {
    OwnerRule rule{.priority = 0, .when = {match_of(options["when"])}, .set = {}};
    if (options.contains("priority")) rule.priority = std::stoi(options["priority"]);
    rule.set.push_back(cut(options["set"], ":"));
    policy_.owners.push_back(rule);
  }

  void add_spread(const Words& plain, Options& options) {
    SpreadRule rule;
    rule.kind = parse_posting_kind(plain.at(0)).value();
    rule.how = plain.at(1) == "even" ? Spread::kEven
               : plain[1] == "fixed" ? Spread::kFixed
                                     : Spread::kProportional;
    if (options["within"] == "node") rule.within = SpreadWithin::kNode;
    if (options["within"] == "pool") rule.within = SpreadWithin::kPool;
    if (options["over"] == "month") rule.over = SpreadOver::kMonth;
    rule.dimension = options["dimension"];
    rule.service_category = options["service"];
    for (const std::string& item : list_of(options["parts"])) {
      const auto [value, part] = cut(item, ":");
      rule.parts.push_back({value, parse_exact_decimal(part).value()});
    }
    policy_.spread.push_back(rule);
  }

  void add_correction(const Words& plain, Options& options) {
    const Currency currency = Currency::parse(plain.at(2)).value();
    Correction correction(ClusterId("c"), plain.at(0), interval_of(plain.at(1)),
                          Money::from_decimal(parse_exact_decimal(plain.at(3)).value(), currency));
    const auto owner = [&](const char* key) {
      Labels labels;
      const auto [dimension, value] = cut(options[key], ":");
      if (!dimension.empty()) {
        EXPECT_TRUE(labels.set(dimension, value));
      }
      return labels;
    };
    correction.from = owner("from");
    correction.to = owner("to");
    corrections_.push_back(correction);
  }

  void set_policy(Options& options) {
    if (options.contains("weights")) policy_.weights = weights_of(options["weights"]);
    if (options.contains("basis")) policy_.basis = basis_of(options["basis"]);
    if (options.contains("split")) set_split(options["split"]);
    if (options.contains("zone")) policy_.time_zone = TimeZone::parse(options["zone"]).value();
  }

  void set_split(const std::string& text) {
    const auto [name, numbers] = cut(text, ":");
    if (name == "whole_node") policy_.node_split = NodeSplit::kWholeNode;
    if (name != "ratio" && name != "explicit") return;
    const auto [gpu, host] = cut(numbers, ":");
    const auto [cpu, memory] = cut(host, ":");
    policy_.node_splits.push_back(
        {.instance_type = {},
         .how = name == "ratio" ? NodeSplit::kRatio : NodeSplit::kExplicit,
         .gpu = parse_exact_decimal(gpu).value(),
         .cpu = parse_exact_decimal(cpu).value(),
         .memory = parse_exact_decimal(memory).value()});
  }

  std::string key_of(const Posting& posting, const std::string& dimension,
                     const std::map<WorkloadId, Labels>& labels) const {
    if (dimension == "component") return std::string(to_text(posting.component));
    if (dimension == "day") return to_text(Instant(posting.day)).substr(0, 10);
    if (dimension == "node") return posting.node.text();
    if (dimension == "kind") return std::string(to_text(posting.kind));
    if (posting.workload.empty()) return fmt::format("({})", to_text(posting.kind));
    if (dimension == "job") return posting.workload.text();
    return std::string(labels.at(posting.workload).find(dimension).value_or("(unowned)"));
  }

  std::string table(const std::string& dimension) const {
    Policy policy = policy_;
    policy.dimensions = {{dimension, {dimension}, "(unowned)"}};
    const UtilizationSource seen = [&](const Interval& during) -> Result<ObservedUtilization> {
      return to_intervals(usages_, gpus_, policy.usage, during);
    };
    const Catalog prices = catalog();
    auto allocation = allocate({.cluster = ClusterId("c"),
                                .charges = charges_,
                                .nodes = nodes_,
                                .gpus = gpus_,
                                .holdings = holdings_,
                                .outages = outages_,
                                .policy = policy,
                                .catalog = prices,
                                .utilization = usages_.empty() ? UtilizationSource() : seen});
    if (!allocation) return "  error: " + allocation.error().message + "\n";
    const Distribution spread = distribute({.cluster = ClusterId("c"),
                                            .month = "2026-03",
                                            .postings = allocation->postings,
                                            .dimensions = allocation->dimensions,
                                            .nodes = nodes_,
                                            .charges = charges_,
                                            .corrections = corrections_,
                                            .policy = policy});
    for (const Posting& posting : spread.transfers) allocation->postings.push_back(posting);
    for (const auto& owner : spread.dimensions) allocation->dimensions.push_back(owner);
    for (const std::string& note : spread.notes) allocation->notes.push_back({note, 1});
    std::map<WorkloadId, Labels> labels;
    for (const auto& workload : allocation->dimensions) {
      labels[workload.workload] = workload.dimensions;
    }
    struct Row {
      Money cost;
      GpuTime held;
      GpuTime observed;
    };
    std::map<std::string, Row> rows;
    const Row none{Money::zero(charges_.at(0).costs.currency()), {}, {}};
    Row sum = none;
    for (const Posting& posting : allocation->postings) {
      Row& row = rows.try_emplace(key_of(posting, dimension, labels), none).first->second;
      for (Row* each : {&row, &sum}) {
        each->cost += posting.costs.effective;
        each->held += posting.gpu_time;
        each->observed += posting.observed_time;
      }
    }
    std::string out;
    const auto add = [&](const std::string& name, const Row& row) {
      out += fmt::format(
          "  {:<20} {} {:>26}   {}{}\n", name, row.cost.currency().text(),
          to_text(row.cost.amount()), exact_hours(row.held),
          row.observed == GpuTime() ? "" : fmt::format(", {} observed", exact_hours(row.observed)));
    };
    for (const auto& [name, row] : rows) add(name, row);
    add("total", sum);
    for (const AllocationNote& note : allocation->notes) {
      out += fmt::format("  note: {} ({})\n", note.what, note.count);
    }
    return out;
  }

  std::vector<std::pair<std::string, std::string>> lines_;
  std::vector<Node> nodes_;
  std::vector<Gpu> gpus_;
  std::vector<Charge> charges_;
  std::vector<Holding> holdings_;
  std::vector<Usage> usages_;
  std::vector<Outage> outages_;
  std::vector<Correction> corrections_;
  Policy policy_;
  std::string exchange_;  // rows of a file of exchange rates
};

TEST(Cases, ComeOutAsWritten) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PROJECT_ROOT "/tests/cases")) {
    if (entry.path().extension() != ".case") continue;
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::string rendered = Case(text).rendered();
    if (std::getenv("UPDATE_CASES") != nullptr) std::ofstream(entry.path()) << rendered;
    EXPECT_EQ(rendered, text);
    ++count;
  }
  EXPECT_GE(count, 10u);
}

}  // namespace
}  // namespace pennyweight
