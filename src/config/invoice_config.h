// The section `invoice:` of the configuration: who sends chargeback invoices to whom, and their
// form.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config_key.h"
#include "config/yaml_reader.h"
#include "core/decimal.h"

namespace pennyweight {

struct PartyConfig {
  std::string name;
  std::vector<std::string> address;
  std::string tax_id;
  std::string contact;
  bool operator==(const PartyConfig&) const = default;
};

struct InvoiceConfig {
  std::string prefix = "INV";
  std::string by = "team";
  std::string cost = "effective";  // or billed
  std::vector<std::string> detail;
  bool showback = false;
  bool letter_paper = false;
  std::optional<std::int64_t> terms_days;
  std::string note;
  std::string logo;  // a data URI of an image
  std::string tax_name;
  std::optional<Decimal> tax_percent;
  PartyConfig issuer;
  std::map<std::string, PartyConfig> customers;  // by dimension value
  std::vector<std::string> not_customers;
  bool operator==(const InvoiceConfig&) const = default;
};

InvoiceConfig read_invoice_config(YamlReader& reader, const YamlNode& node);

ConfigKeys invoice_config_keys();

}  // namespace pennyweight
