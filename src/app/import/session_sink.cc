#include "app/import/session_sink.h"

#include <optional>

#include "core/card_share.h"
#include "core/gpu/gpu_model.h"

namespace pennyweight {
namespace {

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
  return session_.append_charges(charges);
}

Result<void> SessionSink::rejected(std::span<const RejectedRow> rows) {
  rows_ += rows.size();
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
