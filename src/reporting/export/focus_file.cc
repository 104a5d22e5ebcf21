#include "reporting/export/focus_file.h"

#include <utility>

#include "core/try.h"
#include "reporting/export/focus_csv.h"

namespace pennyweight {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

}  // namespace

Result<FocusFile> FocusFile::create(const std::string& path, FocusFormat format,
                                    const std::vector<FocusColumn>& columns,
                                    const std::string& temp_directory) {
  FocusFile file(path);
  if (format == FocusFormat::kParquet) {
    auto parquet = TRY(FocusParquet::create(columns, temp_directory));
    file.parquet_.emplace(std::move(parquet));
    return file;
  }
  auto csv = TRY(OutputFile::create(path));
  file.csv_ = std::make_unique<OutputFile>(std::move(csv));
  append_csv_header(file.text_, columns);
  return file;
}

Result<void> FocusFile::append(const FocusRow& row) {
  ++rows_;
  if (parquet_) return parquet_->append(row);
  append_csv_row(text_, row);
  return text_.size() < kFlushBytes ? Result<void>{} : flush();
}

Result<void> FocusFile::finish() {
  if (parquet_) return parquet_->write(path_);
  TRY(flush());
  return csv_->commit();
}

Result<void> FocusFile::flush() {
  auto written = csv_->write(text_);
  text_.clear();
  return written;
}

}  // namespace pennyweight
