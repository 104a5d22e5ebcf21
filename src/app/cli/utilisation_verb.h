// audit utilisation: every GPU, how it was used, and what would save it; as text, CSV, JSON or PDF.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/context/context.h"

namespace pennyweight {

struct UtilisationOptions {
  CLI::App* command = nullptr;
  std::string month;
  std::string cluster;
  std::string format = "text";
  std::string out;
  std::string prices_as_of;
};

std::shared_ptr<UtilisationOptions> declare_utilisation(CLI::App& audit);
Result<ExitCode> run_utilisation(const UtilisationOptions& options, Context& context);

}  // namespace pennyweight
