// Options by which manifests are priced, shared by the verbs `estimate` and `guard`.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "ingest/manifests/manifest_files.h"
#include "insight/guardrails/estimate.h"

namespace pennyweight {

struct PricingOptions {
  std::string provider;
  std::string region;
  std::string instance_type;
  std::string option;
  std::vector<std::string> gpu_models;
  std::string currency;
  std::string prices_as_of;
  std::string hours;
};

void add_pricing_options(CLI::App& command, PricingOptions& options);

// What the options do not state is as guardrails.pricing of the configuration says. An error of
// wrong usage names the option.
Result<guardrails::EstimateOptions> read_pricing_options(const PricingOptions& options,
                                                         const Config& config, Instant now);

// The estimate of the files and folders. An Error names the file, or the option that the price list
// can't serve.
Result<guardrails::Estimate> estimate_paths(const std::vector<std::string>& paths,
                                            const Catalog& catalog,
                                            const guardrails::EstimateOptions& options);
Result<guardrails::Estimate> estimate_files(std::span<const manifests::ManifestFile> files,
                                            const Catalog& catalog,
                                            const guardrails::EstimateOptions& options);

}  // namespace pennyweight
