// The limits on everything that comes from outside.
//
// Exceeding one is an Error, or a rejected row, that names the limit: never a crash, and never a
// silent truncation.
#pragma once

#include <cstddef>

namespace pennyweight::limits {

inline constexpr std::size_t kNumberBytesMax = 128;         // a number written out in text
inline constexpr std::size_t kRowBytesMax = 4u << 20;       // one CSV or sacct row
inline constexpr std::size_t kFieldBytesMax = 1u << 20;     // one field of a row
inline constexpr std::size_t kColumnsMax = 2048;            // columns of a table
inline constexpr std::size_t kDocumentBytesMax = 1u << 30;  // one JSON or exposition document
inline constexpr std::size_t kConfigBytesMax = 4u << 20;    // one YAML document
inline constexpr std::size_t kPolicyRulesMax = 1000;        // in one list of a policy
inline constexpr std::size_t kPolicyValuesMax = 10'000;     // of one rule: labels, parts
inline constexpr std::size_t kPolicyKeyBytesMax = 128;      // a dimension, or a value with a part
inline constexpr std::size_t kProblemsMax = 100;            // errors, or warnings, of one document
inline constexpr std::size_t kLabelsMax = 256;              // labels of one workload
inline constexpr std::size_t kLabelKeyBytesMax = 317;  // Kubernetes: prefix 253 + '/' + name 63
inline constexpr std::size_t kLabelValueBytesMax = 4096;
inline constexpr std::size_t kIdBytesMax = 2048;              // an id or a name of anything
inline constexpr std::size_t kRejectedTextBytesMax = 4096;    // of a bad row that is set aside
inline constexpr std::size_t kRejectedRowsKeptMax = 100'000;  // per import; all are counted
// Rows set aside of a bill that a person can decide about one by one; the money of all is stated.
inline constexpr std::size_t kAsideRowsStatedMax = 10'000;
inline constexpr std::size_t kGpusPerNodeMax = 1024;
inline constexpr std::size_t kGpusPerHoldingMax = 1'000'000;
inline constexpr std::size_t kBatchRows = 8192;  // rows passed on at once

}  // namespace pennyweight::limits
