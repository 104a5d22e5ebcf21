#include "config/guardrail_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "allocation/pricing/catalog.h"
#include "config/alert_config.h"
#include "config/budget_config.h"
#include "config/config.h"
#include "core/ascii.h"
#include "core/gpu/gpu_model.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "insight/budgets/budget.h"

namespace pennyweight {
namespace {

using guardrails::GuardrailRule;
using guardrails::RuleConditions;

constexpr std::size_t kGuardrailRulesMax = 1000;
constexpr std::size_t kGuardrailListMax = 200;
constexpr std::uint32_t kBudgetPercentMax = 1000;
constexpr std::string_view kUnknownWords[] = {"deny", "allow"};
// Those of rules, and one that denies what lacks a label.
constexpr auto kEffectWords = [] {
  std::array<std::string_view, std::size(guardrails::kRuleEffectWords) + 1> words;
  std::ranges::copy(guardrails::kRuleEffectWords, words.begin());
  words.back() = "require_label";
  return words;
}();
// Beyond "off": the modes of rules, in their order.
constexpr std::string_view kPodSecurityWords[] = {"off", "audit", "warn", "enforce"};
constexpr std::pair<manifests::RiskKind, std::string_view> kPodSecurityRules[] = {
    {manifests::RiskKind::kPrivileged, "take securityContext.privileged away"},
    {manifests::RiskKind::kRoot, "set runAsNonRoot: true, or runAsUser to another user than 0"},
    {manifests::RiskKind::kEscalation, "set allowPrivilegeEscalation: false"},
    {manifests::RiskKind::kCapability,
     "set capabilities: {drop: [ALL]}, and add at most NET_BIND_SERVICE"},
    {manifests::RiskKind::kHostNamespace, "take hostNetwork, hostPID and hostIPC away"},
    {manifests::RiskKind::kHostPath, "use a PersistentVolumeClaim or an emptyDir"},
    {manifests::RiskKind::kHostPort, "use a Service"},
    {manifests::RiskKind::kSeccomp, "set seccompProfile: {type: RuntimeDefault}"},
    {manifests::RiskKind::kNoDigest, "name the image with its digest: IMAGE@sha256:..."},
    {manifests::RiskKind::kSecretInEnv, "use valueFrom.secretKeyRef, and change the secret"}};
constexpr std::string_view kEnforcementWords[] = {"hard", "soft"};
constexpr std::string_view kUsesWords[] = {"once", "until_end"};
constexpr std::int64_t kApprovalMsMax = 366 * 86'400'000LL;
// A month's limit is measured once a minute, and is another one the next month.
constexpr std::int64_t kStopGraceMsMin = 5 * 60'000LL;
constexpr std::int64_t kStopGraceMsMax = 28 * 86'400'000LL;
constexpr std::int64_t kGuardrailRunMsMax = 8'640'000'000'000;  // 100,000 days

class GuardrailReader {
 public:
  GuardrailReader(YamlReader& yaml, const PathReader& path) : yaml_(yaml), path_(path) {}

  GuardrailConfig read(const YamlNode& node) {
    GuardrailConfig config;
    std::vector<GuardrailRule>& rules = config.rules;
    std::optional<std::size_t> pack;
    yaml_.mapping(node, "guardrails",
                  {{"rules",
                    [&](const YamlNode& list) {
                      yaml_.sequence(list, "guardrails.rules", kGuardrailRulesMax,
                                     [&](const YamlNode& item) { add_rule(item, rules); });
                    }},
                   {"pricing", [&](const YamlNode& at) { pricing(at, config.pricing); }},
                   {"admission", [&](const YamlNode& at) { admission(at, config.admission); }},
                   {"slurm", [&](const YamlNode& at) { slurm(at, config.slurm); }},
                   {"limits",
                    [&](const YamlNode& at) {
                      yaml_.sequence(at, "guardrails.limits", kGuardrailRulesMax,
                                     [&](const YamlNode& item) { add_limit(item, config.limits); });
                    }},
                   {"cluster_objects",
                    [&](const YamlNode& at) {
                      config.cluster_objects_file = path_(at, "guardrails.cluster_objects");
                    }},
                   {"pod_security",
                    [&](const YamlNode& at) {
                      pack = yaml_.choice(at, "guardrails.pod_security", kPodSecurityWords);
                    }},
                   {"approvals", [&](const YamlNode& at) { approvals(at, config.approvals); }},
                   {"clients", [&](const YamlNode& at) {
                      yaml_.sequence(
                          at, "guardrails.clients", kGuardrailListMax,
                          [&](const YamlNode& item) { add_client(item, config.clients); });
                    }}});
    if (pack && *pack > 0) {
      add_pod_security(node, static_cast<guardrails::RuleMode>(*pack - 1), rules);
    }
    const auto currency = guardrails::rules_currency(rules);
    if (!currency) yaml_.refuse(node, currency.error().message);
    if (currency && *currency) config.pricing.currency = **currency;
    check_currency(node, config);
    return config;
  }

 private:
  // The rule pack: a rule for each risk, behind the rules that are stated, so that one of these
  // with the effect `allow` can let something through.
  void add_pod_security(const YamlNode& node, guardrails::RuleMode mode,
                        std::vector<GuardrailRule>& rules) {
    for (std::size_t i = 0; i < std::size(kPodSecurityRules); ++i) {
      const auto& [kind, way_out] = kPodSecurityRules[i];
      GuardrailRule rule{
          .name = fmt::format("pod-security: {}",
                              manifests::kRiskKindWords[static_cast<std::size_t>(kind)]),
          .mode = mode,
          .when = {.risks = {kind}},
          .way_out = std::string(way_out)};
      if (std::ranges::any_of(rules, [&](const auto& own) { return own.name == rule.name; })) {
        yaml_.refuse(
            node,
            fmt::format("two rules are called '{}'; guardrails.pod_security adds one", rule.name));
      }
      rules.push_back(std::move(rule));
    }
  }

  void pricing(const YamlNode& node, guardrails::EstimateOptions& options) {
    const std::string what = "guardrails.pricing";
    yaml_.mapping(
        node, what,
        {{"provider", [&](const YamlNode& at) { text(at, what + ".provider", options.provider); }},
         {"region", [&](const YamlNode& at) { text(at, what + ".region", options.region); }},
         {"instance_type",
          [&](const YamlNode& at) { text(at, what + ".instance_type", options.instance_type); }},
         {"option",
          [&](const YamlNode& at) {
            const auto word = yaml_.text(at, what + ".option");
            if (!word) return;
            const auto option = parse_purchase_option(*word);
            if (option) {
              options.option = *option;
            } else {
              yaml_.refuse(at, what + ".option is on_demand, spot, committed_1y or committed_3y");
            }
          }},
         {"gpu_models", [&](const YamlNode& at) { gpu_models(at, options); }},
         {"other_resources", [&](const YamlNode& at) {
            options.other_resources = list(at, what + ".other_resources");
          }}});
  }

  // Names as they are written in manifests, and what they mean; `default` is what names none.
  void gpu_models(const YamlNode& node, guardrails::EstimateOptions& options) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "guardrails.pricing.gpu_models")) return;
    if (node.entries.size() > kGuardrailListMax) {
      return yaml_.refuse(node, fmt::format("guardrails.pricing.gpu_models has more than {} names",
                                            kGuardrailListMax));
    }
    for (const YamlNode::Entry& entry : node.entries) {
      auto model = yaml_.text(entry.value, "guardrails.pricing.gpu_models." + entry.key);
      if (!model) continue;
      if (find_gpu_model(*model) == nullptr) {
        yaml_.refuse(entry.value, fmt::format("'{}' is not a known GPU model, or matches "
                                              "several, such as A100-SXM4-40GB and A100-SXM4-80GB",
                                              *model));
      }
      options.gpu_models[entry.key == "default" ? "" : entry.key] = std::move(*model);
    }
  }

  void admission(const YamlNode& node, AdmissionConfig& admission) {
    const std::string what = "guardrails.admission";
    yaml_.mapping(
        node, what,
        {{"listen",
          [&](const YamlNode& at) {
            const auto address = yaml_.text(at, what + ".listen");
            if (!address) return;
            ServeConfig parsed;
            if (const auto set = set_listen_address(*address, parsed); !set) {
              return yaml_.refuse(at, what + ".listen: " + set.error().message);
            }
            admission.host = parsed.host;
            admission.port = parsed.port;
          }},
         {"cert_file",
          [&](const YamlNode& at) { admission.tls_cert_file = path_(at, what + ".cert_file"); }},
         {"key_file",
          [&](const YamlNode& at) { admission.tls_key_file = path_(at, what + ".key_file"); }},
         {"client_ca_file",
          [&](const YamlNode& at) {
            admission.tls_client_ca_file = path_(at, what + ".client_ca_file");
          }},
         {"exempt_namespaces",
          [&](const YamlNode& at) {
            admission.exempt_namespaces = list(at, what + ".exempt_namespaces");
          }},
         {"controllers",
          [&](const YamlNode& at) { admission.controllers = list(at, what + ".controllers"); }},
         {"unknown", [&](const YamlNode& at) {
            const auto which = yaml_.choice(at, what + ".unknown", kUnknownWords);
            if (which) admission.admits_unknown = *which == 1;
          }}});
    if (admission.host.empty()) {
      return yaml_.refuse(node, "guardrails.admission needs listen, such as 0.0.0.0:8443");
    }
    const bool is_local = admission.host.starts_with("127.") || admission.host == "::1" ||
                          admission.host == "localhost";
    const bool has_both = !admission.tls_cert_file.empty() && !admission.tls_key_file.empty();
    const bool has_none = admission.tls_cert_file.empty() && admission.tls_key_file.empty();
    if (!has_both && !admission.tls_client_ca_file.empty()) {
      yaml_.refuse(node, "guardrails.admission: client_ca_file needs cert_file and key_file");
    }
    if (!has_both && !(has_none && is_local)) {
      yaml_.refuse(node,
                   "guardrails.admission: give cert_file and key_file; the API server speaks to "
                   "webhooks over TLS only");
    }
  }

  void slurm(const YamlNode& node, SlurmGateConfig& slurm) {
    const std::string what = "guardrails.slurm";
    yaml_.mapping(
        node, what,
        {{"socket", [&](const YamlNode& at) { slurm.socket = path_(at, what + ".socket"); }},
         {"daemon_users",
          [&](const YamlNode& at) { slurm.daemon_users = list(at, what + ".daemon_users"); }},
         {"unknown", [&](const YamlNode& at) {
            const auto which = yaml_.choice(at, what + ".unknown", kUnknownWords);
            if (which) slurm.admits_unknown = *which == 1;
          }}});
    if (slurm.socket.empty()) {
      yaml_.refuse(node, "guardrails.slurm needs socket, such as /run/pennyweight/slurm.sock");
    }
  }

  void approvals(const YamlNode& node, guardrails::ApprovalTerms& terms) {
    const std::string what = "guardrails.approvals";
    const auto days = [&](const YamlNode& at, const std::string& key, std::int64_t& target) {
      const auto ms = yaml_.duration(at, what + key, 60'000, kApprovalMsMax);
      if (ms) target = *ms;
    };
    yaml_.mapping(
        node, what,
        {{"expires_after",
          [&](const YamlNode& at) { days(at, ".expires_after", terms.pending_ms); }},
         {"valid_for", [&](const YamlNode& at) { days(at, ".valid_for", terms.valid_ms); }},
         {"escalate_after",
          [&](const YamlNode& at) {
            terms.escalate_ms =
                yaml_.duration(at, what + ".escalate_after", 60'000, kApprovalMsMax);
          }},
         {"link_address",
          [&](const YamlNode& at) {
            text(at, what + ".link_address", terms.link_address);
            while (terms.link_address.ends_with('/')) terms.link_address.pop_back();
            const bool is_address = terms.link_address.starts_with("https://") ||
                                    terms.link_address.starts_with("http://127.0.0.1:");
            if (!is_address) {
              yaml_.refuse(at, what +
                                   ".link_address begins with https://, since whoever reads a "
                                   "link may decide by it");
            }
          }},
         {"links_valid_for",
          [&](const YamlNode& at) { days(at, ".links_valid_for", terms.link_ms); }},
         {"uses",
          [&](const YamlNode& at) {
            const auto which = yaml_.choice(at, what + ".uses", kUsesWords);
            if (which) terms.is_once = *which == 0;
          }},
         {"two_persons_above",
          [&](const YamlNode& at) {
            terms.two_persons_above = money(at, what + ".two_persons_above");
          }},
         {"approvers", [&](const YamlNode& at) {
            yaml_.sequence(at, what + ".approvers", kGuardrailListMax,
                           [&](const YamlNode& item) { add_approver(item, terms); });
          }}});
  }

  void add_approver(const YamlNode& node, guardrails::ApprovalTerms& terms) {
    const std::string what = "guardrails.approvals.approvers[]";
    guardrails::ApproverLimit limit;
    yaml_.mapping(node, what,
                  {{"who", [&](const YamlNode& at) { text(at, what + ".who", limit.who); }},
                   {"up_to", [&](const YamlNode& at) { limit.up_to = money(at, what + ".up_to"); }},
                   {"delegate", [&](const YamlNode& at) { limit.delegate = delegate(at, what); }}});
    if (limit.who.empty()) return yaml_.refuse(node, what + " needs who: a name, or a pattern");
    terms.approvers.push_back(std::move(limit));
  }

  std::optional<guardrails::ApproverDelegate> delegate(const YamlNode& node,
                                                       const std::string& approver) {
    const std::string what = approver + ".delegate";
    std::string to;
    std::optional<Date> from;
    std::optional<Date> until;
    yaml_.mapping(node, what,
                  {{"to", [&](const YamlNode& at) { text(at, what + ".to", to); }},
                   {"from", [&](const YamlNode& at) { from = date(at, what + ".from"); }},
                   {"until", [&](const YamlNode& at) { until = date(at, what + ".until"); }}});
    if (!to.empty() && from && until && *from <= *until) {
      return guardrails::ApproverDelegate{.to = to, .from = *from, .until = *until};
    }
    yaml_.refuse(node, what + " needs to, and from and until: its first and last day");
    return std::nullopt;
  }

  void add_client(const YamlNode& node, std::vector<guardrails::ClientTerms>& clients) {
    const std::string what = "guardrails.clients[]";
    guardrails::ClientTerms terms;
    const std::size_t before = yaml_.error_count();
    yaml_.mapping(
        node, what,
        {{"name", [&](const YamlNode& at) { text(at, what + ".name", terms.name); }},
         {"dimension", [&](const YamlNode& at) { text(at, what + ".dimension", terms.dimension); }},
         {"value", [&](const YamlNode& at) { terms.values = list(at, what + ".value"); }},
         {"regions", [&](const YamlNode& at) { terms.regions = list(at, what + ".regions"); }},
         {"accounts", [&](const YamlNode& at) { terms.accounts = list(at, what + ".accounts"); }},
         {"node_pools",
          [&](const YamlNode& at) { terms.node_pools = list(at, what + ".node_pools"); }},
         {"dedicated_nodes", [&](const YamlNode& at) {
            if (const auto yes = yaml_.yes_or_no(at, what + ".dedicated_nodes")) {
              terms.dedicated_nodes = *yes;
            }
          }}});
    if (yaml_.error_count() != before) return;
    if (terms.name.empty()) return yaml_.refuse(node, "a client needs a name");
    if (std::ranges::any_of(clients, [&](const auto& other) { return other.name == terms.name; })) {
      return yaml_.refuse(node, fmt::format("two clients are called '{}'", terms.name));
    }
    clients.push_back(std::move(terms));
  }

  void add_limit(const YamlNode& node, std::vector<guardrails::UsageLimit>& limits) {
    const std::string what = "guardrails.limits[]";
    guardrails::UsageLimit limit;
    const std::size_t before = yaml_.error_count();
    yaml_.mapping(
        node, what,
        {{"name", [&](const YamlNode& at) { text(at, what + ".name", limit.name); }},
         {"dimension", [&](const YamlNode& at) { text(at, what + ".dimension", limit.dimension); }},
         {"value", [&](const YamlNode& at) { text(at, what + ".value", limit.value); }},
         {"per_month",
          [&](const YamlNode& at) { limit.per_month = money(at, what + ".per_month"); }},
         {"gpu_hours",
          [&](const YamlNode& at) {
            const auto hours = yaml_.integer(at, what + ".gpu_hours", 0, 1'000'000'000);
            if (hours) limit.gpu_hours = Money::from_units(*hours, kGpuHourUnit);
          }},
         {"gpus", [&](const YamlNode& at) { gpu_quotas(at, what + ".gpus", limit, false); }},
         {"borrow", [&](const YamlNode& at) { gpu_quotas(at, what + ".borrow", limit, true); }},
         {"enforcement",
          [&](const YamlNode& at) {
            const auto which = yaml_.choice(at, what + ".enforcement", kEnforcementWords);
            if (which) limit.is_hard = *which == 0;
          }},
         {"namespaces",
          [&](const YamlNode& at) { limit.namespaces = list(at, what + ".namespaces"); }},
         {"cohort", [&](const YamlNode& at) { text(at, what + ".cohort", limit.cohort); }},
         {"slurm_account",
          [&](const YamlNode& at) { text(at, what + ".slurm_account", limit.slurm_account); }},
         {"slurm_qos", [&](const YamlNode& at) { text(at, what + ".slurm_qos", limit.slurm_qos); }},
         {"stop_running", [&](const YamlNode& at) {
            limit.stop_running = stop_terms(at, what + ".stop_running");
          }}});
    if (yaml_.error_count() != before) return;
    check_limit_names(node, limit);
    if (limit.stop_running && (!limit.is_hard || (!limit.per_month && !limit.gpu_hours))) {
      return yaml_.refuse(node,
                          fmt::format("limit '{}': only a hard limit of money or GPU-hours can "
                                      "stop work that runs",
                                      limit.name));
    }
    if (!limit.per_month && !limit.gpu_hours && limit.gpus.empty()) {
      return yaml_.refuse(node, fmt::format("limit '{}' limits nothing; state per_month, gpu_hours "
                                            "or gpus",
                                            limit.name));
    }
    if (std::ranges::any_of(limits, [&](const auto& other) { return other.name == limit.name; })) {
      return yaml_.refuse(node, fmt::format("two limits are called '{}'", limit.name));
    }
    for (const auto& [kind, name] : {std::pair("account", &guardrails::UsageLimit::slurm_account),
                                     {"QOS", &guardrails::UsageLimit::slurm_qos}}) {
      const bool is_taken =
          !(limit.*name).empty() && std::ranges::any_of(limits, [&](const auto& other) {
            return other.*name == limit.*name;
          });
      if (is_taken) {
        return yaml_.refuse(node, fmt::format("two limits are of the Slurm {} '{}', which has one "
                                              "set of limits; put them into one",
                                              kind, limit.*name));
      }
    }
    limits.push_back(std::move(limit));
  }

  std::optional<guardrails::StopTerms> stop_terms(const YamlNode& node, const std::string& what) {
    guardrails::StopTerms terms;
    std::optional<std::int64_t> grace;
    yaml_.mapping(node, what,
                  {{"grace",
                    [&](const YamlNode& at) {
                      grace = yaml_.duration(at, what + ".grace", kStopGraceMsMin, kStopGraceMsMax);
                    }},
                   {"exempt", [&](const YamlNode& at) {
                      yaml_.sequence(at, what + ".exempt", kGuardrailListMax,
                                     [&](const YamlNode& item) {
                                       stop_exemption(item, what + ".exempt[]", terms.exemptions);
                                     });
                    }}});
    if (!grace) {
      yaml_.refuse(node, what + " needs grace: how long their owner knows of it, such as 24h");
      return std::nullopt;
    }
    terms.grace_ms = static_cast<std::uint64_t>(*grace);
    return terms;
  }

  void stop_exemption(const YamlNode& node, const std::string& what,
                      std::vector<guardrails::StopExemption>& exemptions) {
    guardrails::StopExemption exemption;
    std::optional<Date> until;
    yaml_.mapping(
        node, what,
        {{"workload",
          [&](const YamlNode& at) { text(at, what + ".workload", exemption.workload); }},
         {"label",
          [&](const YamlNode& at) {
            if (!yaml_.is(at, YamlNode::Kind::kMapping, what + ".label")) return;
            for (const YamlNode::Entry& entry : at.entries) {
              text(entry.value, what + ".label." + entry.key, exemption.labels[entry.key]);
            }
          }},
         {"reason", [&](const YamlNode& at) { text(at, what + ".reason", exemption.reason); }},
         {"until", [&](const YamlNode& at) { until = date(at, what + ".until"); }}});
    const bool is_of_something = !exemption.workload.empty() || !exemption.labels.empty();
    if (!is_of_something || exemption.reason.empty() || !until) {
      return yaml_.refuse(node,
                          what + " needs workload or label, a reason, and until: its last day");
    }
    exemption.until = *until;
    exemptions.push_back(std::move(exemption));
  }

  // They become names of queues and words of a shell script.
  void check_limit_names(const YamlNode& node, const guardrails::UsageLimit& limit) {
    const auto is_name = [](std::string_view text, std::string_view more) {
      return !text.empty() && text.size() <= 63 && ascii::is_letter_or_digit(text.front()) &&
             ascii::is_letter_or_digit(text.back()) && std::ranges::all_of(text, [&](char c) {
               return ascii::is_letter_or_digit(c) || more.find(c) != std::string_view::npos;
             });
    };
    const auto is_object = [&](const std::string& text) {
      return is_name(text, "-") && text == ascii::lower_case(text);
    };
    if (!is_object(limit.name)) {
      yaml_.refuse(node, "a limit needs a name of small letters, digits and '-', such as nlp");
    }
    for (const std::string& name_space : limit.namespaces) {
      if (is_object(name_space)) continue;
      yaml_.refuse(node,
                   fmt::format("limit '{}': '{}' is no namespace; patterns are not meant here",
                               limit.name, name_space));
    }
    if (!limit.cohort.empty() && !is_object(limit.cohort)) {
      yaml_.refuse(node, fmt::format("limit '{}': a cohort has a name of small letters, digits and "
                                     "'-'",
                                     limit.name));
    }
    for (const auto& [key, text] :
         {std::pair("slurm_account", &limit.slurm_account), {"slurm_qos", &limit.slurm_qos}}) {
      if (text->empty() || (is_name(*text, "-_.") && *text == ascii::lower_case(*text))) continue;
      yaml_.refuse(
          node, fmt::format("limit '{}': {} has small letters, digits, '-', '_' and '.', as Slurm "
                            "stores it",
                            limit.name, key));
    }
  }

  // A mapping from GPU models to counts; `borrow` comes in any order with `gpus`.
  void gpu_quotas(const YamlNode& node, const std::string& what, guardrails::UsageLimit& limit,
                  bool borrows) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, what)) return;
    for (const YamlNode::Entry& entry : node.entries) {
      const auto count = yaml_.integer(entry.value, what + "." + entry.key, 0, 1'000'000);
      if (!count) continue;
      const GpuModel* const model = find_gpu_model(entry.key);
      if (model == nullptr) {
        yaml_.refuse(entry.value, fmt::format("'{}' is not a known GPU model, or matches several, "
                                              "such as A100-SXM4-40GB and A100-SXM4-80GB",
                                              entry.key));
        continue;
      }
      auto at = std::ranges::find(limit.gpus, model->name, &guardrails::GpuQuota::model);
      if (at == limit.gpus.end()) {
        at = limit.gpus.insert(limit.gpus.end(), {.model = model->name});
      }
      (borrows ? at->borrowed_max : at->count) = static_cast<std::uint64_t>(*count);
    }
  }

  // An amount in another currency would never be compared with a cost.
  void check_currency(const YamlNode& node, const GuardrailConfig& config) {
    std::vector<std::optional<Money>> amounts = {config.approvals.two_persons_above};
    for (const auto& approver : config.approvals.approvers) amounts.push_back(approver.up_to);
    for (const auto& limit : config.limits) amounts.push_back(limit.per_month);
    for (const std::optional<Money>& amount : amounts) {
      if (!amount || amount->currency() == config.pricing.currency) continue;
      return yaml_.refuse(node,
                          fmt::format("guardrails.approvals or limits has an amount in {}, and "
                                      "workloads are priced in {}",
                                      amount->currency().text(), config.pricing.currency.text()));
    }
  }

  void change(const YamlNode& node, guardrails::WorkloadChange& change) {
    const std::string what = "guardrails.rules[].set";
    yaml_.mapping(
        node, what,
        {{"label", [&](const YamlNode& at) { label_values(at, what + ".label", change.labels); }},
         {"time_limit",
          [&](const YamlNode& at) {
            const auto ms = yaml_.duration(at, what + ".time_limit", 1000, kGuardrailRunMsMax);
            if (!ms) return;
            change.run_ms = static_cast<std::uint64_t>(*ms);
            if (*ms % 1000 != 0) yaml_.refuse(at, what + ".time_limit is in whole seconds");
          }},
         {"priority_class",
          [&](const YamlNode& at) { text(at, what + ".priority_class", change.priority_class); }},
         {"toleration",
          [&](const YamlNode& at) { change.tolerations = list(at, what + ".toleration"); }}});
  }

  void add_rule(const YamlNode& node, std::vector<GuardrailRule>& rules) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "an item of guardrails.rules")) return;
    const std::size_t before = yaml_.error_count();
    GuardrailRule rule;
    bool requires_labels = false;
    std::vector<std::string> required;
    yaml_.mapping(
        node, "guardrails.rules[]",
        {{"name", [&](const YamlNode& at) { text(at, "guardrails.rules[].name", rule.name); }},
         {"mode",
          [&](const YamlNode& at) {
            const auto which =
                yaml_.choice(at, "guardrails.rules[].mode", guardrails::kRuleModeWords);
            if (which) rule.mode = static_cast<guardrails::RuleMode>(*which);
          }},
         {"effect",
          [&](const YamlNode& at) {
            const auto which = yaml_.choice(at, "guardrails.rules[].effect", kEffectWords);
            if (!which) return;
            requires_labels = *which == std::size(guardrails::kRuleEffectWords);
            if (!requires_labels) rule.effect = static_cast<guardrails::RuleEffect>(*which);
          }},
         {"labels", [&](const YamlNode& at) { required = list(at, "guardrails.rules[].labels"); }},
         {"when", [&](const YamlNode& at) { rule.when = conditions(at); }},
         {"reason",
          [&](const YamlNode& at) { text(at, "guardrails.rules[].reason", rule.reason); }},
         {"way_out",
          [&](const YamlNode& at) { text(at, "guardrails.rules[].way_out", rule.way_out); }},
         {"set", [&](const YamlNode& at) { change(at, rule.change); }},
         {"exempt", [&](const YamlNode& at) { exemptions(at, rule); }}});
    if (yaml_.error_count() != before) return;
    if (rule.name.empty()) return yaml_.refuse(node, "a rule needs a name");
    if (requires_labels == required.empty()) {
      return yaml_.refuse(
          node, requires_labels
                    ? fmt::format("rule '{}' requires no label; state labels: [team]", rule.name)
                    : fmt::format("rule '{}' has labels, which only the effect require_label does",
                                  rule.name));
    }
    if (requires_labels && !require_labels(node, std::move(required), rule)) return;
    if (rule.when == RuleConditions()) {
      return yaml_.refuse(node, fmt::format("rule '{}' has no condition and would apply to "
                                            "everything; state when, such as {{kind: \"*\"}}",
                                            rule.name));
    }
    const bool mutates = rule.effect == guardrails::RuleEffect::kMutate;
    if (mutates == (rule.change == guardrails::WorkloadChange())) {
      return yaml_.refuse(
          node,
          mutates ? fmt::format("rule '{}' changes nothing; state set, such as {{label: "
                                "{{team: nlp}}}}",
                                rule.name)
                  : fmt::format("rule '{}' has set, which only the effect mutate does", rule.name));
    }
    if (std::ranges::any_of(rules, [&](const auto& other) { return other.name == rule.name; })) {
      return yaml_.refuse(node, fmt::format("two rules are called '{}'", rule.name));
    }
    rules.push_back(std::move(rule));
  }

  // Whatever meets the other conditions and lacks one of the labels is refused.
  bool require_labels(const YamlNode& node, std::vector<std::string> required,
                      GuardrailRule& rule) {
    if (!rule.when.labels_missing.empty()) {
      yaml_.refuse(node, fmt::format("rule '{}' states labels and when.label_missing; one of them "
                                     "suffices",
                                     rule.name));
      return false;
    }
    rule.effect = guardrails::RuleEffect::kDeny;
    if (rule.way_out.empty()) {
      rule.way_out = fmt::format("add the {} {}", required.size() == 1 ? "label" : "labels",
                                 fmt::join(required, ", "));
    }
    rule.when.labels_missing = std::move(required);
    return true;
  }

  RuleConditions conditions(const YamlNode& node) {
    RuleConditions when;
    const std::string what = "guardrails.rules[].when";
    yaml_.mapping(
        node, what,
        {{"kind", [&](const YamlNode& at) { when.kinds = list(at, what + ".kind"); }},
         {"namespace",
          [&](const YamlNode& at) { when.namespaces = list(at, what + ".namespace"); }},
         {"name", [&](const YamlNode& at) { when.names = list(at, what + ".name"); }},
         {"label", [&](const YamlNode& at) { labels(at, what + ".label", when); }},
         {"label_missing",
          [&](const YamlNode& at) { when.labels_missing = list(at, what + ".label_missing"); }},
         {"annotation",
          [&](const YamlNode& at) { label_values(at, what + ".annotation", when.annotations); }},
         {"annotation_missing",
          [&](const YamlNode& at) {
            when.annotations_missing = list(at, what + ".annotation_missing");
          }},
         {"risk", [&](const YamlNode& at) { risks(at, what + ".risk", when); }},
         {"image", [&](const YamlNode& at) { when.images = list(at, what + ".image"); }},
         {"image_not",
          [&](const YamlNode& at) { when.images_except = list(at, what + ".image_not"); }},
         {"runtime_class_not",
          [&](const YamlNode& at) {
            when.runtime_classes_except = list(at, what + ".runtime_class_not");
          }},
         {"storage_class_not",
          [&](const YamlNode& at) {
            when.storage_classes_except = list(at, what + ".storage_class_not");
          }},
         {"network_policy_missing",
          [&](const YamlNode& at) { traffic(at, what + ".network_policy_missing", when); }},
         {"gpu_model",
          [&](const YamlNode& at) { when.gpu_models = list(at, what + ".gpu_model"); }},
         {"region", [&](const YamlNode& at) { when.regions = list(at, what + ".region"); }},
         {"region_not",
          [&](const YamlNode& at) { when.regions_except = list(at, what + ".region_not"); }},
         {"provider", [&](const YamlNode& at) { when.providers = list(at, what + ".provider"); }},
         {"gpus_above",
          [&](const YamlNode& at) {
            const auto gpus = yaml_.integer(at, what + ".gpus_above", 0, 1'000'000'000);
            if (gpus) when.gpus_above = static_cast<std::uint64_t>(*gpus);
          }},
         {"per_hour_above",
          [&](const YamlNode& at) { when.per_hour_above = money(at, what + ".per_hour_above"); }},
         {"per_run_above",
          [&](const YamlNode& at) { when.per_run_above = money(at, what + ".per_run_above"); }},
         {"per_month_above",
          [&](const YamlNode& at) { when.per_month_above = money(at, what + ".per_month_above"); }},
         {"time_above",
          [&](const YamlNode& at) {
            const auto ms = yaml_.duration(at, what + ".time_above", 0, kGuardrailRunMsMax);
            if (ms) when.run_ms_above = static_cast<std::uint64_t>(*ms);
          }},
         {"spot", [&](const YamlNode& at) { when.spot = yaml_.yes_or_no(at, what + ".spot"); }},
         {"priced",
          [&](const YamlNode& at) { when.priced = yaml_.yes_or_no(at, what + ".priced"); }},
         {"hours", [&](const YamlNode& at) { week_hours(at, what + ".hours", when.hours); }},
         {"hours_not",
          [&](const YamlNode& at) { week_hours(at, what + ".hours_not", when.hours_except); }},
         {"budget_used_above",
          [&](const YamlNode& at) {
            when.budget_used_permille_above =
                yaml_.percent(at, what + ".budget_used_above", kBudgetPercentMax);
          }},
         {"exceeds_budget", [&](const YamlNode& at) {
            when.exceeds_budget = yaml_.yes_or_no(at, what + ".exceeds_budget");
          }}});
    return when;
  }

  void week_hours(const YamlNode& node, const std::string& what, std::vector<WeekHours>& windows) {
    for (const std::string& words : list(node, what)) {
      const auto hours = parse_week_hours(words);
      if (!hours) {
        yaml_.refuse(node, fmt::format("{}: {}", what, hours.error().message));
        continue;
      }
      windows.push_back(*hours);
    }
  }

  void exemptions(const YamlNode& node, GuardrailRule& rule) {
    yaml_.sequence(node, "guardrails.rules[].exempt", kGuardrailListMax, [&](const YamlNode& item) {
      guardrails::RuleExemption exemption;
      std::optional<Date> until;
      yaml_.mapping(item, "guardrails.rules[].exempt[]",
                    {{"when", [&](const YamlNode& at) { exemption.when = conditions(at); }},
                     {"reason",
                      [&](const YamlNode& at) {
                        text(at, "guardrails.rules[].exempt[].reason", exemption.reason);
                      }},
                     {"until", [&](const YamlNode& at) {
                        until = date(at, "guardrails.rules[].exempt[].until");
                      }}});
      if (exemption.reason.empty() || !until) {
        return yaml_.refuse(item, "an exemption needs a reason, and until: its last day");
      }
      exemption.until = *until;
      rule.exemptions.push_back(std::move(exemption));
    });
  }

  // One text, or a list of them.
  std::vector<std::string> list(const YamlNode& node, const std::string& what) {
    if (node.kind == YamlNode::Kind::kSequence) return yaml_.texts(node, what, kGuardrailListMax);
    if (auto one = yaml_.text(node, what)) return {std::move(*one)};
    return {};
  }

  // A mapping from any label to a pattern of its value.
  void labels(const YamlNode& node, const std::string& what, RuleConditions& when) {
    label_values(node, what, when.labels);
  }

  void risks(const YamlNode& node, const std::string& what, RuleConditions& when) {
    for (const std::string& word : list(node, what)) {
      const auto* const at = std::ranges::find(manifests::kRiskKindWords, word);
      if (at != std::end(manifests::kRiskKindWords)) {
        when.risks.push_back(
            static_cast<manifests::RiskKind>(at - std::begin(manifests::kRiskKindWords)));
        continue;
      }
      yaml_.refuse(node,
                   fmt::format("{}: '{}' is no risk; there are {}", what, printable_text(word, 60),
                               fmt::join(manifests::kRiskKindWords, ", ")));
    }
  }

  void traffic(const YamlNode& node, const std::string& what, RuleConditions& when) {
    for (const std::string& word : list(node, what)) {
      const auto* const at = std::ranges::find(manifests::kTrafficDirectionWords, word);
      if (at == std::end(manifests::kTrafficDirectionWords)) {
        yaml_.refuse(node, fmt::format("{} is ingress, egress or both, not '{}'", what,
                                       printable_text(word, 60)));
        continue;
      }
      when.unlimited_traffic.push_back(static_cast<manifests::TrafficDirection>(
          at - std::begin(manifests::kTrafficDirectionWords)));
    }
  }

  void label_values(const YamlNode& node, const std::string& what,
                    std::vector<std::pair<std::string, std::string>>& into) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, what)) return;
    if (node.entries.size() > kGuardrailListMax) {
      return yaml_.refuse(node, fmt::format("{} has more than {} labels", what, kGuardrailListMax));
    }
    for (const YamlNode::Entry& entry : node.entries) {
      if (auto value = yaml_.text(entry.value, fmt::format("{}.{}", what, entry.key))) {
        into.emplace_back(entry.key, std::move(*value));
      }
    }
  }

  std::optional<Money> money(const YamlNode& node, const std::string& what) {
    const auto value = yaml_.text(node, what);
    if (!value) return std::nullopt;
    const auto amount = parse_amount(*value);
    if (amount && amount->currency() != kGpuHourUnit && !amount->is_negative()) return *amount;
    yaml_.refuse(node, fmt::format("{} is an amount such as 100 USD", what));
    return std::nullopt;
  }

  std::optional<Date> date(const YamlNode& node, const std::string& what) {
    const auto value = yaml_.text(node, what);
    if (!value) return std::nullopt;
    const auto day = parse_date(*value);
    if (day) return *day;
    yaml_.refuse(node, fmt::format("{}: {}", what, day.error().message));
    return std::nullopt;
  }

  void text(const YamlNode& node, std::string_view what, std::string& target) {
    if (auto value = yaml_.text(node, what)) target = std::move(*value);
  }

  YamlReader& yaml_;
  const PathReader& path_;
};

}  // namespace

std::shared_ptr<const GuardrailConfig> default_guardrails() {
  return std::make_shared<const GuardrailConfig>();
}

GuardrailConfig read_guardrails(YamlReader& reader, const YamlNode& node, const PathReader& path) {
  return GuardrailReader(reader, path).read(node);
}

ConfigKeys guardrail_config_keys() {
  return {
      {"guardrails.rules[].name", "text", "", "What the rule is called. Required, and unique."},
      {"guardrails.rules[].mode", "audit, warn, enforce", "enforce",
       "How far it goes: it only records, only warns, or does what its effect says."},
      {"guardrails.rules[].effect", "allow, warn, require_approval, deny, mutate, require_label",
       "deny",
       "What becomes of a workload to which it applies. After `allow` later rules don't count. "
       "`require_label` denies what lacks one of `labels`."},
      {"guardrails.rules[].labels", "text, list of texts", "",
       "Of the effect `require_label`: labels that must be there, and not be empty."},
      {"guardrails.rules[].reason", "text", "", "Why the rule is there, for who is stopped."},
      {"guardrails.rules[].way_out", "text", "", "What they can do instead."},
      {"guardrails.rules[].set.label", "mapping", "",
       "Of the effect `mutate`: labels that are added to the workload and its pods where they are "
       "missing or empty."},
      {"guardrails.rules[].set.time_limit", "duration", "",
       "A time limit for a Job, a CronJob's runs, or a Pod that is a run, without one."},
      {"guardrails.rules[].set.priority_class", "text", "",
       "The priority class of pods that state none."},
      {"guardrails.rules[].set.toleration", "text, list of texts", "",
       "Keys of taints that the pods then tolerate, such as those of spot nodes."},
      {"guardrails.rules[].when.kind", "pattern, list of patterns", "",
       "Kinds such as `Deployment` or `Slurm job`. All stated conditions must hold."},
      {"guardrails.rules[].when.namespace", "pattern, list of patterns", "", "Namespaces."},
      {"guardrails.rules[].when.name", "pattern, list of patterns", "", "Names of workloads."},
      {"guardrails.rules[].when.label", "mapping", "",
       "Labels with a pattern of their value; of Slurm account, partition, qos, comment, wckey."},
      {"guardrails.rules[].when.label_missing", "text, list of texts", "",
       "One of these labels is missing or empty."},
      {"guardrails.rules[].when.annotation", "mapping", "",
       "Annotations of the workload or its pods with a pattern of their value."},
      {"guardrails.rules[].when.annotation_missing", "text, list of texts", "",
       "One of these annotations is missing or empty, such as that of a scanner."},
      {"guardrails.rules[].when.risk", "list of risks", "",
       "One of its pods has one of them: `privileged`, `root`, `escalation`, `capability`, "
       "`host_namespace`, `host_path`, `host_port`, `seccomp`, `no_digest`, `secret_in_env`, "
       "`api_token`."},
      {"guardrails.rules[].when.image", "pattern, list of patterns", "",
       "The image of one of its containers; `docker.io/library/` and `docker.io/` may be left "
       "out."},
      {"guardrails.rules[].when.image_not", "pattern, list of patterns", "",
       "One of its containers has another image than these, or does not state one. Patterns are "
       "compared with whole names, such as `docker.io/library/nginx:1.27`."},
      {"guardrails.rules[].when.runtime_class_not", "pattern, list of patterns", "",
       "Pods of it run in no runtime class of these, such as `kata-*`, or state none."},
      {"guardrails.rules[].when.storage_class_not", "pattern, list of patterns", "",
       "A volume of its pods is of another storage class than these, of one that is not known, or "
       "of none, such as `nfs`."},
      {"guardrails.rules[].when.network_policy_missing", "ingress, egress, list of them", "",
       "In one of these directions no NetworkPolicy that is known limits the traffic of its "
       "pods."},
      {"guardrails.rules[].when.gpu_model", "pattern, list of patterns", "",
       "Models of the GPUs it is priced on, such as `H100*`."},
      {"guardrails.rules[].when.region", "pattern, list of patterns", "", "Regions."},
      {"guardrails.rules[].when.region_not", "pattern, list of patterns", "",
       "It runs in none of these, or its region is not known."},
      {"guardrails.rules[].when.provider", "pattern, list of patterns", "", "Providers."},
      {"guardrails.rules[].when.gpus_above", "number", "",
       "GPUs of all replicas, at most as many as its autoscaler may start; of whole machines, all "
       "of "
       "theirs. A number that is not known is above."},
      {"guardrails.rules[].when.per_hour_above", "amount", "",
       "Its cost per hour. What is not wholly priced counts as above."},
      {"guardrails.rules[].when.per_run_above", "amount", "",
       "The most that a run costs; a run without a time limit counts as above."},
      {"guardrails.rules[].when.per_month_above", "amount", "",
       "Its cost per month, with as many replicas as its autoscaler may start."},
      {"guardrails.rules[].when.time_above", "duration", "",
       "The time limit of a run; none at all counts as above."},
      {"guardrails.rules[].when.spot", "true, false", "", "Whether it runs on spot machines."},
      {"guardrails.rules[].when.priced", "true, false", "",
       "False: something of it can't be priced."},
      {"guardrails.rules[].when.hours", "days and times, list", "",
       "It is now one of them in `time_zone`, such as `mon-fri 08:00-18:00` or `sat 22:00-04:00`."},
      {"guardrails.rules[].when.hours_not", "days and times, list", "", "It is now none of them."},
      {"guardrails.rules[].when.budget_used_above", "percentage", "",
       "Of a budget whose filters its labels and namespace meet, more is spent in this period, "
       "such "
       "as `90%`. A budget that can't be measured is above, but meets nothing in exemptions and "
       "`allow`."},
      {"guardrails.rules[].when.exceeds_budget", "true, false", "",
       "A run of it, or a month, may cost more than such a budget of money has left, or its cost "
       "is not known. With `false`: it is known that none is exceeded."},
      {"guardrails.rules[].exempt[].when", "mapping", "",
       "To which workloads the rule does not apply, by the same conditions; without it, to all."},
      {"guardrails.rules[].exempt[].reason", "text", "", "Why. Required."},
      {"guardrails.rules[].exempt[].until", "date", "", "The last day. Required."},
      {"guardrails.pricing.provider", "text", "",
       "Only machines of this provider; for the webhook, `guard` and `estimate`. Their options "
       "come first."},
      {"guardrails.pricing.region", "text", "", "The region of what states none."},
      {"guardrails.pricing.instance_type", "text", "", "The machine of what demands none."},
      {"guardrails.pricing.option", "on_demand, spot, committed_1y, committed_3y", "on_demand",
       "How machines are bought."},
      {"guardrails.pricing.gpu_models", "mapping", "",
       "What the names of GPUs in manifests mean, such as `a100: A100-SXM4-80GB`; `default` is for "
       "requests that name none."},
      {"guardrails.pricing.other_resources", "pattern, list of patterns", "",
       "Extended resources that are no GPUs, such as `example.com/fpga`. Others that are not known "
       "are not priced."},
      {"guardrails.cluster_objects", "path", "",
       "A listing of the NetworkPolicies and PersistentVolumeClaims of the cluster, YAML or JSON, "
       "for the rules that ask for them. Read again when it changes."},
      {"guardrails.pod_security", "off, audit, warn, enforce", "off",
       "Adds a rule for each risk of pods but `api_token`, in this mode, behind all others."},
      {"guardrails.admission.listen", "address", "",
       "Where `serve` answers admission reviews of Kubernetes, such as `0.0.0.0:8443`; without it, "
       "nowhere."},
      {"guardrails.admission.cert_file", "path", "",
       "The webhook's certificate chain, PEM. Read again when it changes."},
      {"guardrails.admission.key_file", "path", "", "Its private key, PEM."},
      {"guardrails.admission.client_ca_file", "path", "",
       "Certificates, PEM, one of which must have signed that of the API server. Without it, "
       "whoever "
       "reaches the port may send reviews. Read again when it changes."},
      {"guardrails.admission.exempt_namespaces", "pattern, list of patterns",
       "kube-system, kube-public, kube-node-lease, pennyweight",
       "Everything there is admitted as it is."},
      {"guardrails.admission.controllers", "pattern, list of patterns",
       "system:kube-controller-manager, system:serviceaccount:kube-system:*-controller",
       "Users that make pods for workloads which were judged as a whole; add those of operators."},
      {"guardrails.admission.unknown", "deny, allow", "deny",
       "What becomes of what no rule can judge."},
      {"guardrails.slurm.socket", "path", "",
       "Where `serve` answers Slurm's plugins: a Unix socket, such as "
       "`/run/pennyweight/slurm.sock`; without it, nowhere."},
      {"guardrails.slurm.daemon_users", "text, list of texts", "root, slurm",
       "Users as which slurmctld runs; the host must have those that are stated. They say who "
       "submits a job; all others get advice only."},
      {"guardrails.slurm.unknown", "deny, allow", "deny",
       "What becomes of a job that no rule can judge."},
      {"guardrails.clients[].name", "text", "",
       "A client whose work `compliance` checks. Required, and unique."},
      {"guardrails.clients[].dimension", "text", "client",
       "The dimension whose value says that work is theirs."},
      {"guardrails.clients[].value", "text, list of texts", "",
       "Its values; without them, the name."},
      {"guardrails.clients[].regions", "pattern, list of patterns", "",
       "Where their work may run. A region that nobody recorded is a finding, too."},
      {"guardrails.clients[].accounts", "pattern, list of patterns", "",
       "Accounts of the provider (SubAccountId) that may be charged for it."},
      {"guardrails.clients[].node_pools", "pattern, list of patterns", "",
       "Node pools that it may run in."},
      {"guardrails.clients[].dedicated_nodes", "true, false", "false",
       "Nobody else runs on a node while they do."},
      {"guardrails.limits[].name", "text", "",
       "What the limit and its queues are called: small letters, digits, '-'. Required, and "
       "unique."},
      {"guardrails.limits[].dimension", "text", "team",
       "The dimension, and the label, whose value says that work is theirs."},
      {"guardrails.limits[].value", "text", "", "Its value; without it, the name."},
      {"guardrails.limits[].per_month", "amount", "",
       "What they may cost in a month. A hard limit stops new work, and what runs only where it "
       "has "
       "stop_running."},
      {"guardrails.limits[].gpu_hours", "number", "", "GPU-hours in a month; as per_month."},
      {"guardrails.limits[].gpus", "mapping", "",
       "GPUs at once by model, such as `H100-SXM5-80GB: 16`; for the exports."},
      {"guardrails.limits[].borrow", "mapping", "",
       "How many more of a model they may take while others in the cohort leave them idle."},
      {"guardrails.limits[].enforcement", "hard, soft", "hard",
       "Soft: it only warns, and may borrow whatever is idle."},
      {"guardrails.limits[].namespaces", "text, list of texts", "",
       "Their namespaces, for ResourceQuotas and queues."},
      {"guardrails.limits[].cohort", "text", "",
       "Limits of one cohort lend each other what is idle."},
      {"guardrails.limits[].slurm_account", "text", "", "Their account of Slurm."},
      {"guardrails.limits[].slurm_qos", "text", "",
       "Their QOS of Slurm; with slurm_account, jobs of that account may ask for it."},
      {"guardrails.limits[].stop_running", "mapping", "",
       "What runs is to be stopped once a hard limit is used up; without it, never."},
      {"guardrails.limits[].stop_running.grace", "duration", "",
       "For how long the owner is told of it before. Required."},
      {"guardrails.limits[].stop_running.exempt[].workload", "pattern", "",
       "Names of workloads that go on, such as `ml/serve-*`."},
      {"guardrails.limits[].stop_running.exempt[].label", "mapping", "",
       "Labels or dimensions of those that go on, with patterns."},
      {"guardrails.limits[].stop_running.exempt[].reason", "text", "", "Why. Required."},
      {"guardrails.limits[].stop_running.exempt[].until", "date", "", "The last day. Required."},
      {"guardrails.approvals.expires_after", "duration", "168h",
       "A request on which nobody has decided ends then."},
      {"guardrails.approvals.valid_for", "duration", "168h",
       "How long an approval may hold; so long where the approver states nothing."},
      {"guardrails.approvals.escalate_after", "duration", "",
       "Each time that a request has waited for so long, the next of `approvers` is notified, "
       "too."},
      {"guardrails.approvals.link_address", "address", "",
       "Where `serve` is reached, such as `https://pennyweight.example.org`: for links in "
       "notifications that decide. Without it there are none."},
      {"guardrails.approvals.links_valid_for", "duration", "24h", "How long such a link decides."},
      {"guardrails.approvals.uses", "once, until_end", "once",
       "How often an approval may be used, where the approver states nothing."},
      {"guardrails.approvals.two_persons_above", "amount", "",
       "Above it two persons approve, and where the cost is not known. Without it one suffices."},
      {"guardrails.approvals.approvers[].who", "pattern", "",
       "Names of users who may approve; on the command line `cli:NAME`. Without approvers, all "
       "with the permission `approve`."},
      {"guardrails.approvals.approvers[].up_to", "amount", "",
       "The most that a run, or a month, may cost; without it any amount, and what is not priced."},
      {"guardrails.approvals.approvers[].delegate.to", "pattern", "",
       "Names of users who decide in the approver's place."},
      {"guardrails.approvals.approvers[].delegate.from", "date", "", "The first day, in UTC."},
      {"guardrails.approvals.approvers[].delegate.until", "date", "", "The last day."},
  };
}

}  // namespace pennyweight
