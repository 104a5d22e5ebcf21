// BillFormat: what the program knows about one provider's format of bills: its name, how to
// recognise it, its options, and how to read it.
//
// The folder of each format exports one BillFormat, and formats/bill_formats.cc lists them.
// Detection, --format, the configuration, --help and doctor read that list.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/rate_card.h"
#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_reader.h"
#include "ledger/delivery.h"

namespace pennyweight::bill {

// Something that the file does not say and the user must.
struct BillOption {
  std::string_view key;   // "azure_metric": in the configuration, and in BillSettings
  std::string_view flag;  // "--azure-metric": of `import`
  std::span<const std::string_view> choices;
  std::string_view help;
  bool in_configuration = true;  // false: it differs from file to file, so only the flag sets it
};

// What the user says about the bills of one format.
struct BillSettings {
  // Empty where nothing is set.
  std::string_view option(std::string_view key) const;

  std::map<std::string, std::string, std::less<>> options;  // by BillOption::key
  const RateCard* rate_card = nullptr;  // outlives the readers; null: there is none
};

// An option as the rows of the files themselves say it, where the user does not.
struct InferredOption {
  std::string key;  // BillOption::key
  std::string value;
  std::string remark;  // what was found, for the user; may be empty
};

// Reads the rows of all files of a delivery once before they are imported.
class OptionSurvey {
 public:
  virtual ~OptionSurvey() = default;
  // For each file; its readers skip every row. They must not outlive the survey.
  virtual RowReaderFactory reader() = 0;
  // After the last row. An Error where the rows contradict each other.
  virtual Result<std::vector<InferredOption>> infer() const = 0;
};

// How a bill is written down.
enum class BillEncoding { kCsv, kParquet, kJson };

struct BillFormat {
  std::string_view name;    // "aws": in --format and bills[].format; "aws-parquet" where encoded so
  std::string_view title;   // "an AWS Cost and Usage Report"
  bool in_parquet = false;  // besides CSV
  bool in_json = false;
  DeliveryStyle default_delivery = DeliveryStyle::kGuarded;
  bool uses_rate_card = false;  // for bills without money
  std::span<const BillOption> options = {};

  // True if a CSV or Parquet file with these columns is a bill of this format.
  bool (*has_columns)(std::span<const std::string> names) = nullptr;
  // True if a JSON document with this beginning is; only for formats with in_json.
  bool (*has_records)(std::string_view beginning) = nullptr;
  // Opens the readers of rows. An Error names the option that is missing.
  Result<RowReaderFactory> (*open)(const BillSettings& settings) = nullptr;
  // Opens a survey where an option that decides about amounts is not set; null: nothing to find
  // out. A null function: the format has no such option.
  std::unique_ptr<OptionSurvey> (*open_survey)(const BillSettings& settings) = nullptr;
  // Opens the import of JSON that is not a list of flat records; null: import_json reads it.
  std::unique_ptr<BillImport> (*open_json)(std::string file, ImportSink& sink) = nullptr;
};

// True if `beginning` has the name of a JSON member.
bool has_json_name(std::string_view beginning, std::string_view name);

// A file to be imported. Rejected rows and errors have its name; Parquet is read at its path.
struct BillFile {
  std::string path;
  std::string name;
};

// Reads a file for a survey. `file` and the bytes that are fed: as in open_bill().
std::unique_ptr<BillImport> open_survey_of(BillEncoding encoding, const BillFile& file,
                                           OptionSurvey& survey, ImportSink& sink);

// Opens the import of one file; `sink` must outlive the import. The bytes of a Parquet file need
// not be fed.
Result<std::unique_ptr<BillImport>> open_bill(const BillFormat& format, BillEncoding encoding,
                                              const BillFile& file, const BillSettings& settings,
                                              ImportSink& sink);

}  // namespace pennyweight::bill
