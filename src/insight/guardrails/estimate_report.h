// Writes an estimate for people and for CI: tables, Markdown for a pull request, SARIF, JUnit.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "insight/guardrails/comparison.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/findings.h"
#include "reporting/table.h"

namespace pennyweight::guardrails {

// The estimate, what is not priced, and alternatives, each left out if empty.
std::vector<Table> estimate_tables(const Estimate& estimate);
Table comparison_table(const EstimateComparison& comparison);

// For a comment on a pull request. It begins with kMarkdownMarker, by which the next run finds its
// comment and replaces it. `comparison` may be null; `more` comes last.
inline constexpr std::string_view kMarkdownMarker = "<!-- pennyweight-estimate -->";
std::string estimate_markdown(const Estimate& estimate, const EstimateComparison* comparison,
                              const std::vector<Finding>& findings,
                              std::span<const Table> more = {});

// SARIF 2.1.0 (OASIS): each finding is a result; one that fails is an error, else a note.
std::string findings_sarif(const std::vector<Finding>& findings, std::string_view version);

// JUnit's XML: a test case for each workload, one for all limits together, and a failure for each
// finding that fails.
std::string estimate_junit(const Estimate& estimate, const std::vector<Finding>& findings);

}  // namespace pennyweight::guardrails
