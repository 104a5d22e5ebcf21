#include "core/gpu/cloud_resource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pennyweight {
namespace {

using testing::HasSubstr;

TEST(CloudResource, EverySpellingOfAMachine) {
  const std::string vm =
      "/subscriptions/S/resourceGroups/Rg/providers/Microsoft.Compute/virtualMachines/Gpu-1";
  const std::string set =
      "/subscriptions/S/resourceGroups/Rg/providers/Microsoft.Compute/virtualMachineScaleSets/"
      "Aks-gpu";
  struct Case {
    std::string id;
    std::string name;
    std::vector<std::string> identities;
    std::vector<std::string> names;
  };
  const Case cases[] = {
      {"i-0123456789abcdef0", "", {"aws i-0123456789abcdef0"}, {"i-0123456789abcdef0"}},
      {"i-01234567", "", {"aws i-01234567"}, {"i-01234567"}},
      {"arn:aws:ec2:us-east-1:1:instance/i-0a", "", {"aws i-0a"}, {"i-0a"}},
      {"arn:aws-cn:ec2:cn-north-1:1:instance/i-0a", "", {"aws i-0a"}, {"i-0a"}},
      {"aws:///us-east-1a/i-0a", "", {"aws i-0a"}, {"i-0a"}},
      {"arn:aws:ec2:us-east-1:1:volume/vol-1", "", {}, {}},
      {"//compute.googleapis.com/projects/p/zones/z/instances/n", "", {"gcp-name p/z/n"}, {"n"}},
      {"projects/p/zones/z/instances/n", "", {"gcp-name p/z/n"}, {"n"}},
      {"gce://p/z/n", "", {"gcp-name p/z/n"}, {"n"}},
      {"//compute.googleapis.com/projects/p/zones/z/instances/123", "", {"gcp-number 123"}, {}},
      {"projects/p/zones/z/instances/123", "n", {"gcp-number 123", "gcp-name p/z/n"}, {"n"}},
      {"//compute.googleapis.com/projects/p/zones/z/disks/n", "n", {}, {}},
      {"//storage.googleapis.com/projects/_/buckets/n", "", {}, {}},
      {vm, "", {"azure s/rg/gpu-1"}, {"gpu-1"}},
      {"azure://" + vm, "", {"azure s/rg/gpu-1"}, {"gpu-1"}},
      {set + "/virtualMachines/0",
       "",
       {"azure-set s/rg/aks-gpu/0"},
       {"aks-gpu_0", "aks-gpu000000"}},
      {"azure://" + set + "/virtualmachines/1146",
       "",
       {"azure-set s/rg/aks-gpu/1146"},
       {"aks-gpu_1146", "aks-gpu0000vu"}},
      {set, "aks-GPU_35", {"azure-set s/rg/aks-gpu/35"}, {"aks-gpu_35", "aks-gpu00000z"}},
      {set, "aks-gpu_1a2b3c4d", {"azure s/rg/aks-gpu_1a2b3c4d"}, {"aks-gpu_1a2b3c4d"}},
      {set, "aks-gpu", {}, {}},
      {set, "other_1", {}, {}},
      {set, "aks-gpu_", {}, {}},
      {set + "/virtualMachines/99999999999",
       "",
       {"azure-set s/rg/aks-gpu/99999999999"},
       {"aks-gpu_99999999999"}},
      {"/subscriptions/S/resourceGroups/Rg/providers/Microsoft.Compute/disks/gpu-1", "", {}, {}},
      {"/subscriptions/S", "", {}, {}},
      {"ocid1.instance.oc1.iad.abc",
       "",
       {"oci ocid1.instance.oc1.iad.abc"},
       {"ocid1.instance.oc1.iad.abc"}},
      {"oci://ocid1.instance.oc1.iad.abc",
       "",
       {"oci ocid1.instance.oc1.iad.abc"},
       {"ocid1.instance.oc1.iad.abc"}},
      {"ocid1.volume.oc1.iad.abc", "", {}, {}},
      {"any/path/gpu-1", "", {}, {"gpu-1"}},
      {"gpu-1", "", {}, {}},
      {"i-other", "", {}, {}},
      {"", "", {}, {}},
      {"/", "", {}, {}},
      {"gce://p/z", "", {}, {}},
  };
  for (const Case& c : cases) {
    const CloudResource found = parse_cloud_resource(c.id, c.name);
    EXPECT_EQ(found.identities, c.identities) << c.id << " " << c.name;
    EXPECT_EQ(found.names, c.names) << c.id << " " << c.name;
  }
}

TEST(CloudResource, TwoMachinesOfOneNameAreDifferent) {
  const auto different = [](const std::string& a, const std::string& b) {
    return are_different(parse_cloud_resource(a, ""), parse_cloud_resource(b, ""));
  };
  EXPECT_TRUE(different("gce://p/z/n", "projects/p/zones/y/instances/n"));
  EXPECT_FALSE(different("gce://p/z/n", "projects/p/zones/z/instances/n"));
  EXPECT_FALSE(different("gce://p/z/n", "projects/p/zones/z/instances/12"));  // can't be compared
  EXPECT_FALSE(different("gce://p/z/n", "aws:///z/i-1"));
  EXPECT_FALSE(different("n", "n2"));
  EXPECT_TRUE(different("aws:///z/i-1", "arn:aws:ec2:r:1:instance/i-2"));
}

TEST(CloudResource, TheFirstLabelOfAHostName) {
  EXPECT_EQ(short_host_name("gpu-1.cluster.example"), "gpu-1");
  EXPECT_EQ(short_host_name("ip-10-0-0-1.ec2.internal"), "ip-10-0-0-1");
  for (const char* none : {"gpu-1", "", ".example", "gpu-1.", "10.0.0.1", "a b.example", "x/y.z",
                           "ocid1.instance.oc1.iad.abc"}) {
    EXPECT_FALSE(short_host_name(none)) << none;
  }
}

TEST(JoinRule, OneCaptureAndNoMore) {
  EXPECT_EQ(node_of_pattern("prefix-{node}-suffix", "prefix-gpu-1-suffix"), "gpu-1");
  EXPECT_EQ(node_of_pattern("{node}.rack", "gpu-1.rack"), "gpu-1");
  EXPECT_EQ(node_of_pattern("{node}", "gpu-1"), "gpu-1");
  EXPECT_FALSE(node_of_pattern("prefix-{node}", "prefix-"));
  EXPECT_FALSE(node_of_pattern("prefix-{node}", "Prefix-gpu-1"));
  EXPECT_FALSE(node_of_pattern("aba{node}aba", "aba"));

  EXPECT_TRUE(check_join_rule({.pattern = "a{node}", .label = ""}));
  EXPECT_TRUE(check_join_rule({.pattern = "{node}", .label = "host"}));
  EXPECT_THAT(check_join_rule({.pattern = "a", .label = ""}).error().message,
              HasSubstr("no {node}"));
  EXPECT_THAT(check_join_rule({.pattern = "{node}{node}", .label = ""}).error().message,
              HasSubstr("twice"));
  EXPECT_THAT(check_join_rule({.pattern = "{node}", .label = ""}).error().message,
              HasSubstr("label"));
}

}  // namespace
}  // namespace pennyweight
