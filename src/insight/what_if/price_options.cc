// Options about list prices, and about commitments that are bought.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/date.h"
#include "core/decimal.h"
#include "core/gpu/gpu_model.h"
#include "core/money.h"
#include "core/try.h"
#include "insight/what_if/option_reader.h"

namespace pennyweight::what_if {
namespace {

// "gcp:tier=spot,region=us-central1": what comes first, and the values by key.
struct KeyedText {
  std::string head;
  std::map<std::string, std::string> values;
};

// Nothing where a key is not among `keys`, is there twice, or has no value.
std::optional<KeyedText> parse_keyed(const std::string& text,
                                     std::span<const std::string_view> keys) {
  KeyedText keyed;
  const std::size_t colon = text.find(':');
  keyed.head = text.substr(0, colon);
  std::size_t begin = colon;
  while (begin != std::string::npos) {
    const std::size_t end = text.find(',', begin + 1);
    const std::string part =
        text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals + 1 == part.size()) return std::nullopt;
    const std::string key = part.substr(0, equals);
    if (std::ranges::find(keys, key) == keys.end()) return std::nullopt;
    if (!keyed.values.emplace(key, part.substr(equals + 1)).second) return std::nullopt;
    begin = end;
  }
  return keyed;
}

std::string value_or_empty(const KeyedText& keyed, const std::string& key) {
  const auto found = keyed.values.find(key);
  return found == keyed.values.end() ? std::string() : found->second;
}

class PriceOptions : public OptionReader {
 public:
  using OptionReader::OptionReader;

  Result<void> read(Scenario& scenario) const {
    for (const std::string& text : texts_.list_prices) {
      scenario.list_prices.push_back(TRY(read_list_price(text)));
    }
    for (const std::string& text : texts_.purchases) {
      scenario.purchases.push_back(TRY(read_purchase(text)));
    }
    if (scenario.purchases.empty()) return {};
    const std::pair<std::string_view, std::string_view> others[] = {
        {texts_.cheapest_tiers ? "cheapest-tiers" : "", "that search buys commitments itself"},
        {texts_.best_mig ? "best-mig" : "", "that search weighs nodes by their own price"}};
    for (const auto& [option, why] : others) {
      if (option.empty()) continue;
      return fail(ErrorCode::kBadValue,
                  fmt::format("{0}commitment-buy can't be combined with {0}{1}: {2}", texts_.dashes,
                              option, why));
    }
    return {};
  }

 private:
  // "same:tier=spot", "gcp:region=us-central1,date=2026-07-30", "p5.48xlarge:model=…,pool=…".
  Result<ListPriceChange> read_list_price(const std::string& text) const {
    static constexpr std::array<std::string_view, 6> kKeys = {"tier",     "region", "date",
                                                              "currency", "model",  "pool"};
    const auto keyed = parse_keyed(text, kKeys);
    if (!keyed || keyed->head.empty()) {
      return wrong("list-price", text,
                   "write whose price, and which: same:tier=spot, "
                   "gcp:tier=committed_1y,region=us-central1,date=2026-07-30,currency=EUR, or "
                   "p5.48xlarge:model=H100-SXM5-80GB,pool=train");
    }
    ListPriceChange change{.source = keyed->head,
                           .region = value_or_empty(*keyed, "region"),
                           .pool = value_or_empty(*keyed, "pool"),
                           .gpu_model = value_or_empty(*keyed, "model")};
    TRY(check_model(change.gpu_model, "list-price", text));
    if (const std::string tier = value_or_empty(*keyed, "tier"); !tier.empty()) {
      const auto option = parse_purchase_option(tier);
      if (!option) {
        return wrong("list-price", text,
                     "the tiers are on_demand, spot, committed_1y and committed_3y");
      }
      change.tier = *option;
    }
    if (const std::string date = value_or_empty(*keyed, "date"); !date.empty()) {
      const auto day = parse_date(date);
      if (!day) return wrong("list-price", text, "the date is a day, such as date=2026-07-30");
      change.date = *day;
    }
    if (const std::string code = value_or_empty(*keyed, "currency"); !code.empty()) {
      const auto currency = Currency::parse(code);
      if (!currency) return wrong("list-price", text, "the currency is a code, such as EUR");
      change.currency = *currency;
    }
    return change;
  }

  // "40@7.5/1y", "40@committed_1y", "250@60%/3y:from=2026-03-10,model=…,pool=…".
  Result<CommitmentPurchase> read_purchase(const std::string& text) const {
    const auto misread = [&] {
      return wrong("commitment-buy", text,
                   "write NODES@PRICE/TERM, what each committed node costs an hour: 40@7.50/1y, or "
                   "40@committed_1y for the list price; or AMOUNT@PERCENT%/TERM, an amount "
                   "an hour that pays for usage at so many percent of its price on demand: "
                   "250@60%/3y. Which nodes, and from when: "
                   "40@7.50:model=H100-SXM5-80GB,pool=train,from=2026-03-10");
    };
    static constexpr std::array<std::string_view, 3> kKeys = {"model", "pool", "from"};
    const auto keyed = parse_keyed(text, kKeys);
    if (!keyed) return misread();
    const std::size_t at = keyed->head.find('@');
    if (at == std::string::npos) return misread();
    const std::string count = keyed->head.substr(0, at);
    std::string price = keyed->head.substr(at + 1);
    CommitmentPurchase purchase{.text = text,
                                .pool = value_or_empty(*keyed, "pool"),
                                .gpu_model = value_or_empty(*keyed, "model")};
    TRY(check_model(purchase.gpu_model, "commitment-buy", text));
    if (const std::size_t slash = price.find('/'); slash != std::string::npos) {
      const std::string term = price.substr(slash + 1);
      if (term != "1y" && term != "3y") return misread();
      purchase.years = term == "1y" ? 1 : 3;
      price.resize(slash);
    }
    if (const std::string date = value_or_empty(*keyed, "from"); !date.empty()) {
      const auto day = parse_date(date);
      if (!day) return misread();
      purchase.from = *day;
    }
    if (price.ends_with('%')) {
      const auto percent = parse_percent_of_price(price);
      const auto amount = parse_exact_decimal(count);
      if (!percent || *percent == 0 || !is_price(amount)) return misread();
      purchase.percent = *percent;
      purchase.per_hour = *amount;
      return purchase;
    }
    const auto nodes = parse_number<std::uint32_t>(count);
    if (!nodes || *nodes == 0 || *nodes > kCommittedNodesMax) return misread();
    purchase.nodes = *nodes;
    if (const auto listed = parse_purchase_option(price)) {
      if (*listed != PurchaseOption::kCommitted1Year &&
          *listed != PurchaseOption::kCommitted3Years) {
        return misread();
      }
      const std::uint32_t years = *listed == PurchaseOption::kCommitted1Year ? 1 : 3;
      if (purchase.years != 0 && purchase.years != years) return misread();
      purchase.listed = *listed;
      purchase.years = years;
      return purchase;
    }
    const auto per_hour = parse_exact_decimal(price);
    if (!is_price(per_hour)) return misread();
    purchase.per_hour = *per_hour;
    return purchase;
  }

  static bool is_price(const Result<Decimal>& price) {
    return price.has_value() && price->ticks() > 0 && *price <= kRatePerHourMax;
  }

  static constexpr std::uint32_t kCommittedNodesMax = 100'000;
};

}  // namespace

Result<void> read_price_options(const ScenarioTexts& texts, Scenario& scenario) {
  return PriceOptions(texts).read(scenario);
}

}  // namespace pennyweight::what_if
