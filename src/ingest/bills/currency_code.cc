#include "ingest/bills/currency_code.h"

namespace pennyweight::bill {
namespace {

// ISO 4217, list one (2025), and the codes withdrawn since 2015, which older bills still have.
constexpr std::string_view kCodes =
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN "
    "BWP "
    "BYN BYR BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP "
    "ERN "
    "ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK "
    "JMD "
    "JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT "
    "MOP "
    "MRO MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG "
    "QAR "
    "RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STD STN SVC SYP SZL THB TJS "
    "TMT "
    "TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VEF VES VND VUV WST XAF XCD XCG "
    "XDR "
    "XOF XPF XSU XUA YER ZAR ZMW ZWG ZWL ";

}  // namespace

bool is_iso_currency(std::string_view code) {
  if (code.size() != 3 || code.find(' ') != std::string_view::npos) return false;
  for (std::size_t at = 0; at < kCodes.size(); at += 4) {
    if (kCodes.substr(at, 3) == code) return true;
  }
  return false;
}

std::optional<Currency> CurrencyParser::parse(std::string_view code) {
  if (last_ && code == last_code_) return last_;
  const auto currency = Currency::parse(code);
  if (!currency || !is_iso_currency(code)) return std::nullopt;
  last_code_ = code;
  last_ = *currency;
  return last_;
}

}  // namespace pennyweight::bill
