#include "insight/queries/gpu_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/gpu/gpu_model.h"
#include "core/gpu/gpu_speed.h"
#include "core/int128.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kTrainingBandwidth = 1500;  // GB/s: A100 and up, with HBM
constexpr std::uint64_t kOneGib = std::uint64_t{1} << 30;
constexpr std::int64_t kTicksOfMicro = Decimal::kTicksPerUnit / 1'000'000;

// As the trade sorts them.
std::string_view tier_of(const GpuModel& model, const GpuSpeed& speed) {
  for (const std::string_view old : {"Kepler", "Maxwell", "Pascal", "Volta", "Turing"}) {
    if (model.architecture == old) return "previous generation";
  }
  if (speed.memory_gb_per_second == 0) return "";  // not known
  return speed.memory_gb_per_second >= kTrainingBandwidth ? "training" : "inference";
}

// An hour of one GPU of an instance.
struct GpuOffer {
  const InstanceType* type = nullptr;
  std::string region;
  Instant from;
  Currency currency = kUsd;
  Decimal on_demand;
  std::optional<Decimal> spot, one_year, three_years;
};

Decimal per_gpu(const Decimal& per_hour, std::uint32_t gpus) {
  return Decimal::from_ticks(per_hour.ticks() / static_cast<Int128>(gpus));
}

std::optional<Decimal> other_price(const Catalog& catalog, const GpuOffer& offer,
                                   PurchaseOption option, Instant at) {
  const auto rate = catalog.find_rate(
      {.instance_type = offer.type->name, .region = offer.region, .option = option, .at = at});
  if (!rate || rate->currency != offer.currency) return std::nullopt;
  return per_gpu(rate->per_hour, offer.type->gpu_count);
}

// The cheapest of each currency, by currency.
std::vector<Rate> cheapest_on_demand(const Catalog& catalog, const InstanceType& type,
                                     const GpuCatalogQuery& query) {
  const auto in_region = [&](const std::string& region) {
    return catalog.find_rate({.instance_type = type.name,
                              .region = region,
                              .option = PurchaseOption::kOnDemand,
                              .at = query.at});
  };
  const auto rate = in_region(query.region);
  if (rate) return {*rate};
  // Regions with prices in different currencies have no cheapest one among them.
  if (!query.region.empty() || rate.error().code != ErrorCode::kBadValue) return {};
  std::set<std::string> regions;
  for (const Rate& each : catalog.rates()) {
    if (each.instance_type == type.name) regions.insert(each.region);
  }
  std::map<Currency, Rate> cheapest;
  for (const std::string& region : regions) {
    const auto there = region.empty() ? std::nullopt : std::optional(in_region(region));
    if (!there || !*there) continue;
    const auto [at, is_new] = cheapest.try_emplace((*there)->currency, **there);
    if (!is_new && (*there)->per_hour < at->second.per_hour) at->second = **there;
  }
  std::vector<Rate> all;
  for (auto& [currency, each] : cheapest) all.push_back(std::move(each));
  return all;
}

struct OfferKey {
  std::string model;
  std::string provider;
  Currency currency = kUsd;
  auto operator<=>(const OfferKey&) const = default;
};
using GpuOffers = std::map<OfferKey, GpuOffer>;

// By model, provider and currency, the cheapest on demand; equal ones by name. Amounts of two
// currencies are never compared.
GpuOffers find_offers(const Catalog& catalog, const GpuCatalogQuery& query) {
  GpuOffers offers;
  for (const InstanceType& type : catalog.instance_types()) {
    if (type.gpu_count == 0) continue;
    if (!query.provider.empty() && type.provider != query.provider) continue;
    const GpuModel* model = find_gpu_model(type.gpu_model);
    if (model == nullptr) continue;
    for (const Rate& rate : cheapest_on_demand(catalog, type, query)) {
      if (rate.per_hour.ticks() <= 0) continue;
      GpuOffer offer{.type = &type,
                     .region = rate.region,
                     .from = rate.from,
                     .currency = rate.currency,
                     .on_demand = per_gpu(rate.per_hour, type.gpu_count),
                     .spot = {},
                     .one_year = {},
                     .three_years = {}};
      const auto [at, is_new] =
          offers.try_emplace({model->name, type.provider, rate.currency}, offer);
      if (!is_new && offer.on_demand < at->second.on_demand) at->second = offer;
    }
  }
  for (auto& [key, offer] : offers) {
    offer.spot = other_price(catalog, offer, PurchaseOption::kSpot, query.at);
    offer.one_year = other_price(catalog, offer, PurchaseOption::kCommitted1Year, query.at);
    offer.three_years = other_price(catalog, offer, PurchaseOption::kCommitted3Years, query.at);
  }
  return offers;
}

advising::MeasuredCard measured(const GpuModel& model, bool needs_bf16, const Decimal& price) {
  const GpuSpeed speed = gpu_speed(model);
  return {.memory_bytes = model.memory_bytes,
          .memory_gb_per_second = speed.memory_gb_per_second,
          .dense_gflops = needs_bf16 ? speed.bf16_dense_gflops : speed.fp16_dense_gflops,
          .price_micros = static_cast<std::uint64_t>(price.ticks() / kTicksOfMicro)};
}

Result<void> check_names(const Catalog& catalog, const GpuCatalogQuery& query) {
  for (const std::string* name : {&query.model, query.load ? &query.load->model : nullptr}) {
    if (name != nullptr && !name->empty() && find_gpu_model(*name) == nullptr) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("'{}' is not a GPU model, or fits several; `catalog` lists them", *name));
    }
  }
  std::set<std::string> providers;
  std::set<std::string> regions;
  for (const Rate& rate : catalog.rates()) {
    providers.insert(rate.provider);
    regions.insert(rate.region);
  }
  if (!query.provider.empty() && !providers.contains(query.provider)) {
    return fail(ErrorCode::kBadValue, fmt::format("there are no prices of '{}'; there are of {}",
                                                  query.provider, fmt::join(providers, ", ")));
  }
  if (!query.region.empty() && !regions.contains(query.region)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("there are no prices in region '{}'", query.region));
  }
  return {};
}

Table empty_table(const GpuCatalogQuery& query, Currency currency) {
  Table table;
  table.title = fmt::format("GPU models, and {} for an hour of one GPU, at list prices of {}",
                            currency.text(), to_text(query.at).substr(0, 10));
  table.currency = currency;
  table.columns = {{"model", "model", ColumnKind::kId},
                   {"tier", "tier", ColumnKind::kText},
                   {"memory_gib", "GiB", ColumnKind::kCount},
                   {"bandwidth_gb_s", "GB/s", ColumnKind::kCount},
                   {"fp16_dense_tflops", "dense FP16 TFLOPS", ColumnKind::kCount},
                   {"bf16_dense_tflops", "BF16", ColumnKind::kCount},
                   {"mig_slices", "MIG slices", ColumnKind::kCount},
                   {"provider", "provider", ColumnKind::kText},
                   {"instance_type", "instance", ColumnKind::kId},
                   {"gpus", "GPUs", ColumnKind::kCount},
                   {"region", "region", ColumnKind::kText},
                   {"priced_since", "since", ColumnKind::kText},
                   {"on_demand", "on demand", ColumnKind::kMoney},
                   {"spot", "spot", ColumnKind::kMoney},
                   {"committed_1y", "1 year", ColumnKind::kMoney},
                   {"committed_3y", "3 years", ColumnKind::kMoney}};
  if (query.load) {
    table.columns.push_back({"fits", "fits", ColumnKind::kText});
    table.columns.push_back({"time", "time", ColumnKind::kPercent});
    table.columns.push_back({"same_work", "same work", ColumnKind::kMoney});
    table.columns.push_back({"why_not", "why not", ColumnKind::kText});
    table.notes.push_back(
        "same work: what runs an hour of it on the present GPU, at on-demand prices; time: of what "
        "it takes there.");
  }
  return table;
}

Cell count_cell(std::uint64_t count) { return count == 0 ? Cell() : Cell(count); }

// What the load would need on a card: fits, time, cost of the same work, why not.
void add_fit(Row& row, const CatalogLoad& load, const GpuModel& model, const GpuOffer& offer,
             const GpuOffers& offers) {
  const GpuModel& present = *find_gpu_model(load.model);
  const auto now = offers.find({present.name, offer.type->provider, offer.currency});
  const auto add = [&](std::string fits, Cell time, Cell cost, std::string why) {
    row.emplace_back(std::move(fits));
    row.push_back(std::move(time));
    row.push_back(std::move(cost));
    row.emplace_back(std::move(why));
  };
  const auto money = [&](const Decimal& amount) {
    return Cell(Money::from_decimal(amount, offer.currency));
  };
  if (&model == &present) return add("present", Ratio{1, 1}, money(offer.on_demand), "");
  if (now == offers.end()) {
    return add(
        "", {}, {},
        fmt::format("no price of {} by this provider in {}", present.name, offer.currency.text()));
  }
  const bool needs_bf16 = gpu_speed(present).bf16_dense_gflops > 0;
  const bool is_dearer = offer.on_demand > now->second.on_demand;
  const advising::MeasuredFit fit = advising::fit_measured(
      is_dearer ? advising::CardDirection::kLarger : advising::CardDirection::kSmaller, load.load,
      measured(present, needs_bf16, now->second.on_demand),
      measured(model, needs_bf16, offer.on_demand));
  const bool is_unknown = !fit.fits && fit.compute_ppm == 0 && fit.bandwidth_ppm == 0;
  if (is_unknown || fit.relative_cost_ppm == 0) return add("no", {}, {}, std::string(fit.reason));
  const Decimal cost = Decimal::from_ticks(now->second.on_demand.ticks() *
                                           static_cast<Int128>(fit.relative_cost_ppm) / 1'000'000);
  add(fit.fits ? "yes" : "no", Ratio{static_cast<Int128>(fit.slowdown_ppm), 1'000'000}, money(cost),
      std::string(fit.reason));
}

}  // namespace

Result<std::vector<Table>> gpu_catalog_tables(const Catalog& catalog,
                                              const GpuCatalogQuery& query) {
  if (auto checked = check_names(catalog, query); !checked) {
    return std::unexpected(checked.error());
  }
  const auto offers = find_offers(catalog, query);
  const GpuModel* only = query.model.empty() ? nullptr : find_gpu_model(query.model);
  std::map<Currency, Table> tables;
  std::vector<const GpuModel*> models;
  for (const GpuModel& model : gpu_models()) models.push_back(&model);
  std::ranges::sort(models, {}, [](const GpuModel* model) { return model->name; });
  for (const GpuModel* model : models) {
    if (only != nullptr && model != only) continue;
    const GpuSpeed speed = gpu_speed(*model);
    const Row head = {model->name,
                      std::string(tier_of(*model, speed)),
                      count_cell(model->memory_bytes / kOneGib),
                      count_cell(speed.memory_gb_per_second),
                      count_cell(speed.fp16_dense_gflops / 1000),
                      count_cell(speed.bf16_dense_gflops / 1000),
                      count_cell(model->mig_compute_slices)};
    bool is_priced = false;
    for (const auto& [key, offer] : offers) {
      if (key.model != model->name) continue;
      is_priced = true;
      Table& table =
          tables.try_emplace(offer.currency, empty_table(query, offer.currency)).first->second;
      const auto price = [&](const std::optional<Decimal>& amount) {
        return amount ? Cell(Money::from_decimal(*amount, offer.currency)) : Cell();
      };
      Row row = head;
      for (Cell cell :
           {Cell(key.provider), Cell(offer.type->name), Cell(std::uint64_t{offer.type->gpu_count}),
            Cell(offer.region), Cell(to_text(offer.from).substr(0, 10)), price(offer.on_demand),
            price(offer.spot), price(offer.one_year), price(offer.three_years)}) {
        row.push_back(std::move(cell));
      }
      if (query.load) add_fit(row, *query.load, *model, offer, offers);
      table.rows.push_back(std::move(row));
    }
    if (is_priced) continue;
    Table& table = tables.try_emplace(kUsd, empty_table(query, kUsd)).first->second;
    Row row = head;
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  std::vector<Table> all;
  for (auto& [currency, table] : tables) all.push_back(std::move(table));
  return all;
}

}  // namespace pennyweight
