#include "app/daemon/live_file.h"

#include <filesystem>

#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight {

Result<void> save_live_file(const std::string& path, std::string_view text) {
  std::error_code ignored;  // creating the file says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  auto file = TRY(OutputFile::create(path));
  TRY(file.write(text));
  return file.commit();
}

}  // namespace pennyweight
