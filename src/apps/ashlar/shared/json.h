// json: what `-o json` of a verb prints that has no scheduler to ask: one object with apiVersion and kind
// (docs/reference/json.md).
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

namespace ashlar {

/// The members of `object` after apiVersion and kind, on one line.
std::string json_document(std::string_view kind, const boost::json::object& object);

}  // namespace ashlar
