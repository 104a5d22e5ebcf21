#include "allocation/node_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/unmatched.h"

namespace pennyweight {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Instant kNodesBegin = from_unix_seconds(1'772'323'200);  // 2026-03-01
const Interval kMonth(kNodesBegin, kNodesBegin + std::chrono::days(31));
const Interval kChargeHour(kNodesBegin + std::chrono::days(3),
                           kNodesBegin + std::chrono::days(3) + std::chrono::hours(1));

Node node_of(const std::string& name, const std::string& provider_id) {
  return {.cluster = ClusterId("c"),
          .name = NodeId(name),
          .provider_id = provider_id,
          .instance_type = "",
          .region = "",
          .pool = PoolId(""),
          .gpu_model = "",
          .cpu_milli = {},
          .memory_bytes = {},
          .from = kNodesBegin,
          .to = {},
          .id = {},
          .source = {}};
}

Charge charge_of(const std::string& id, const std::string& name, const std::string& type) {
  Charge charge(kMonth, kChargeHour, Costs::zero(kUsd));
  charge.resource_id = id;
  charge.resource_name = name;
  charge.instance_type = type;
  return charge;
}

// The name of the node, "?" where several fit, "-" where none does.
std::string found(const std::vector<Node>& nodes, const Charge& charge,
                  const std::vector<JoinRule>& rules = {}) {
  std::vector<const Node*> all;
  for (const Node& node : nodes) all.push_back(&node);
  const NodeIndex index(all, rules);
  const NodeMatch node = find_node(index, charge, [&](std::uint32_t at) {
    return index.node(at).from < charge.charge_period.end() &&
           (!index.node(at).to || *index.node(at).to > charge.charge_period.begin());
  });
  if (node.is_ambiguous) return "?";
  return node.positions.empty() ? "-" : index.node(node.positions.front()).name.text();
}

constexpr const char* kAzure = "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute";

TEST(NodeIndex, EveryCloudsSpellings) {
  const std::string azure = kAzure;
  const std::vector<Node> nodes = {
      node_of("ip-10-0-0-1.ec2.internal", "aws:///us-east-1a/i-0123456789abcdef0"),
      node_of("gke-a", "gce://p/z/gke-a"),
      node_of("vm-node", "azure://" + azure + "/virtualMachines/VM-1"),
      node_of("aks-gpu-vmss000002",
              "azure://" + azure + "/virtualMachineScaleSets/aks-gpu-vmss/virtualMachines/2"),
      node_of("other-vmss00000a", ""),
      node_of("oke-1", "ocid1.instance.oc1.iad.aaa"),
      node_of("gpu-1.a.example", ""),
      node_of("gpu-2.a.example", ""),
      node_of("gpu-2.b.example", ""),
      node_of("metal-1", "")};
  struct Case {
    std::string id;
    std::string name;
    std::string is;
  };
  const Case cases[] = {
      {"i-0123456789abcdef0", "", "ip-10-0-0-1.ec2.internal"},
      {"arn:aws:ec2:us-east-1:1:instance/i-0123456789abcdef0", "", "ip-10-0-0-1.ec2.internal"},
      {"arn:aws:ec2:us-east-1:1:instance/i-0fffffffffffffff0", "", "-"},
      {"ip-10-0-0-1", "", "ip-10-0-0-1.ec2.internal"},
      {"//compute.googleapis.com/projects/p/zones/z/instances/gke-a", "", "gke-a"},
      {"//compute.googleapis.com/projects/p/zones/z/instances/4711", "gke-a", "gke-a"},
      {"//compute.googleapis.com/projects/p/zones/z/instances/4711", "", "-"},
      // Another zone's machine of one name is another machine, and a disk is none.
      {"//compute.googleapis.com/projects/p/zones/y/instances/gke-a", "", "-"},
      {"//compute.googleapis.com/projects/p/zones/z/disks/gke-a", "gke-a", "-"},
      {"/SUBSCRIPTIONS/s/RESOURCEGROUPS/g/providers/microsoft.compute/virtualmachines/vm-1", "",
       "vm-node"},
      {"/subscriptions/s/resourceGroups/h/providers/Microsoft.Compute/virtualMachines/VM-1", "",
       "-"},
      {azure + "/virtualMachineScaleSets/AKS-gpu-vmss/virtualMachines/2", "", "aks-gpu-vmss000002"},
      {azure + "/virtualMachineScaleSets/aks-gpu-vmss", "aks-gpu-vmss_2", "aks-gpu-vmss000002"},
      {azure + "/virtualMachineScaleSets/aks-gpu-vmss", "aks-gpu-vmss_3", "-"},
      {azure + "/virtualMachineScaleSets/aks-gpu-vmss", "", "-"},
      {azure + "/virtualMachineScaleSets/other-vmss", "other-vmss_10", "other-vmss00000a"},
      {azure + "/virtualMachineScaleSets/other-vmss/virtualMachines/2", "", "-"},
      {azure + "/disks/metal-1", "metal-1", "-"},
      {"ocid1.instance.oc1.iad.aaa", "", "oke-1"},
      {"ocid1.instance.oc1.iad.bbb", "", "-"},
      {"gpu-1", "", "gpu-1.a.example"},
      {"gpu-1.a.example", "", "gpu-1.a.example"},
      {"gpu-1.z.example", "", "-"},
      {"gpu-2", "", "?"},
      {"gpu-2.b.example", "", "gpu-2.b.example"},
      {"metal-1.any.example", "", "metal-1"},
      {"rack/7/metal-1", "", "metal-1"},
      {"METAL-1", "", "-"},
      {"", "metal-1", "metal-1"},
      {"vol-1", "metal-1", "-"},
      {"", "", "-"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(found(nodes, charge_of(c.id, c.name, "")), c.is) << c.id << " " << c.name;
  }
  EXPECT_EQ(found(nodes, charge_of("asset-1", "metal-1", "dgx-h100")), "metal-1");
}

TEST(NodeIndex, OneMachineAfterAnother) {
  std::vector<Node> nodes = {node_of("old", "i-01234567"), node_of("new", "i-01234567")};
  EXPECT_EQ(found(nodes, charge_of("i-01234567", "", "")), "?");
  nodes[0].to = kNodesBegin + std::chrono::days(1);
  EXPECT_EQ(found(nodes, charge_of("i-01234567", "", "")), "new");
}

TEST(NodeIndex, RulesForTheRest) {
  const std::vector<Node> nodes = {node_of("gpu-1", ""), node_of("gpu-2.example", "")};
  const std::vector<JoinRule> rules = {{.pattern = "asset/{node}/lease", .label = ""},
                                       {.pattern = "host:{node}", .label = "inventory"},
                                       {.pattern = "{node}", .label = "node"}};
  EXPECT_EQ(found(nodes, charge_of("asset/gpu-1/lease", "", ""), rules), "gpu-1");
  EXPECT_EQ(found(nodes, charge_of("asset/gpu-2/lease", "", ""), rules), "gpu-2.example");
  EXPECT_EQ(found(nodes, charge_of("asset/gpu-3/lease", "", ""), rules), "-");
  EXPECT_EQ(found(nodes, charge_of("asset/gpu-1/lease", "", "")), "-");
  Charge tagged = charge_of("1234", "", "");
  ASSERT_TRUE(tagged.tags.set("inventory", "host:gpu-1"));
  EXPECT_EQ(found(nodes, tagged, rules), "gpu-1");
  ASSERT_TRUE(tagged.tags.set("inventory", "gpu-1"));
  EXPECT_EQ(found(nodes, tagged, rules), "-");
  ASSERT_TRUE(tagged.tags.set("node", "gpu-2"));
  EXPECT_EQ(found(nodes, tagged, rules), "gpu-2.example");
}

TEST(Unmatched, BothSidesWithTheirAmounts) {
  std::vector<Node> nodes = {node_of("gpu-1", "i-01234567"), node_of("gpu-2", ""),
                             node_of("gpu-3", ""), node_of("gone", ""), node_of("pooled", "")};
  nodes[3].to = kNodesBegin;  // before the month
  nodes[4].pool = PoolId("a100");
  nodes.push_back(node_of("twin.a.example", ""));
  nodes.push_back(node_of("twin.b.example", ""));
  std::vector<Charge> charges;
  const auto add = [&](const std::string& id, const std::string& category,
                       std::int64_t cost) -> Charge& {
    Charge& charge = charges.emplace_back(charge_of(id, "", ""));
    charge.service_category = category;
    charge.service_name = category + " service";
    const Money amount = Money::from_units(cost, kUsd);
    charge.costs = {.billed = amount, .effective = amount, .list = amount, .contracted = amount};
    return charge;
  };
  add("i-01234567", "Compute", 10);
  add("i-0fffffff", "Compute", 3);
  add("i-0fffffff", "Compute", 4);
  add("i-0eeeeeee", "Compute", 9);
  add("twin", "Compute", 1);
  add("disk-1", "Storage", 100);
  add("", "Networking", 5);
  add("", "Networking", 6);
  add("gpu-2", "Networking", 2);  // of a node, and not its price
  add("", "Compute", 50).pool = "a100";
  add("r-1", "Compute", 70).commitment_discount_status = UsedOrUnused::kUnused;

  const Unmatched got = find_unmatched({.charges = charges, .nodes = nodes, .during = kMonth});
  std::vector<std::string> resources;
  for (const UnmatchedResource& r : got.resources) {
    resources.push_back((r.resource_id.empty() ? r.service_name : r.resource_id) + " " +
                        to_text(r.costs.effective.amount()) + " in " + std::to_string(r.lines) +
                        (r.is_compute ? " compute" : "") + (r.is_ambiguous ? " ambiguous" : ""));
  }
  EXPECT_THAT(resources, ElementsAre("i-0eeeeeee 9 in 1 compute", "i-0fffffff 7 in 2 compute",
                                     "twin 1 in 1 compute ambiguous", "disk-1 100 in 1",
                                     "Networking service 11 in 2"));
  std::vector<std::string> names;
  for (const UnmatchedNode& node : got.nodes) names.push_back(node.node.text());
  EXPECT_THAT(names, ElementsAre("gpu-2", "gpu-3", "twin.a.example", "twin.b.example"));

  const Unmatched nothing = find_unmatched({.charges = {}, .nodes = {}, .during = kMonth});
  EXPECT_THAT(nothing.resources, IsEmpty());
  EXPECT_THAT(nothing.nodes, IsEmpty());
}

TEST(Unmatched, CurrenciesStayApart) {
  std::vector<Charge> charges = {charge_of("x", "", ""), charge_of("x", "", "")};
  charges[1].costs = Costs::zero(kEur);
  const Unmatched got = find_unmatched({.charges = charges, .nodes = {}, .during = kMonth});
  ASSERT_EQ(got.resources.size(), 2u);
  EXPECT_EQ(got.resources[0].costs.currency(), kEur);
}

}  // namespace
}  // namespace pennyweight
