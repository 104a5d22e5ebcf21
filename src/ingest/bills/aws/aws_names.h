// What AWS's names tell: instance types, regions, resource types, units.
#pragma once

#include <string_view>

namespace pennyweight::aws {

// "p4d.24xlarge" for the usage type "USW2-BoxUsage:p4d.24xlarge"; empty for a usage type that is no
// instance.
std::string_view instance_type_from_usage(std::string_view usage_type);
// The first word of a spot charge's description, if it has the form of an instance type:
// "p4d.24xlarge Linux/UNIX Spot Instance-hour in US West (Oregon)".
std::string_view instance_type_from_description(std::string_view description);

// "us-west-2" for "us-west-2a" and for the local zone "us-west-2-lax-1a"; empty for a text of
// another form.
std::string_view region_from_zone(std::string_view zone);

// "instance" for "i-…" and for "arn:aws:ec2:…:instance/i-…"; empty if the id does not tell.
std::string_view resource_type_from_id(std::string_view resource_id);

// AWS's units in FOCUS's spelling: "Hrs" is "Hours". Other units stay unchanged.
std::string_view focus_unit(std::string_view unit);

}  // namespace pennyweight::aws
