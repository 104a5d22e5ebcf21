// InputFormat: one kind of file that `import` reads, and the list of them all.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "core/error.h"
#include "ingest/bills/bill_format.h"

namespace pennyweight {

class FileStart;    // detect_format.h
struct FileParser;  // file_parser.h
struct ParserInput;

// An entry of the list lives as long as the program; two are the same format if they have the same
// address.
struct InputFormat {
  std::string name;         // "slurm-json", as --format takes it
  std::string description;  // "Slurm accounting (sacct --json)"

  // True for a file that begins like this. Not asked about Parquet, whose columns stand at its end.
  bool (*matches)(const InputFormat& format, const FileStart& start) = nullptr;
  // Opens a parser. An Error names an option that the format needs.
  Result<FileParser> (*open)(const InputFormat& format, const ParserInput& input) = nullptr;

  bool needs_cluster = false;                        // the file does not name its cluster
  ClusterKind cluster_kind = ClusterKind::kUnknown;  // of the clusters that have such files
  std::string_view outcome_name = "outcome";         // what one of its outcomes is called

  const bill::BillFormat* bill = nullptr;  // null: not a bill
  bill::BillEncoding encoding = bill::BillEncoding::kCsv;
};

// In the order in which detection asks them: of two formats that share names of columns, the one
// with the narrower rule comes first.
std::span<const InputFormat> input_formats();
// Null where no format has the name.
const InputFormat* find_input_format(std::string_view name);
std::vector<std::string> input_format_names();
const InputFormat* find_bill_input(const bill::BillFormat& format, bill::BillEncoding encoding);

}  // namespace pennyweight
