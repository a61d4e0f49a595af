// template_text: fills in the {{...}} of an object's template. {{.NAME}} is a value, {{FUNCTION A B}} whole-number
// arithmetic on values and literals: AddInt, SubtractInt, MultiplyInt, DivideInt, ModInt. Cost: one pass over the text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar::bench::perf {

/// Text by name: Index and Count of the object, and the operation's templateParams.
using TemplateValues = std::map<std::string, std::string, std::less<>>;

/// An error names the file and the line: an unknown value or function, a missing "}}", a division by zero.
Result<std::string> expand(std::string_view text, const std::string& file, const TemplateValues& values);

}  // namespace ashlar::bench::perf
