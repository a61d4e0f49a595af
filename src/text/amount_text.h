// amount_text: amounts as people read them: "8 GPU", "1.5 cores", "64 GiB", "3 nodes".
#pragma once

#include <cstdint>
#include <string>

#include "base/id.h"

namespace ashlar {

/// "3 nodes", "1 node".
std::string node_count_text(std::int64_t count);
/// An amount of a quota's dimension (QuotaDimension): "8 GPU", "1.5 cores", "64 GiB".
std::string quota_text(std::int64_t dimension, std::int64_t amount);
/// An amount of a resource: "2 cores", "16 GiB", pieces as a number.
std::string amount_text(ResourceId resource, std::int64_t amount);

}  // namespace ashlar
