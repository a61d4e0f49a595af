#include "kubeclient/decode/group_fields.h"

#include <algorithm>

#include "kubeclient/decode/unknown_fields.h"

namespace ashlar::kube::json {

void note_unknown_member(std::string_view message, std::string_view name, std::vector<std::string>& unknown) {
  std::string text = std::string(message) + "." + std::string(name);
  if (unknown.size() < proto::UnknownFields::kMost && std::find(unknown.begin(), unknown.end(), text) == unknown.end())
    unknown.push_back(std::move(text));
}

void find_unknown_members(Value value, std::string_view message, std::vector<std::string>& unknown) {
  const json_type type = value.type().value();
  if (type == json_type::array)
    each_item(value, [&](Value item) { find_unknown_members(item, message, unknown); });
  else if (type == json_type::object)  // v1alpha2 has a text where v1beta1 has the message DisruptionMode
    each_known_field(value, message, unknown, [](std::string_view, Value) { return false; });
}

}  // namespace ashlar::kube::json
