// What AWS's product codes are called and where FOCUS puts them; and what else the names of AWS
// say: instance types, regions, kinds of resource, units.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::aws {

struct Service {
  std::string_view name;
  std::string_view category;     // ServiceCategory of FOCUS
  std::string_view subcategory;  // ServiceSubcategory of FOCUS 1.1 and later
};

// A service of an unknown code has no name, and is "Other".
const Service& service_of(std::string_view product_code);

// The instance type that a usage type names: "USW2-BoxUsage:p4d.24xlarge" is "p4d.24xlarge". Empty
// for usage types that are no instance.
std::string_view instance_type_of_usage(std::string_view usage_type);
// The first word of the description of a spot line, where it has the form of an instance type:
// "p4d.24xlarge Linux/UNIX Spot Instance-hour in US West (Oregon)".
std::string_view instance_type_of_description(std::string_view description);

// "us-west-2" of "us-west-2a", and of the local zone "us-west-2-lax-1a". Empty when it has no such
// form.
std::string_view region_of_zone(std::string_view zone);

// "instance" of "i-…" and of "arn:aws:ec2:…:instance/i-…"; empty when the id does not tell.
std::string_view resource_type_of(std::string_view resource_id);

// AWS's units as FOCUS spells units: "Hrs" is "Hours". Others as they are.
std::string_view focus_unit(std::string_view unit);

}  // namespace pennyweight::aws
