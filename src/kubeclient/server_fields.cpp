#include "kubeclient/server_fields.h"

#include <algorithm>
#include <utility>

#include "kubeclient/decode/json_reader.h"
#include "kubeclient/decode/wire_schema.h"

namespace ashlar::kube {
namespace {

using proto::kHoldsNone;
using proto::kWireFields;
using proto::kWireMessages;
using proto::WireMessage;

constexpr std::string_view kPackages[] = {"io.k8s.api.core.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1."};

bool has_field(const WireMessage& message, std::string_view name) {
  return std::any_of(kWireFields + message.begin, kWireFields + message.end,
                     [&](const proto::WireField& field) { return field.name == name; });
}

/// JSON has the fields of some messages in the place of the message: Volume has those of its volumeSource.
bool is_inside(const WireMessage& message, const std::vector<std::string>& properties, std::string_view name) {
  return std::any_of(kWireFields + message.begin, kWireFields + message.end, [&](const proto::WireField& field) {
    const bool is_inlined =
        field.holds != kHoldsNone && std::find(properties.begin(), properties.end(), field.name) == properties.end();
    return is_inlined && has_field(kWireMessages[field.holds], name);
  });
}

bool is_known(const WireMessage& message, const std::vector<std::string>& properties, std::string_view name) {
  const bool is_type = (name == "apiVersion" || name == "kind") && has_field(message, "metadata");
  return is_type || has_field(message, name) || is_inside(message, properties, name);
}

void compare(std::string_view schema, json::Value value, std::vector<std::string>& unknown) {
  std::size_t row = std::size(kWireMessages);
  for (const std::string_view package : kPackages)
    if (schema.starts_with(package)) row = proto::wire_message(schema.substr(package.size()));
  if (row == std::size(kWireMessages)) return;
  const WireMessage& message = kWireMessages[row];
  std::vector<std::string> properties;
  json::each_field(value, [&](std::string_view key, json::Value member) {
    if (key == "properties")
      json::each_field(member, [&](std::string_view name, json::Value) { properties.emplace_back(name); });
  });
  for (const std::string& name : properties)
    if (!is_known(message, properties, name)) unknown.push_back(std::string(message.name) + "." + name);
}

}  // namespace

Result<std::vector<std::string>> unknown_server_fields(std::string_view openapi) {
  std::vector<std::string> unknown;
  bool has_schemas = false;
  try {
    simdjson::ondemand::document document = json::Parser::of_thread().parse(openapi);
    json::each_field(document.get_value().value(), [&](std::string_view key, json::Value components) {
      if (key != "components") return;
      json::each_field(components, [&](std::string_view part, json::Value schemas) {
        if (part != "schemas") return;
        has_schemas = true;
        json::each_field(schemas, [&](std::string_view name, json::Value schema) {
          const std::string kept(name);
          compare(kept, schema, unknown);
        });
      });
    });
  } catch (const simdjson::simdjson_error& error) {
    return json::to_error(error, "the server's description of its fields");
  }
  if (!has_schemas) return invalid("the server's description of its fields has no schemas");
  return unknown;
}

void ask_unknown_server_fields(Api& api, std::function<void(Result<std::vector<std::string>>)> on_found) {
  api.send({.path = "/openapi/v3/api/v1", .has_own_connection = true},
           [on_found = std::move(on_found)](const Answer& answer) {
             if (!answer.ok()) return on_found(answer.result.error());
             on_found(unknown_server_fields(answer.body));
           });
}

}  // namespace ashlar::kube
