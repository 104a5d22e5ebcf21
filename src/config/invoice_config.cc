#include "config/invoice_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pennyweight {
namespace {

constexpr std::int64_t kTermsDaysMax = 3650;
constexpr std::int64_t kPercentMax = 1000;
constexpr std::size_t kAddressLinesMax = 12;
constexpr std::size_t kDetailMax = 4;
constexpr std::size_t kRatesMax = 10'000;
constexpr std::int64_t kRateMax = 1'000'000;  // per GPU-hour
constexpr std::size_t kCustomersMax = 100'000;
constexpr std::size_t kLogoBytesMax = 512u << 10;

class InvoiceReader {
 public:
  InvoiceReader(YamlReader& yaml,
                const std::function<std::string(const YamlNode&, std::string_view)>& path)
      : yaml_(yaml), path_(path) {}

  InvoiceConfig read(const YamlNode& root) {
    yaml_.mapping(
        root, "invoice",
        {{"prefix", [&](const YamlNode& at) { text(at, "invoice.prefix", config_.prefix); }},
         {"by", [&](const YamlNode& at) { text(at, "invoice.by", config_.by); }},
         {"cost",
          [&](const YamlNode& at) {
            static constexpr std::array<std::string_view, 2> kCosts = {"effective", "billed"};
            if (const auto which = yaml_.choice(at, "invoice.cost", kCosts)) {
              config_.cost = kCosts[*which];
            }
          }},
         {"detail",
          [&](const YamlNode& at) {
            config_.detail = yaml_.texts(at, "invoice.detail", kDetailMax);
          }},
         {"showback",
          [&](const YamlNode& at) {
            config_.showback = yaml_.yes_or_no(at, "invoice.showback").value_or(false);
          }},
         {"paper",
          [&](const YamlNode& at) {
            static constexpr std::array<std::string_view, 2> kPapers = {"a4", "letter"};
            config_.letter_paper = yaml_.choice(at, "invoice.paper", kPapers).value_or(0) == 1;
          }},
         {"terms_days",
          [&](const YamlNode& at) {
            config_.terms_days = yaml_.integer(at, "invoice.terms_days", 0, kTermsDaysMax);
          }},
         {"note", [&](const YamlNode& at) { text(at, "invoice.note", config_.note); }},
         {"font", [&](const YamlNode& at) { config_.font = path_(at, "invoice.font"); }},
         {"logo", [&](const YamlNode& at) { logo(at); }},
         {"tax", [&](const YamlNode& at) { tax(at); }},
         {"issuer", [&](const YamlNode& at) { config_.issuer = party(at, "invoice.issuer"); }},
         {"customers", [&](const YamlNode& at) { customers(at); }},
         {"not_customers",
          [&](const YamlNode& at) {
            config_.not_customers = yaml_.texts(at, "invoice.not_customers", kCustomersMax);
          }},
         {"tier", [&](const YamlNode& at) { text(at, "invoice.tier", config_.tier); }},
         {"rates", [&](const YamlNode& at) {
            yaml_.sequence(at, "invoice.rates", kRatesMax,
                           [&](const YamlNode& item) { internal_rate(item); });
          }}});
    const auto has_tier = [](const InternalRateConfig& one) { return !one.tier.empty(); };
    if (config_.tier.empty() && std::ranges::any_of(config_.rates, has_tier)) {
      yaml_.refuse(root,
                   "invoice.rates name a tier; state in invoice.tier which dimension the tiers are "
                   "values of");
    }
    return std::move(config_);
  }

 private:
  void text(const YamlNode& node, std::string_view what, std::string& target) {
    if (auto value = yaml_.text(node, what)) target = std::move(*value);
  }

  PartyConfig party(const YamlNode& node, const std::string& what) {
    PartyConfig party;
    yaml_.mapping(
        node, what,
        {{"name", [&](const YamlNode& at) { text(at, what + ".name", party.name); }},
         {"address",
          [&](const YamlNode& at) {
            party.address = yaml_.texts(at, what + ".address", kAddressLinesMax);
          }},
         {"tax_id", [&](const YamlNode& at) { text(at, what + ".tax_id", party.tax_id); }},
         {"contact", [&](const YamlNode& at) { text(at, what + ".contact", party.contact); }},
         {"email", [&](const YamlNode& at) { text(at, what + ".email", party.email); }}});
    return party;
  }

  void customers(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kNull ||
        !yaml_.is(node, YamlNode::Kind::kMapping, "invoice.customers")) {
      return;
    }
    if (node.entries.size() > kCustomersMax) {
      return yaml_.refuse(node,
                          fmt::format("invoice.customers has {} items; at most {} are allowed",
                                      node.entries.size(), kCustomersMax));
    }
    for (const YamlNode::Entry& entry : node.entries) {
      config_.customers.emplace(entry.key, party(entry.value, "invoice.customers[]"));
    }
  }

  void date(const YamlNode& node, const char* what, std::optional<Date>& target) {
    const auto written = yaml_.text(node, what);
    if (!written) return;
    const auto parsed = parse_date(*written);
    if (!parsed) return yaml_.refuse(node, fmt::format("{}: {}", what, parsed.error().message));
    target = *parsed;
  }

  void internal_rate(const YamlNode& node) {
    InternalRateConfig entry;
    const auto per_hour = [&](const char* what, std::optional<Decimal>& target) {
      return [this, what, &target](const YamlNode& at) {
        target = yaml_.decimal(at, what, Decimal(), Decimal::from_units(kRateMax));
      };
    };
    const auto percent = [&](const char* what, std::int64_t most, std::optional<Decimal>& target) {
      return [this, what, most, &target](const YamlNode& at) {
        target = yaml_.decimal(at, what, Decimal(), Decimal::from_units(most));
        if (target && target->ticks() % 100 != 0) {
          yaml_.refuse(at, fmt::format("{} has more than 16 digits after the point", what));
        }
      };
    };
    yaml_.mapping(
        node, "invoice.rates[]",
        {{"from", [&](const YamlNode& at) { date(at, "invoice.rates[].from", entry.from); }},
         {"to", [&](const YamlNode& at) { date(at, "invoice.rates[].to", entry.to); }},
         {"client", [&](const YamlNode& at) { text(at, "invoice.rates[].client", entry.client); }},
         {"gpu_model",
          [&](const YamlNode& at) { text(at, "invoice.rates[].gpu_model", entry.gpu_model); }},
         {"tier", [&](const YamlNode& at) { text(at, "invoice.rates[].tier", entry.tier); }},
         {"currency",
          [&](const YamlNode& at) {
            const auto code = yaml_.text(at, "invoice.rates[].currency");
            if (!code) return;
            const auto currency = Currency::parse(*code);
            if (!currency) return yaml_.refuse(at, currency.error().message);
            entry.currency = *currency;
          }},
         {"rate", per_hour("invoice.rates[].rate", entry.rate)},
         {"markup", percent("invoice.rates[].markup", kPercentMax, entry.markup)},
         {"discount", percent("invoice.rates[].discount", 100, entry.discount)},
         {"floor", per_hour("invoice.rates[].floor", entry.floor)}});
    if (node.kind != YamlNode::Kind::kMapping) return;
    const bool has_price = std::ranges::any_of(node.entries, [](const YamlNode::Entry& one) {
      return one.key == "rate" || one.key == "markup" || one.key == "discount" ||
             one.key == "floor";
    });
    if (!has_price) {
      return yaml_.refuse(node,
                          "an entry of invoice.rates needs a rate, markup, discount or floor");
    }
    if (entry.rate && entry.markup) {
      return yaml_.refuse(node,
                          "an entry of invoice.rates has a rate or a markup on the cost, not both");
    }
    if ((entry.rate || entry.floor) && !entry.currency) {
      return yaml_.refuse(node, "a rate or floor of invoice.rates needs its currency");
    }
    if (entry.from && entry.to && *entry.to < *entry.from) {
      return yaml_.refuse(node, "an entry of invoice.rates ends before it begins");
    }
    config_.rates.push_back(std::move(entry));
  }

  void tax(const YamlNode& node) {
    yaml_.mapping(
        node, "invoice.tax",
        {{"name", [&](const YamlNode& at) { text(at, "invoice.tax.name", config_.tax_name); }},
         {"percent", [&](const YamlNode& at) {
            config_.tax_percent = yaml_.decimal(at, "invoice.tax.percent", Decimal(),
                                                Decimal::from_units(kPercentMax));
            // No digit of the percentage may be lost before the tax itself is rounded.
            constexpr std::int64_t kSmallest = 10'000'000'000;  // 10^-8
            if (config_.tax_percent && config_.tax_percent->ticks() % kSmallest != 0) {
              yaml_.refuse(at, "invoice.tax.percent has more than 8 digits after the point");
            }
          }}});
    if (node.kind == YamlNode::Kind::kMapping &&
        (config_.tax_name.empty() || !config_.tax_percent)) {
      yaml_.refuse(node, "invoice.tax needs a name and a percent");
    }
  }

  // An image is longer than other texts of a configuration may be, so its length is checked here.
  void logo(const YamlNode& node) {
    if (!yaml_.is(node, YamlNode::Kind::kScalar, "invoice.logo")) return;
    static constexpr std::array<std::string_view, 4> kKinds = {
        "data:image/png;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,",
        "data:image/svg+xml;base64,"};
    const std::string_view uri = node.scalar;
    const auto kind = std::ranges::find_if(
        kKinds, [&](std::string_view start) { return uri.starts_with(start); });
    const bool is_base64 =
        kind != kKinds.end() && uri.size() > kind->size() &&
        uri.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=",
                              kind->size()) == std::string_view::npos;
    if (uri.size() > kLogoBytesMax) {
      return yaml_.refuse(node, fmt::format("invoice.logo has {} bytes; at most {} are allowed",
                                            uri.size(), kLogoBytesMax));
    }
    if (!is_base64) {
      return yaml_.refuse(node,
                          "invoice.logo is an image as data URI: data:image/png;base64,…; png, "
                          "jpeg, webp or svg+xml");
    }
    config_.logo = uri;
  }

  YamlReader& yaml_;
  const std::function<std::string(const YamlNode&, std::string_view)>& path_;
  InvoiceConfig config_;
};

}  // namespace

InvoiceConfig read_invoice_config(
    YamlReader& reader, const YamlNode& node,
    const std::function<std::string(const YamlNode&, std::string_view)>& path) {
  return InvoiceReader(reader, path).read(node);
}

ConfigKeys invoice_config_keys() {
  return {
      {"invoice.prefix", "text", "INV", "What invoice numbers begin with."},
      {"invoice.by", "dimension", "team", "The dimension whose values are the customers."},
      {"invoice.cost", "effective, billed", "effective", "Which cost is charged."},
      {"invoice.detail", "list of dimensions", "",
       "A section of the invoice for each value of these."},
      {"invoice.not_customers", "list of values", "",
       "Values that get no invoice: their cost is shown as charged to nobody."},
      {"invoice.showback", "true, false", "false",
       "Statements for information, on which nothing is due."},
      {"invoice.issuer", "name, address, tax_id, contact, email", "",
       "Who sends the invoices; `address` is a list of lines, `email` where answers to mails go."},
      {"invoice.customers.VALUE", "name, address, tax_id, contact, email", "",
       "Who receives the invoices of that value, `email` by mail; without an entry the value "
       "itself."},
      {"invoice.terms_days", "days", "", "Days from the day of issue until payment is due."},
      {"invoice.tax", "name, percent", "", "Added to the net total."},
      {"invoice.note", "text", "", "A text at the end of every invoice."},
      {"invoice.logo", "data URI", "", "An image: `data:image/png;base64,…`."},
      {"invoice.rates",
       "list of client, gpu_model, tier, from, to, currency, rate, markup, discount, floor", "",
       "What clients are charged in place of the cost; the first that fits decides."},
      {"invoice.tier", "dimension", "", "The dimension whose value is the tier of a rate."},
      {"invoice.paper", "a4, letter", "a4", "The paper size of the HTML and the PDF."},
      {"invoice.font", "path", "DejaVu Sans",
       "A TrueType font for PDF, where names need other letters."},
  };
}

}  // namespace pennyweight
