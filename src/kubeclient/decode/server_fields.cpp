#include "kubeclient/decode/server_fields.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "kubeclient/decode/group_fields.h"
#include "kubeclient/decode/json_reader.h"
#include "kubeclient/decode/wire_schema.h"

namespace ashlar::kube {
namespace {

using proto::has_field;
using proto::kHoldsNone;
using proto::kWireFields;
using proto::kWireMessages;
using proto::WireMessage;

constexpr std::string_view kPackages[] = {"io.k8s.api.core.v1.", "io.k8s.api.apps.v1.", "io.k8s.api.storage.v1.",
                                          "io.k8s.apimachinery.pkg.apis.meta.v1."};
/// And a version; of its kinds PodGroup is read.
constexpr std::string_view kGroupPackage = "io.k8s.api.scheduling.";

/// Of the groups of the API with what is read. A server lacks some of the versions of PodGroup.
constexpr std::string_view kDescriptions[] = {"/openapi/v3/api/v1",
                                              "/openapi/v3/apis/apps/v1",
                                              "/openapi/v3/apis/storage.k8s.io/v1",
                                              "/openapi/v3/apis/scheduling.k8s.io/v1",
                                              "/openapi/v3/apis/scheduling.k8s.io/v1beta1",
                                              "/openapi/v3/apis/scheduling.k8s.io/v1alpha2"};

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

std::vector<std::string> properties_of(json::Value schema) {
  std::vector<std::string> properties;
  json::each_field(schema, [&](std::string_view key, json::Value member) {
    if (key == "properties")
      json::each_field(member, [&](std::string_view name, json::Value) { properties.emplace_back(name); });
  });
  return properties;
}

/// Each name once.
void note(std::string_view message, std::string_view name, std::vector<std::string>& unknown) {
  std::string text = std::string(message) + "." + std::string(name);
  if (std::find(unknown.begin(), unknown.end(), text) == unknown.end()) unknown.push_back(std::move(text));
}

void compare_group(std::string_view schema, json::Value value, std::vector<std::string>& unknown) {
  const std::string_view message = schema.substr(schema.rfind('.') + 1);
  if (!json::is_group_message(message)) return;
  for (const std::string& name : properties_of(value))
    if (json::group_field(message, name) == nullptr) note(message, name, unknown);
}

void compare(std::string_view schema, json::Value value, std::vector<std::string>& unknown) {
  if (schema.starts_with(kGroupPackage)) return compare_group(schema, value, unknown);
  std::size_t row = std::size(kWireMessages);
  for (const std::string_view package : kPackages)
    if (schema.starts_with(package)) row = proto::wire_message(schema.substr(package.size()));
  if (row == std::size(kWireMessages)) return;
  const WireMessage& message = kWireMessages[row];
  const std::vector<std::string> properties = properties_of(value);
  for (const std::string& name : properties)
    if (!is_known(message, properties, name)) note(message.name, name, unknown);
}

/// What has been found in the descriptions so far.
struct Question {
  std::size_t next = 0;  ///< of kDescriptions
  std::vector<std::string> unknown;
  std::optional<Error> error;  ///< the first one
  std::function<void(Result<std::vector<std::string>>)> on_found;
};

void ask_next(Api& api, std::shared_ptr<Question> question) {
  if (question->next == std::size(kDescriptions)) {
    if (question->unknown.empty() && question->error) return question->on_found(*question->error);
    return question->on_found(std::move(question->unknown));
  }
  http::Request request{.path = std::string(kDescriptions[question->next++]), .has_own_connection = true};
  api.send(std::move(request), [&api, question = std::move(question)](const Answer& answer) mutable {
    if (answer.ok()) {
      const Result<std::vector<std::string>> found = unknown_server_fields(answer.body);
      if (found)
        for (const std::string& name : *found)
          if (std::ranges::find(question->unknown, name) == question->unknown.end()) question->unknown.push_back(name);
      if (!found && !question->error) question->error = found.error();
    } else if (answer.result.error().kind != Error::Kind::kNotFound && !question->error) {
      question->error = answer.result.error();
    }
    ask_next(api, std::move(question));
  });
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
  auto question = std::make_shared<Question>();
  question->on_found = std::move(on_found);
  ask_next(api, std::move(question));
}

}  // namespace ashlar::kube
