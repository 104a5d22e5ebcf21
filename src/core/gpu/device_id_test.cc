#include "core/gpu/device_id.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight {
namespace {

constexpr std::string_view kUuid = "GPU-0fc3eda5-e98b-a25b-5b0d-cf5c855d1448";

TEST(DeviceId, PluginsAndExporters) {
  struct Case {
    std::string text;
    DeviceId want;
  };
  const Case cases[] = {
      {std::string(kUuid), {std::string(kUuid), {}, {}}},
      {std::string(kUuid) + "::0", {std::string(kUuid), {}, 0}},
      {std::string(kUuid) + "::13", {std::string(kUuid), {}, 13}},
      {"MIG-8a1b::2", {"MIG-8a1b", {}, 2}},
      {"nvidia0", {"nvidia0", {}, {}}},
      {"nvidia0/vgpu3", {"nvidia0", {}, 3}},
      {"nvidia0/gi1", {"nvidia0", 1, {}}},
      {"nvidia12/gi1/vgpu2", {"nvidia12", 1, 2}},
  };
  for (const Case& c : cases) {
    const auto id = parse_device_id(c.text);
    ASSERT_TRUE(id.has_value()) << c.text << ": " << id.error().message;
    EXPECT_EQ(*id, c.want) << c.text;
  }
}

TEST(DeviceId, MalformedOnesAreQuoted) {
  for (const std::string_view text : {"",
                                      "0",
                                      "nvidia",
                                      "nvidia0/",
                                      "nvidia0/gi",
                                      "nvidia0/gi1/",
                                      "nvidia0/gi1/vgpu",
                                      "nvidia0/vgpu1/gi1",
                                      "nvidia0/vgpu-1",
                                      "nvidia0/x",
                                      "nvidiax/vgpu1",
                                      "GPU-1::",
                                      "GPU-1::x",
                                      "GPU-1::1::2",
                                      "GPU-1::-1",
                                      "GPU-1:1",
                                      "GPU-1 ",
                                      "GPU-\n",
                                      "uuid::1",
                                      "GPU-1::99999999999999999999"}) {
    const auto id = parse_device_id(text);
    ASSERT_FALSE(id.has_value()) << text;
    EXPECT_NE(id.error().message.find("is not a device id"), std::string::npos);
  }
}

TEST(DraDevice, NamesOfTheDriver) {
  struct Case {
    std::string_view name;
    DraDevice want;
  };
  const Case cases[] = {
      {"gpu-0", {.card = 0, .is_vfio = false, .mig_profile = "", .placement = {}}},
      {"gpu-12", {.card = 12, .is_vfio = false, .mig_profile = "", .placement = {}}},
      {"gpu-vfio-7", {.card = 7, .is_vfio = true, .mig_profile = "", .placement = {}}},
      {"gpu-0-mig-1g5gb-19-0",
       {.card = 0, .is_vfio = false, .mig_profile = "1g.5gb", .placement = 0}},
      {"gpu-7-mig-3g20gb-9-4",
       {.card = 7, .is_vfio = false, .mig_profile = "3g.20gb", .placement = 4}},
      {"gpu-3-mig-1g5gb-me-19-4",
       {.card = 3, .is_vfio = false, .mig_profile = "1g.5gb+me", .placement = 4}},
      {"gpu-3-mig-1g24gb-meall-1-0",
       {.card = 3, .is_vfio = false, .mig_profile = "1g.24gb+me.all", .placement = 0}},
      {"gpu-0-mig-1c3g20gb-9-4",
       {.card = 0, .is_vfio = false, .mig_profile = "1c.3g.20gb", .placement = 4}},
  };
  for (const Case& c : cases) {
    const auto device = parse_dra_device(c.name);
    ASSERT_TRUE(device.has_value()) << c.name << ": " << device.error().message;
    EXPECT_EQ(*device, c.want) << c.name;
  }
}

TEST(DraDevice, OthersAreQuoted) {
  for (const std::string_view name :
       {"", "gpu", "gpu-", "gpu-x", "gpu-0-", "gpu-0-mig", "gpu-0-mig-", "gpu-0-mig-1g5gb",
        "gpu-0-mig-1g5gb-19", "gpu-0-mig-19-0-1", "gpu-0-mig-1g5-19-0", "gpu-0-mig-g5gb-19-0",
        "gpu-0-mig-1g5gb-x-19-0", "gpu-0-mig-1g5gb-19-x", "gpu-vfio-0-mig-1g5gb-19-0", "GPU-0",
        "neuron-0", "gpu-99999999999999999999"}) {
    const auto device = parse_dra_device(name);
    ASSERT_FALSE(device.has_value()) << name;
    EXPECT_NE(device.error().message.find("is not a device of NVIDIA's DRA driver"),
              std::string::npos);
  }
}

HamiDevice hami(std::string_view uuid, std::uint64_t mib, std::optional<std::uint32_t> cores) {
  return {.uuid = std::string(uuid),
          .mig = {},
          .type = "NVIDIA",
          .memory_bytes = mib << 20,
          .cores_percent = cores};
}

TEST(HamiDevices, ByContainer) {
  using Containers = std::vector<std::vector<HamiDevice>>;
  struct Case {
    std::string text;
    Containers want;
  };
  HamiDevice in_slot = hami("GPU-a", 10240, 14);
  in_slot.mig = HamiDevice::MigSlot{.layout = "0", .position = 2};
  HamiDevice in_group = hami("GPU-a", 10240, 14);
  in_group.mig = HamiDevice::MigSlot{.layout = "group-1", .position = 0};
  const Case cases[] = {
      // HAMi's own example: 3000 MiB, and no limit on cores.
      {std::string(kUuid) + ",NVIDIA,3000,0:;", {{hami(kUuid, 3000, {})}}},
      {"GPU-a,NVIDIA,1024,20:GPU-b,NVIDIA,1024,20:;",
       {{hami("GPU-a", 1024, 20), hami("GPU-b", 1024, 20)}}},
      // The second of three containers has no devices.
      {"GPU-a,NVIDIA,1,1:;;GPU-b,NVIDIA,2,2:;", {{hami("GPU-a", 1, 1)}, {}, {hami("GPU-b", 2, 2)}}},
      {";GPU-b,NVIDIA,2,2:;", {{}, {hami("GPU-b", 2, 2)}}},
      // Without the separators after the last device.
      {"GPU-a,NVIDIA,1,1", {{hami("GPU-a", 1, 1)}}},
      {"GPU-a[0-2],NVIDIA,10240,14:;", {{in_slot}}},
      {"GPU-a[group-1-0],NVIDIA,10240,14:;", {{in_group}}},
      // Everything is handed out.
      {"", {}},
      {";", {{}}},
  };
  for (const Case& c : cases) {
    const auto containers = parse_hami_devices(c.text);
    ASSERT_TRUE(containers.has_value()) << c.text << ": " << containers.error().message;
    EXPECT_EQ(*containers, c.want) << c.text;
  }
}

TEST(HamiDevices, MalformedOnesAreQuoted) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const Case cases[] = {
      {"GPU-a,3000,30:;", "'GPU-a,3000,30' is not a HAMi device: expected UUID,type,MiB,cores"},
      {"GPU-a,NVIDIA,1,1,1:;", "'GPU-a,NVIDIA,1,1,1' is not a HAMi device: expected"},
      {"GPU-a,4096,50,NVIDIA:;", "'GPU-a,4096,50,NVIDIA' is not a HAMi device"},
      {",NVIDIA,1,1:;", "',NVIDIA,1,1' is not a HAMi device: the first field is not a UUID"},
      {"GPU a,NVIDIA,1,1:;", "'GPU a,NVIDIA,1,1' is not a HAMi device: the first field"},
      {"GPU-a,,1,1:;", "'GPU-a,,1,1' is not a HAMi device: the second field is not a type"},
      {"GPU-a,NVIDIA,-1,1:;", "'GPU-a,NVIDIA,-1,1' is not a HAMi device: '-1'"},
      {"GPU-a,NVIDIA,1,101:;", "'GPU-a,NVIDIA,1,101' is not a HAMi device"},
      {"GPU-a,NVIDIA,,1:;", "'GPU-a,NVIDIA,,1' is not a HAMi device"},
      {"GPU-a[0],NVIDIA,1,1:;", "'GPU-a[0],NVIDIA,1,1' is not a HAMi device: expected UUID["},
      {"GPU-a[0-,NVIDIA,1,1:;", "'GPU-a[0-,NVIDIA,1,1' is not a HAMi device: expected UUID["},
      {"GPU-a[-1],NVIDIA,1,1:;", "'GPU-a[-1],NVIDIA,1,1' is not a HAMi device: expected UUID["},
      {"GPU-a,NVIDIA,1,1:;x", "'x' is not a HAMi device"},
      {"[{\"UUID\":\"GPU-a\"}]", "'[{\"UUID\"' is not a HAMi device"},
  };
  for (const Case& c : cases) {
    const auto containers = parse_hami_devices(c.text);
    ASSERT_FALSE(containers.has_value()) << c.text;
    EXPECT_TRUE(containers.error().message.starts_with(c.want)) << containers.error().message;
  }
  EXPECT_FALSE(parse_hami_devices(std::string(2000, ';')).has_value());
}

}  // namespace
}  // namespace pennyweight
