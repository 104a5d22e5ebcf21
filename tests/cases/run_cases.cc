// tests/cases/*.case: what is charged, held and posted, in a text that an accountant can read.
//
// A case is a list of lines, `#` begins a comment:
//   node NAME gpus=8 [model= pool= vcpu= memory_gib= shards= type=]
//   gpu UUID node=NAME index=0 [mig=ID:PROFILE,ID:PROFILE] [from= to=]
//   charge NAME FROM..TO USD 96.00 [node=NAME | pool=NAME] [per_hour= category= status= service=]
//   use KEY=VALUE… (n1:6 | gpu:UUID,UUID | pool:NAME:3 | anywhere:3) FROM..TO
//       [fraction=1/4 | compute=1/2 memory=1/4 | mig=3g.20gb | shards] [cpu= memory_gib=]
//   policy [weights=600/400] [split=whole_node|residual] [zone=Europe/Berlin]
//   by DIMENSION
//     the table that must come out: name, effective cost, GPU-hours held (exact)
// Times are 2026-03-01 or 2026-03-01T12:00:00Z. UPDATE_CASES=1 writes the tables anew; the diff is
// then read by a person.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "allocate/allocate.h"
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
  // Down to 10^-6 of a GPU-hour, and said where that is not all.
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
    if (words[0] == "policy") return set_policy(options);
    ADD_FAILURE() << "unknown line: " << line;
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
    if (plain.size() > 2 && plain[2] == "shards") holding.device = Shard{};
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

  void set_policy(Options& options) {
    if (options.contains("weights")) {
      const auto [compute, memory] = cut(options["weights"], "/");
      policy_.weights = {static_cast<std::uint32_t>(std::stoul(compute)),
                         static_cast<std::uint32_t>(std::stoul(memory))};
    }
    if (options["split"] == "whole_node") policy_.node_split = NodeSplit::kWholeNode;
    if (options.contains("zone")) policy_.time_zone = TimeZone::parse(options["zone"]).value();
  }

  std::string key_of(const Posting& posting, const std::string& dimension,
                     const std::map<WorkloadId, Labels>& labels) const {
    if (dimension == "component") return std::string(to_text(posting.component));
    if (dimension == "day") return to_text(Instant(posting.day)).substr(0, 10);
    if (dimension == "node") return posting.node.text();
    if (posting.workload.empty()) return fmt::format("({})", to_text(posting.kind));
    if (dimension == "job") return posting.workload.text();
    return std::string(labels.at(posting.workload).find(dimension).value_or("(unowned)"));
  }

  std::string table(const std::string& dimension) const {
    Policy policy = policy_;
    policy.dimensions = {{dimension, {dimension}, "(unowned)"}};
    const auto allocation = allocate({.cluster = ClusterId("c"),
                                      .charges = charges_,
                                      .nodes = nodes_,
                                      .gpus = gpus_,
                                      .holdings = holdings_,
                                      .policy = policy,
                                      .catalog = Catalog::built_in()});
    if (!allocation) return "  error: " + allocation.error().message + "\n";
    std::map<WorkloadId, Labels> labels;
    for (const auto& workload : allocation->dimensions) {
      labels[workload.workload] = workload.dimensions;
    }
    std::map<std::string, std::pair<Money, GpuTime>> rows;
    Money sum = Money::zero(charges_.at(0).costs.currency());
    GpuTime hours;
    for (const Posting& posting : allocation->postings) {
      const auto [row, is_new] = rows.try_emplace(key_of(posting, dimension, labels),
                                                  Money::zero(sum.currency()), GpuTime{});
      row->second.first += posting.costs.effective;
      row->second.second += posting.gpu_time;
      sum += posting.costs.effective;
      hours += posting.gpu_time;
    }
    std::string out;
    const auto add = [&](const std::string& name, Money cost, GpuTime time) {
      out += fmt::format("  {:<20} {} {:>26}   {}\n", name, cost.currency().text(),
                         to_text(cost.amount()), exact_hours(time));
    };
    for (const auto& [name, row] : rows) add(name, row.first, row.second);
    add("total", sum, hours);
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
  Policy policy_;
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
