#include <fmt/format.h>

#include <algorithm>

#include "core/json_text.h"
#include "core/plain_text.h"
#include "insight/guardrails/estimate_report.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::pair<Finding::Rule, std::string_view> kRuleTexts[] = {
    {Finding::Rule::kPerHour, "The workloads cost more per hour than the limit"},
    {Finding::Rule::kPerRun, "A run may cost more than the limit"},
    {Finding::Rule::kPerMonth, "The workloads cost more per month than the limit"},
    {Finding::Rule::kIncrease, "The change adds more per month than the limit"},
    {Finding::Rule::kNotPriced, "Something in the files is not in the price"}};

// An address relative to the repository, percent-encoded as RFC 3986 has it.
std::string uri_path(std::string_view path) {
  std::string uri;
  while (path.starts_with("./")) path.remove_prefix(2);
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '-' || c == '_';
    if (is_plain) {
      uri.push_back(c);
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

std::string sarif_location(const Finding& finding) {
  if (finding.file.empty()) return "";
  return fmt::format(R"(,"locations":[{{"physicalLocation":{{"artifactLocation":{{"uri":{}}},)"
                     R"("region":{{"startLine":{}}}}}}}])",
                     json_string(uri_path(finding.file)), std::max(finding.line, 1));
}

std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : printable_text(text, 2000)) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '"') {
      safe += "&quot;";
    } else if (static_cast<unsigned char>(c) < 0x20U) {
      safe.push_back(' ');  // XML 1.0 has no control characters
    } else {
      safe.push_back(c);
    }
  }
  return safe;
}

std::string test_case(std::string_view title, std::string_view file,
                      const std::vector<const Finding*>& failures) {
  std::string out =
      fmt::format("  <testcase classname=\"{}\" name=\"{}\"", xml_text(file), xml_text(title));
  if (failures.empty()) return out + "/>\n";
  out += ">\n    <failure message=\"";
  for (std::size_t i = 0; i < failures.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : "; ", xml_text(failures[i]->message));
  }
  return out + "\"/>\n  </testcase>\n";
}

}  // namespace

std::string findings_sarif(const std::vector<Finding>& findings, std::string_view version) {
  std::string rules;
  for (const auto& [rule, text] : kRuleTexts) {
    rules += fmt::format(R"({}{{"id":{},"shortDescription":{{"text":{}}}}})",
                         rules.empty() ? "" : ",", json_string(rule_id(rule)), json_string(text));
  }
  std::string results;
  for (const Finding& finding : findings) {
    results += fmt::format(
        R"({}{{"ruleId":{},"level":{},"message":{{"text":{}}}{}}})", results.empty() ? "" : ",\n",
        json_string(rule_id(finding.rule)), json_string(finding.fails ? "error" : "note"),
        json_string(finding.about + ": " + finding.message), sarif_location(finding));
  }
  return fmt::format(
      R"({{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0",)"
      R"("runs":[{{"tool":{{"driver":{{"name":"pennyweight","version":{},"rules":[{}]}}}},)"
      R"("results":[{}]}}]}})"
      "\n",
      json_string(version), rules, results);
}

std::string estimate_junit(const Estimate& estimate, const std::vector<Finding>& findings) {
  std::string cases;
  std::size_t tests = 0;
  std::size_t failed = 0;
  std::vector<const Finding*> left;
  for (const Finding& finding : findings) {
    if (finding.fails) left.push_back(&finding);
  }
  for (const WorkloadEstimate& workload : estimate.workloads) {
    const std::string title = workload_title(workload.workload);
    std::vector<const Finding*> own;
    std::erase_if(left, [&](const Finding* finding) {
      const bool is_own = finding->file == workload.workload.file &&
                          (finding->about == title || finding->about.starts_with(title + " ("));
      if (is_own) own.push_back(finding);
      return is_own;
    });
    ++tests;
    if (!own.empty()) ++failed;
    cases += test_case(title, workload.workload.file, own);
  }
  ++tests;
  if (!left.empty()) ++failed;
  cases += test_case("all limits", "pennyweight", left);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"pennyweight estimate\" tests=\"{}\" failures=\"{}\">\n{}</testsuite>\n",
      tests, failed, cases);
}

}  // namespace pennyweight::guardrails
