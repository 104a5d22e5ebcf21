// import aside: the rows of bills that imports set aside, and what people decide about them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"

namespace pennyweight {

struct AsideOptions {
  CLI::App* command = nullptr;
  std::string month;
  std::vector<std::string> dismiss;  // rows such as "4.2"; "all": every one that is listed
  std::vector<std::string> mend;     // the same; replaced by the rows of `mended_file`
  std::string mended_file;
  std::string export_file;
  std::string by;
  std::string reason;
  TableOptions table;
};

std::shared_ptr<AsideOptions> declare_import_aside(CLI::App& import);
Result<ExitCode> run_import_aside(const AsideOptions& options, Context& context);

}  // namespace pennyweight
