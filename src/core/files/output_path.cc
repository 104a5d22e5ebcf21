#include "core/files/output_path.h"

#include <filesystem>
#include <system_error>

namespace pennyweight {

Result<void> check_may_be_replaced(const std::string& path) {
  std::error_code unknown;
  const auto there = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) return {};
  return fail(ErrorCode::kIo,
              "cannot write " + path + ": something that is not a file is there; name a file");
}

}  // namespace pennyweight
