#include "ledger/usage.h"

#include <fmt/format.h>

namespace pennyweight {
namespace {

std::string number_text(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "absent";
}

// Whether `here` is `there` and more numbers, none of which decides a share. An import of a version
// that read fewer columns left them out.
bool only_adds_numbers(const Usage& there, Usage here) {
  for (const UsageNumber& number : kUsageNumbers) {
    if (!number.decides_shares && !(there.*number.field)) (here.*number.field).reset();
  }
  return content_hash(there) == content_hash(here);
}

}  // namespace

Usage shares_of(const Usage& usage) {
  Usage shares = usage;
  for (const UsageNumber& number : kUsageNumbers) {
    if (!number.decides_shares) (shares.*number.field).reset();
  }
  return shares;
}

Hash128 natural_key(const Usage& usage) {
  Fingerprint print;
  print.add("usage")
      .add(usage.cluster.text())
      .add(usage.gpu.text())
      .add(usage.mig_instance)
      .add(usage.workload.text())
      .add(unix_ms(usage.at));
  if (usage.span_ms > 0) {
    print.add(std::int64_t{usage.span_ms}).add(static_cast<std::int64_t>(usage.part));
  }
  return print.hash();
}

Hash128 content_hash(const Usage& usage) {
  Fingerprint print;
  print.add(usage.cluster.text())
      .add(usage.node.text())
      .add(usage.gpu.text())
      .add(usage.mig_instance)
      .add(usage.mig_profile)
      .add(usage.model)
      .add(usage.workload.text())
      .add(unix_ms(usage.at));
  for (const UsageNumber& number : kUsageNumbers) print.add(usage.*number.field);
  print.add(std::int64_t{usage.of_workload}).add(std::int64_t{usage.span_ms});
  print.add(static_cast<std::int64_t>(usage.part));
  return print.hash();
}

std::string difference(const Usage& there, const Usage& here) {
  std::string text;
  const auto note = [&](std::string_view what, std::string_view was, std::string_view is) {
    text += fmt::format("{}{} {} there, {} here", text.empty() ? "" : "; ", what, was, is);
  };
  for (const UsageNumber& number : kUsageNumbers) {
    const auto &was = there.*number.field, &is = here.*number.field;
    if (was != is) note(number.label, number_text(was), number_text(is));
  }
  if (there.of_workload != here.of_workload) {
    note("whose values", there.of_workload ? "the workload's" : "the device's",
         here.of_workload ? "the workload's" : "the device's");
  }
  if (there.node != here.node) note("node", there.node.text(), here.node.text());
  if (there.model != here.model) note("model", there.model, here.model);
  if (there.mig_profile != here.mig_profile) note("profile", there.mig_profile, here.mig_profile);
  if (!text.empty() && only_adds_numbers(there, here)) {
    text += "; no cost is divided by what is added, so every cost stays right";
  }
  return text;
}

}  // namespace pennyweight
