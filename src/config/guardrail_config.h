// The section `guardrails:` of the configuration: rules about what a workload may cost and
// request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config_key.h"
#include "config/live_config.h"
#include "config/yaml_reader.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/client_terms.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/rules.h"
#include "insight/guardrails/usage_limit.h"

namespace pennyweight {

// The admission webhook of `serve`.
struct AdmissionConfig {
  std::string host = {};  // empty: there is none
  std::uint16_t port = 0;
  std::string tls_cert_file = {};
  std::string tls_key_file = {};
  std::string tls_client_ca_file = {};
  // Patterns; see guardrails::AdmissionPolicy.
  std::vector<std::string> exempt_namespaces = {"kube-system", "kube-public", "kube-node-lease",
                                                "pennyweight"};
  std::vector<std::string> controllers = {"system:kube-controller-manager",
                                          "system:serviceaccount:kube-system:*-controller"};
  bool admits_unknown = false;
};

// What `serve` answers Slurm's plugins.
struct SlurmGateConfig {
  std::string socket = {};  // a path; empty: there is none
  // Users as which slurmctld runs: they say who submits a job.
  std::vector<std::string> daemon_users = {"root", "slurm"};
  bool admits_unknown = false;
};

struct GuardrailConfig {
  std::vector<guardrails::GuardrailRule> rules = {};
  // How workloads are priced where nothing else is said; in the currency of the rules.
  guardrails::EstimateOptions pricing = {};
  AdmissionConfig admission = {};
  SlurmGateConfig slurm = {};
  guardrails::ApprovalTerms approvals = {};
  std::vector<guardrails::ClientTerms> clients = {};
  std::vector<guardrails::UsageLimit> limits = {};
  std::string cluster_objects_file = {};  // empty: there is none
};

// Names are unique, every rule has a condition and a reason, and all amounts are in one currency.
GuardrailConfig read_guardrails(YamlReader& reader, const YamlNode& node, const PathReader& path);

ConfigKeys guardrail_config_keys();

}  // namespace pennyweight
