#include "app/daemon/upload_import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "app/audit_events/audit_events.h"
#include "app/context/console.h"
#include "app/import/delivery_effect.h"
#include "app/import/importer.h"
#include "app/import/input_format.h"
#include "app/run/allocate_month.h"
#include "core/files/file.h"
#include "core/try.h"
#include "ingest/bills/parquet_import.h"
#include "ledger/store_rules.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// A small file can unpack to terabytes. An upload is meant for one bill or list; more goes through
// the command line, where nobody waits for an answer.
constexpr std::uint64_t kUnpackedBytesMax = std::uint64_t{1} << 30;
constexpr std::size_t kReadBytes = 1u << 20;

// A file of mode 0600 whose name is removed at once; open() finds it by its descriptor.
class UnnamedFile {
 public:
  static Result<UnnamedFile> create(std::string_view bytes) {
    std::error_code failed;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
    if (failed) return fail(ErrorCode::kIo, "no folder for temporary files found; set TMPDIR");
    std::string path = (folder / "pennyweight-upload-XXXXXX").string();
    const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) {
      return fail(ErrorCode::kIo, "cannot make a temporary file in " + folder.string());
    }
    UnnamedFile file(descriptor);
    ::unlink(path.c_str());
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        return fail(ErrorCode::kIo, "cannot write a temporary file in " + folder.string());
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return file;
  }
  UnnamedFile(UnnamedFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  UnnamedFile& operator=(UnnamedFile&&) = delete;
  ~UnnamedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  explicit UnnamedFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

std::unexpected<Error> unpacks_too_large() {
  return fail(ErrorCode::kBadValue,
              "the file unpacks to more than 1 GiB, which an upload may not; import it with "
              "'pennyweight import'");
}

Result<void> check_unpacked_size(const std::string& path, std::string_view bytes_sent) {
  constexpr std::string_view kParquetMark = "PAR1";  // readers may look at the one at the end only
  if (bytes_sent.starts_with(kParquetMark) || bytes_sent.ends_with(kParquetMark)) {
    const bool is_more = TRY(bill::unpacks_to_more(path, kUnpackedBytesMax));
    if (is_more) return unpacks_too_large();
  }
  auto file = TRY(InputFile::open(path));
  std::vector<char> piece(kReadBytes);
  std::uint64_t bytes = 0;
  for (;;) {
    const std::size_t got = TRY(file.read(piece));
    if (got == 0) return {};
    bytes += got;
    if (bytes > kUnpackedBytesMax) return unpacks_too_large();
  }
}

// The messages of the importer name the file by the path at which it was opened.
Error with_name(Error error, const std::string& path, const std::string& name) {
  for (std::size_t at = error.message.find(path); at != std::string::npos;
       at = error.message.find(path, at + name.size())) {
    error.message.replace(at, path.size(), name);
  }
  // What the file lacks, or says wrong, is for the sender to mend.
  if (error.code == ErrorCode::kConfig || error.code == ErrorCode::kBadFile ||
      error.code == ErrorCode::kUnsupported) {
    error.code = ErrorCode::kBadValue;
  }
  return error;
}

std::vector<std::string> effect_texts(const DeliveryEffect& effect) {
  constexpr std::size_t kAccountsShown = 40;
  std::vector<std::string> texts;
  for (const AccountEffect& account : effect.accounts) {
    if (texts.size() == kAccountsShown) {
      texts.push_back(fmt::format("… and {} more", effect.accounts.size() - kAccountsShown));
      break;
    }
    texts.push_back(to_text(account));
  }
  return texts;
}

}  // namespace

Result<api::Made<api::UploadReport>> import_upload(const api::FileUpload& upload,
                                                   SharedLedger& ledger, const Config& config,
                                                   Clock& clock) {
  ImportOptions options;
  if (!upload.format.empty()) {
    options.format = find_input_format(upload.format);
    if (options.format == nullptr) {
      return fail(ErrorCode::kBadValue, fmt::format("there is no format '{}'", upload.format));
    }
  }
  options.name = upload.name;
  options.cluster = upload.cluster;
  options.reason = upload.reason;
  options.preview = upload.preview;
  options.confirmed = upload.confirmed;
  options.changed = upload.changed;
  const auto file = TRY(UnnamedFile::create(upload.bytes));
  if (auto fits = check_unpacked_size(file.path(), upload.bytes); !fits) {
    return std::unexpected(with_name(fits.error(), file.path(), upload.name));
  }
  const Console console = Console::detect(ColourMode::kNever, true);
  std::optional<FileImport> imported;
  const auto done = ledger.with([&](Store& store) -> Result<void> {
    imported = TRY(import_file(store, file.path(), options, config, console, clock));
    return {};
  });
  if (!done) return std::unexpected(with_name(done.error(), file.path(), upload.name));
  api::Made<api::UploadReport> made;
  const std::string names[] = {upload.name};
  if (auto event = upload.preview ? std::nullopt : import_event(names, *imported)) {
    made.changes.push_back({std::move(event->action), std::move(event->subject),
                            std::move(event->before), std::move(event->after)});
  }
  made.report = {.format = imported->format->name,
                 .description = imported->format->description,
                 .is_bill = imported->format->bill != nullptr,
                 .outcome = std::move(imported->outcome),
                 .holdings = imported->holdings,
                 .gpu_hours = format_gpu_hours(imported->gpu_time, 4, Thousands::kPlain),
                 .rejected_count = imported->rejected_count,
                 .rejected = std::move(imported->rejected),
                 .remarks = std::move(imported->remarks),
                 .statement = std::move(imported->statement),
                 .effect = effect_texts(imported->effect),
                 .confirm_key = confirm_key(imported->effect.needs_confirm),
                 .needs_confirm = std::move(imported->effect.needs_confirm),
                 .doubles = std::move(imported->effect.doubles)};
  return made;
}

Result<api::Made<std::vector<api::RunReport>>> allocate_on_request(const std::string& month,
                                                                   SharedLedger& ledger,
                                                                   const Config& config,
                                                                   const Catalog& catalog,
                                                                   Clock& clock) {
  api::Made<std::vector<api::RunReport>> made;
  TRY(ledger.with([&](Store& store) -> Result<void> {
    const auto overview = TRY(store.overview());
    if (std::ranges::find(overview.months, month) == overview.months.end()) {
      return fail(ErrorCode::kNotFound, fmt::format("there are no bill lines in {}", month));
    }
    const auto closings = TRY(store.closings());
    if (std::ranges::find(closings, month, &Closing::month) != closings.end()) {
      return fail(ErrorCode::kConflict, month_is_closed(month));
    }
    const auto work = TRY(store.work_records());
    auto loaded = TRY(LedgerMonth::load(store, month, config.join_rules));
    const unsigned threads =
        config.threads > 0 ? config.threads : std::max(1U, std::thread::hardware_concurrency());
    const auto scopes = TRY(allocate_whole_month(store, loaded,
                                                 {.policy = config.policy,
                                                  .catalog = catalog,
                                                  .threads = threads,
                                                  .join_rules = config.join_rules,
                                                  .at = clock.now(),
                                                  .changed = {},
                                                  .imports_read = work.imports}));
    for (const AllocatedScope& scope : scopes) {
      made.report.push_back({.cluster = scope.run.scope.cluster.text(),
                             .number = scope.run.number,
                             .lines = scope.lines,
                             .postings = scope.run.postings,
                             .unchanged = scope.unchanged});
      if (scope.unchanged) continue;
      AuditEvent event = allocation_event(scope.run);
      made.changes.push_back({std::move(event.action), std::move(event.subject),
                              std::move(event.before), std::move(event.after)});
    }
    return {};
  }));
  return made;
}

}  // namespace pennyweight
