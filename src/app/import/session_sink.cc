#include "app/import/session_sink.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "app/import/delivery_doubles.h"
#include "core/card_share.h"
#include "core/gpu/gpu_model.h"
#include "core/json_text.h"
#include "ledger/delivery.h"
#include "ledger/other_columns.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// Adds a member to a flat JSON object whose keys are sorted.
std::string with_json_member(const std::string& json, const std::string& member) {
  const std::string_view key = std::string_view(member).substr(0, member.find(':'));
  std::size_t at = 1;
  while (at < json.size() && json[at] == '"') {
    OtherColumnReader columns(std::string_view(json).substr(at - 1));
    const auto column = columns.next();
    if (!column || std::string_view(json).substr(at, key.size()) > key) break;
    const std::size_t end =
        static_cast<std::size_t>(column->identity.data() + column->identity.size() - json.data());
    at = end + 1;
    if (at < json.size() && json[at] == ',') {
      ++at;
    } else {
      return json.substr(0, json.size() - 1) + "," + member + "}";
    }
  }
  return json.substr(0, at) + member + "," + json.substr(at);
}

// The share of a GPU that one device of the holding is, as far as the holding itself tells.
std::optional<CardShare> compute_share_of(const Holding& holding) {
  if (std::holds_alternative<WholeGpu>(holding.device)) return CardShare::whole();
  if (const auto* fraction = std::get_if<CardFraction>(&holding.device)) return fraction->compute;
  if (const auto* slice = std::get_if<MigSlice>(&holding.device)) {
    const GpuModel* model = find_gpu_model(holding.gpu_model);
    if (model == nullptr) return std::nullopt;
    const auto share = find_mig_share(*model, slice->profile);
    if (share) return share->compute;
  }
  return std::nullopt;  // a shard, a replica, a virtual GPU: their GPU or node decides
}

}  // namespace

Result<void> SessionSink::charges(std::span<const Charge> charges) {
  rows_ += charges.size();
  if (!watches_bill_) return session_.append_charges(charges);
  const std::span<const Charge> lines = part_json_.empty() ? charges : with_part(charges);
  for (const Charge& charge : lines) {
    file_lines_.add(charge);
    bill_periods_.add(charge);
    file_digest_.add(content_hash(charge));
  }
  file_line_count_ += lines.size();
  return session_.append_charges(lines);
}

void SessionSink::watch_bill(std::string_view part) {
  watches_bill_ = true;
  if (part.empty()) return;
  part_json_ = "\"" + std::string(kDeliveryPartColumn) + "\":";
  append_stored_json_string(part_json_, part);
}

// A part that the provider names stays beside that of the delivery.
std::span<const Charge> SessionSink::with_part(std::span<const Charge> charges) {
  labelled_.assign(charges.begin(), charges.end());
  for (Charge& charge : labelled_) {
    std::string& json = charge.other_columns;
    if (!other_column_text(charge, kDeliveryPartColumn).empty()) continue;
    json = json.empty() ? "{" + part_json_ + "}" : with_json_member(json, part_json_);
  }
  return labelled_;
}

Result<void> SessionSink::end_bill_file(const std::string& file) {
  DeliveredFile ended{.name = file, .rows = file_line_count_, .lines = file_digest_.digest()};
  // Files of one delivery may share a line or two that cost the same by chance.
  constexpr std::uint64_t kPercentInCommonMax = 20, kLinesInCommonMax = 10;
  for (const DeliveredFile& other : bill_files_) {
    if (ended.rows == 0 || other.lines != ended.lines) continue;
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} holds the same {} as {}, and {} would count twice; give one of them", file,
                    counted(ended.rows, "bill line"), other.name, text_of_total(file_lines_)));
  }
  const LinesInCommon common = lines_in_common(bill_lines_, file_lines_);
  if (common.all || (common.percent > kPercentInCommonMax && common.lines > kLinesInCommonMax)) {
    return fail(
        ErrorCode::kConflict,
        fmt::format(
            "{} % of the {} in {} is also in the files before it and would count twice: they "
            "are two deliveries of a month and not parts of one; give only the newer one",
            common.all ? 100 : common.percent, text_of_total(file_lines_), file));
  }
  if (percent_without_sub_accounts(bill_lines_, file_lines_) > kPercentInCommonMax) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("the {} in {} are also in the files before it, with sub accounts on one "
                    "side only, and would count twice; give one of the two",
                    text_of_total(file_lines_), file));
  }
  bill_lines_.merge_file(file_lines_);
  bill_files_.push_back(std::move(ended));
  file_lines_ = {};
  file_digest_ = {};
  file_line_count_ = 0;
  return {};
}

Result<void> SessionSink::rejected(std::span<const RejectedRow> rows) {
  rows_ += rows.size();
  rejected_count_ += rows.size();
  for (const RejectedRow& row : rows) {
    if (first_rejected_.size() < kRejectedShown) first_rejected_.push_back(row);
  }
  return session_.append_rejected(rows);
}

Result<void> SessionSink::holdings(std::span<const Holding> holdings) {
  rows_ += holdings.size();
  for (const Holding& holding : holdings) {
    ++holdings_;
    const std::uint64_t devices = device_count(holding);
    const auto share = compute_share_of(holding);
    if (share) {
      gpu_time_ += (*share * devices).over_ms(holding.held.length_ms());
    } else if (devices > 0) {
      ++without_gpu_time_;
    }
  }
  return session_.append_holdings(holdings);
}

Result<void> SessionSink::nodes(std::span<const Node> nodes) {
  rows_ += nodes.size();
  return session_.append_nodes(nodes);
}

Result<void> SessionSink::gpus(std::span<const Gpu> gpus) {
  rows_ += gpus.size();
  return session_.append_gpus(gpus);
}

Result<void> SessionSink::usages(std::span<const Usage> usages) {
  rows_ += usages.size();
  return session_.append_usages(usages);
}

Result<void> SessionSink::outages(std::span<const Outage> outages) {
  rows_ += outages.size();
  return session_.append_outages(outages);
}

Result<void> SessionSink::corrections(std::span<const Correction> corrections) {
  rows_ += corrections.size();
  return session_.append_corrections(corrections);
}

Result<void> SessionSink::outcomes(std::span<const Outcome> outcomes) {
  rows_ += outcomes.size();
  return session_.append_outcomes(outcomes);
}

}  // namespace pennyweight
