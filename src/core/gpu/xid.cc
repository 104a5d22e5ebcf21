#include "core/gpu/xid.h"

#include <map>
#include <string_view>

#include "core/check.h"
#include "core/gpu/embedded.h"
#include "core/gpu/plain_table.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

// NVIDIA's words for actions: https://docs.nvidia.com/deploy/xid-errors/
constexpr std::pair<std::string_view, std::string_view> kXidActions[] = {
    {"RESTART_APP", "restart the application"},
    {"RESET_GPU", "drain the node and reset the GPU"},
    {"RESTART_BM", "drain and restart the machine"},
    {"RESTART_VM", "restart the virtual machine"},
    {"CHECK_MECHANICALS", "check the power cables and the seat of the GPU"},
    {"CONTACT_SUPPORT", "ask the vendor's support"},
    {"UPDATE_SWFW", "update the driver and the firmware"},
    {"WORKFLOW_XID_45", "look at the XID that came with it"},
    {"WORKFLOW_XID_48", "drain the node and reset the GPU; replace it if this comes again"},
    {"WORKFLOW_NVLINK_ERR", "check the NVLink connections; reset the GPU"},
    {"WORKFLOW_NVLINK5_ERR", "check the NVLink connections; reset the GPU"},
    {"CHECK_UVM", "check the application's use of unified memory"},
    {"IGNORE", "nothing needs to be done"},
};

std::string action_in_words(std::string_view name) {
  for (const auto& [known, words] : kXidActions) {
    if (known == name) return std::string(words);
  }
  return "";
}

std::map<std::uint64_t, XidMeaning> read_xids() {
  constexpr std::string_view kXidColumns[] = {"xid", "description", "action", "is_fatal"};
  const auto table =
      PlainTable::parse(embedded::xid_codes_csv(), "xid_codes.csv", {.required = kXidColumns});
  CHECK(table.has_value(), "the built-in tables are read by a test");
  std::map<std::uint64_t, XidMeaning> meanings;
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto row = table->row(i);
    const auto code = parse_count(row[0], 1'000'000);
    CHECK(code.has_value(), "the built-in tables are read by a test");
    meanings[*code] = {std::string(row[1]), action_in_words(row[2]), row[3] == "1"};
  }
  return meanings;
}

}  // namespace

std::optional<XidMeaning> xid_meaning(std::uint64_t code) {
  static const std::map<std::uint64_t, XidMeaning> kMeanings = read_xids();
  const auto found = kMeanings.find(code);
  if (found == kMeanings.end()) return std::nullopt;
  return found->second;
}

}  // namespace pennyweight
