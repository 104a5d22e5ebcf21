#include "allocation/buckets.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/policy/label_match.h"
#include "allocation/policy/words.h"

namespace pennyweight {
namespace {

// Whether a spread rule may move the posting.
bool is_in_a_bucket(const Posting& posting) {
  switch (posting.kind) {
    case PostingKind::kUsed:
      return false;
    case PostingKind::kOverhead:
      return true;  // also of system pods: they have no owner
    case PostingKind::kHeldIdle:
    case PostingKind::kUnallocated:
    case PostingKind::kStranded:
    case PostingKind::kUnavailable:
    case PostingKind::kShared:
      return posting.workload.empty();
  }
  return false;
}

// An empty pattern matches everything.
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

std::vector<Bucket> collect_buckets(std::span<const Posting> postings, const SpreadRules& rules,
                                    SpreadAreas& areas) {
  std::vector<BucketPart> parts;
  for (const Posting& posting : postings) {
    const auto rule = rules.rule_for(posting);
    if (!rule) continue;
    parts.push_back({{.rule = *rule,
                      .component = posting.component,
                      .currency = posting.costs.currency(),
                      .day = posting.day,
                      .area = areas[rules.within(rules[*rule])].area_of(posting)},
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

// Two rules of one kind differ in their conditions, or the second would never apply. Conditions may
// hold any text, so each is preceded by its length; an area's name may too, so it comes last.
std::string bucket_name(const Bucket& bucket, const SpreadRules& rules, const SpreadAreas& areas) {
  const SpreadRule& rule = rules[bucket.key.rule];
  const SpreadWithin within =
      bucket.key.area == kWholeCluster ? SpreadWithin::kCluster : rules.within(rule);
  std::string name = fmt::format("spread {}", to_text(rule.kind));
  if (rule.kind == PostingKind::kShared) {
    for (const std::string* condition :
         {&rule.service_category, &rule.service_name, &rule.charge_category}) {
      name += fmt::format(" {}:{}", condition->size(), *condition);
    }
  }
  return name + fmt::format(" {} {} {} {} {}", to_text(bucket.key.component),
                            bucket.key.currency.text(), date_text(bucket.key.day),
                            words::text(within), areas[rules.within(rule)].name(bucket.key.area));
}

std::string date_text(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

}  // namespace pennyweight
