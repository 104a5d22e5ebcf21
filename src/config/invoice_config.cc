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
constexpr std::size_t kCustomersMax = 100'000;
constexpr std::size_t kLogoBytesMax = 512u << 10;

class InvoiceReader {
 public:
  explicit InvoiceReader(YamlReader& yaml) : yaml_(yaml) {}

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
         {"logo", [&](const YamlNode& at) { logo(at); }},
         {"tax", [&](const YamlNode& at) { tax(at); }},
         {"issuer", [&](const YamlNode& at) { config_.issuer = party(at, "invoice.issuer"); }},
         {"customers", [&](const YamlNode& at) { customers(at); }},
         {"not_customers", [&](const YamlNode& at) {
            config_.not_customers = yaml_.texts(at, "invoice.not_customers", kCustomersMax);
          }}});
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
         {"contact", [&](const YamlNode& at) { text(at, what + ".contact", party.contact); }}});
    return party;
  }

  void customers(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kNull ||
        !yaml_.is(node, YamlNode::Kind::kMapping, "invoice.customers")) {
      return;
    }
    if (node.entries.size() > kCustomersMax) {
      return yaml_.refuse(node, fmt::format("invoice.customers has {} items; {} is the most",
                                            node.entries.size(), kCustomersMax));
    }
    for (const YamlNode::Entry& entry : node.entries) {
      config_.customers.emplace(entry.key, party(entry.value, "invoice.customers[]"));
    }
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
      return yaml_.refuse(node, fmt::format("invoice.logo has {} bytes; {} is the most", uri.size(),
                                            kLogoBytesMax));
    }
    if (!is_base64) {
      return yaml_.refuse(node,
                          "invoice.logo is an image as data URI: data:image/png;base64,…; png, "
                          "jpeg, webp or svg+xml");
    }
    config_.logo = uri;
  }

  YamlReader& yaml_;
  InvoiceConfig config_;
};

}  // namespace

InvoiceConfig read_invoice_config(YamlReader& reader, const YamlNode& node) {
  return InvoiceReader(reader).read(node);
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
      {"invoice.issuer", "name, address, tax_id, contact", "",
       "Who sends the invoices; `address` is a list of lines."},
      {"invoice.customers.VALUE", "name, address, tax_id, contact", "",
       "Who receives the invoices of that value; without an entry the value itself."},
      {"invoice.terms_days", "days", "", "Days from the day of issue until payment is due."},
      {"invoice.tax", "name, percent", "", "Added to the net total."},
      {"invoice.note", "text", "", "A text at the end of every invoice."},
      {"invoice.logo", "data URI", "", "An image: `data:image/png;base64,…`."},
      {"invoice.paper", "a4, letter", "a4", "The paper size of the HTML."},
  };
}

}  // namespace pennyweight
