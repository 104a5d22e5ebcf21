#include "app/context/paths.h"

#include <filesystem>

namespace pennyweight {

std::string live_folder(const Config& config) {
  return config.live.serve.data.empty() ? config.store_path + ".live" : config.live.serve.data;
}

std::string machine_token_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "machine-token").string();
}

std::string accounts_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "accounts.sqlite").string();
}

std::string budget_book_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "budgets.jsonl").string();
}

std::string annotation_book_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "annotations.jsonl").string();
}

std::string anomaly_book_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "anomalies.jsonl").string();
}

std::string event_book_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "events.jsonl").string();
}

std::string approval_book_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "approvals.jsonl").string();
}

std::string approval_key_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "approvals.key").string();
}

std::string stop_notices_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "stop-notices").string();
}

std::string forecast_book_path(const Config& config) {
  return (std::filesystem::path(live_folder(config)) / "forecasts.jsonl").string();
}

std::string audit_log_path(const Config& config) { return config.store_path + ".audit"; }

}  // namespace pennyweight
