#include "app/open_accounts.h"

#include <fmt/format.h>

#include <filesystem>

#include "access/scope_text.h"
#include "app/doors.h"
#include "questions/selection.h"

namespace pennyweight {

Result<std::unique_ptr<access::Accounts>> open_accounts(Context& context) {
  const std::string path = accounts_path(context.config);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there are no accounts {} yet; 'pennyweight user add NAME --role "
                            "admin' begins them, and so does 'pennyweight serve'",
                            path));
  }
  return access::Accounts::open({.path = path}, context.clock);
}

Result<std::unique_ptr<access::Accounts>> create_accounts(Context& context) {
  const std::string path = accounts_path(context.config);
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot make the folder of {}: {}", path, failed.message()));
  }
  return access::Accounts::open({.path = path}, context.clock);
}

Result<access::User> user_called(access::Accounts& accounts, std::string_view name) {
  auto found = accounts.find_user(name);
  if (!found) return std::unexpected(found.error());
  if (!*found) return fail(ErrorCode::kNotFound, fmt::format("there is no user '{}'", name));
  return **std::move(found);
}

Result<std::vector<SummaryFilter>> scope_of_option(const std::string& text, const Policy& policy) {
  auto scope = access::parse_scope(text);
  if (!scope) return wrong_usage("--scope: " + scope.error().message);
  if (const auto known = check_dimensions_of(*scope, policy); !known) {
    return wrong_usage("--scope: " + known.error().message);
  }
  return scope;
}

}  // namespace pennyweight
