// A replay's tables as one PDF.
#pragma once

#include <string>

#include "core/error.h"
#include "insight/queries/what_if_query.h"

namespace pennyweight::api {

// `scenario`: as a line, or the options of `replay`. `font`: empty for the one that is installed by
// default; an Error names characters that it does not have.
Result<std::string> what_if_report(const std::string& month, const std::string& cluster,
                                   const std::string& scenario, const WhatIfTables& tables,
                                   const std::string& font);

}  // namespace pennyweight::api
