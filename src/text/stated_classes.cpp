#include "text/stated_classes.h"

#include <algorithm>

#include "model/node.h"
#include "text/in_quotes.h"

namespace ashlar {
namespace {

using Part = ClassProblem::Part;

constexpr std::size_t kNameBytesMax = 63;  ///< as of a label's value, which names of models are

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_capability_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, is_plain);
}

/// The name of a class that is the name of another, or of its model; empty if it is not.
std::string problem_of_name(std::string_view name, std::span<const StatedClass> before) {
  for (const StatedClass& other : before) {
    if (other.name == name) return "there are two device classes " + in_quotes(name);
    if (has(other.models, name)) return in_quotes(name) + " is a model of the device class " + in_quotes(other.name);
  }
  return {};
}

std::string problem_of_model(const StatedClass& stated, std::size_t index, std::span<const StatedClass> before) {
  const std::string& model = stated.models[index];
  if (model.empty()) return "the name of a model is empty";
  if (std::ranges::count(stated.models, model) > 1) return "the model " + in_quotes(model) + " is listed twice";
  for (const StatedClass& other : before) {
    if (other.name == model) return "the model " + in_quotes(model) + " is the name of another device class";
    if (has(other.models, model))
      return "the model " + in_quotes(model) + " is listed by the device class " + in_quotes(other.name) + " too";
  }
  return {};
}

std::string problem_of_capability(const StatedClass& stated, std::size_t index) {
  const std::string& name = stated.capabilities[index];
  if (!is_capability_name(name))
    return in_quotes(name) + " is not the name of a capability; use at most 63 letters, digits, '-', '_' and '.'";
  return std::ranges::count(stated.capabilities, name) > 1 ? "the capability " + in_quotes(name) + " is listed twice"
                                                           : "";
}

}  // namespace

std::optional<ClassProblem> validate(const StatedClass& stated, std::span<const StatedClass> before) {
  if (stated.name.empty()) return ClassProblem{Part::kName, {}, "a device class needs a name"};
  if (before.size() >= kStatedClassesMax)
    return ClassProblem{Part::kName, {}, "more than " + std::to_string(kStatedClassesMax) + " device classes"};
  if (std::string text = problem_of_name(stated.name, before); !text.empty())
    return ClassProblem{Part::kName, {}, std::move(text)};
  const std::string too_many = "more than " + std::to_string(DeviceClass::kNamesMax) + " names";
  if (stated.models.size() > DeviceClass::kNamesMax) return ClassProblem{Part::kModels, {}, too_many};
  if (stated.capabilities.size() > DeviceClass::kNamesMax) return ClassProblem{Part::kCapabilities, {}, too_many};
  for (std::size_t i = 0; i < stated.models.size(); ++i)
    if (std::string text = problem_of_model(stated, i, before); !text.empty())
      return ClassProblem{Part::kModels, i, std::move(text)};
  for (std::size_t i = 0; i < stated.capabilities.size(); ++i)
    if (std::string text = problem_of_capability(stated, i); !text.empty())
      return ClassProblem{Part::kCapabilities, i, std::move(text)};
  return std::nullopt;
}

Result<std::vector<std::string>> parse_names(std::string_view list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    std::string_view name = list.substr(at, comma - at);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (name.empty()) return invalid(in_quotes(list) + " is not a list of names separated by commas");
    if (!has(names, name)) names.emplace_back(name);
    if (names.size() > DeviceClass::kNamesMax)
      return invalid("more than " + std::to_string(DeviceClass::kNamesMax) + " names");
    at = comma + 1;
  }
  return names;
}

}  // namespace ashlar
