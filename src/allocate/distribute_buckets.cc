#include "allocate/distribute_buckets.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/label_match.h"

namespace pennyweight {
namespace {

// Whether a posting is part of what a rule may spread.
bool is_in_a_bucket(const Posting& posting) {
  switch (posting.kind) {
    case PostingKind::kUsed:
      return false;
    case PostingKind::kOverhead:
      return true;  // system pods too: they are nobody's
    case PostingKind::kHeldIdle:
    case PostingKind::kUnallocated:
    case PostingKind::kStranded:
    case PostingKind::kUnavailable:
    case PostingKind::kShared:
      return posting.workload.empty();
  }
  return false;
}

// An empty pattern is met by everything.
bool meets(std::string_view text, const std::string& pattern) {
  return pattern.empty() || meets_pattern(text, pattern);
}

struct BucketPart {
  BucketKey key;
  const Posting* posting;
};

}  // namespace

std::optional<std::uint32_t> SpreadRules::rule_for(const Posting& posting) const {
  if (!is_in_a_bucket(posting)) return std::nullopt;
  for (std::uint32_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].kind != posting.kind || !meets_conditions(rules_[i], posting)) continue;
    return rules_[i].how == Spread::kKeep ? std::nullopt : std::optional(i);
  }
  return std::nullopt;
}

bool SpreadRules::meets_conditions(const SpreadRule& rule, const Posting& posting) const {
  const bool any =
      rule.service_category.empty() && rule.service_name.empty() && rule.charge_category.empty();
  if (rule.kind != PostingKind::kShared || any) return true;
  const Charge* charge = charges_.find(posting.charge);
  return charge != nullptr && meets(charge->service_category, rule.service_category) &&
         meets(charge->service_name, rule.service_name) &&
         meets(to_text(charge->charge_category), rule.charge_category);
}

std::vector<Bucket> buckets_of(std::span<const Posting> postings, const SpreadRules& rules,
                               AllPlaces& places) {
  std::vector<BucketPart> parts;
  for (const Posting& posting : postings) {
    const auto rule = rules.rule_for(posting);
    if (!rule) continue;
    parts.push_back({{.rule = *rule,
                      .component = posting.component,
                      .currency = posting.costs.currency(),
                      .day = posting.day,
                      .place = places[rules.within(rules[*rule])].of(posting)},
                     &posting});
  }
  std::sort(parts.begin(), parts.end(),
            [](const BucketPart& a, const BucketPart& b) { return a.key < b.key; });
  std::vector<Bucket> buckets;
  for (const auto& [key, posting] : parts) {
    if (buckets.empty() || buckets.back().key != key) {
      buckets.push_back({key, Costs::zero(key.currency), posting->interval});
    }
    Bucket& bucket = buckets.back();
    bucket.costs += posting->costs;
    bucket.interval = Interval(std::min(bucket.interval.begin(), posting->interval.begin()),
                               std::max(bucket.interval.end(), posting->interval.end()));
  }
  std::erase_if(buckets, [](const Bucket& bucket) {
    return bucket.costs == Costs::zero(bucket.key.currency);
  });
  return buckets;
}

// Two rules of one kind differ in their conditions, else the second would never decide. Conditions
// may hold any text, so each tells its length; so may a place, which therefore stands last.
std::string name_of(const Bucket& bucket, const SpreadRules& rules, const AllPlaces& places) {
  const SpreadRule& rule = rules[bucket.key.rule];
  const SpreadWithin within =
      bucket.key.place == kWholeCluster ? SpreadWithin::kCluster : rules.within(rule);
  std::string name = fmt::format("spread {}", to_text(rule.kind));
  if (rule.kind == PostingKind::kShared) {
    for (const std::string* condition :
         {&rule.service_category, &rule.service_name, &rule.charge_category}) {
      name += fmt::format(" {}:{}", condition->size(), *condition);
    }
  }
  return name + fmt::format(" {} {} {} {} {}", to_text(bucket.key.component),
                            bucket.key.currency.text(), date_text(bucket.key.day), text_of(within),
                            places[rules.within(rule)].name(bucket.key.place));
}

std::string date_text(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

std::string_view text_of(Spread how) {
  switch (how) {
    case Spread::kKeep:
      return "keep";
    case Spread::kProportional:
      return "proportional";
    case Spread::kEven:
      return "even";
    case Spread::kFixed:
      return "fixed";
  }
  return "";
}

std::string_view text_of(SpreadWithin within) {
  switch (within) {
    case SpreadWithin::kNode:
      return "node";
    case SpreadWithin::kPool:
      return "pool";
    case SpreadWithin::kCluster:
      return "cluster";
  }
  return "";
}

}  // namespace pennyweight
