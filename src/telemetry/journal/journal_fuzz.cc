// Arbitrary bytes as a segment: no crash. Records that are found are found again when the segment
// is cut off after them, and a segment that must be complete is refused with a torn end.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "telemetry/journal/journal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::uint64_t records = 0;
  std::uint64_t last_end = 0;
  const auto count = [&](const journal::Record& record) -> Result<void> {
    CHECK(record.offset >= last_end, "records are in order");
    last_end = record.offset + record.bytes.size();
    CHECK(last_end <= bytes.size(), "a record lies in its segment");
    ++records;
    return {};
  };
  const auto torn = journal::scan_segment(bytes, 1, true, count);
  const std::uint64_t found = records;
  if (!torn) return 0;
  CHECK(torn->end + torn->torn == bytes.size(), "all bytes are accounted for");
  records = last_end = 0;
  const auto whole = journal::scan_segment(bytes, 1, false, count);
  CHECK(whole.has_value() == (torn->torn == 0 && torn->end > 0), "torn or whole");
  if (torn->end > 0) {
    records = last_end = 0;
    const auto cut = journal::scan_segment(bytes.substr(0, torn->end), 1, false, count);
    CHECK(cut && records == found, "what was sound stays sound");
  }
  return 0;
}
