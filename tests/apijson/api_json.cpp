#include "api_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <memory>

#include "folders.h"
#include "kubeclient/pod_builder.h"
#include "text/moment_text.h"

namespace ashlar::kube {
namespace {

namespace json = boost::json;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

const std::string kCore = "k8s.io.api.core.v1.", kApps = "k8s.io.api.apps.v1.",
                  kMeta = "k8s.io.apimachinery.pkg.apis.meta.v1.", kRuntime = "k8s.io.apimachinery.pkg.runtime.";

/// Members of these fields are written in JSON beside the others of the message that has them.
constexpr const char* kInlined[] = {"volumeSource", "persistentVolumeSource", "ephemeralContainerCommon", "handler",
                                    "localObjectReference"};

class Kinds {
 public:
  Kinds() {
    std::ifstream in(ASHLAR_BINARY_DIR "/../generated/kubeclient_descriptors.pb", std::ios::binary);
    google::protobuf::FileDescriptorSet files;
    EXPECT_TRUE(files.ParseFromIstream(&in)) << "the descriptions of the API's messages are not built";
    for (const auto& file : files.file()) EXPECT_NE(pool_.BuildFile(file), nullptr) << file.name();
  }
  std::unique_ptr<Message> message(const std::string& full_name) {
    const Descriptor* type = pool_.FindMessageTypeByName(full_name);
    EXPECT_NE(type, nullptr) << full_name << " is no message of the API";
    return type == nullptr ? nullptr : std::unique_ptr<Message>(factory_.GetPrototype(type)->New());
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_{&pool_};
};

Kinds& kinds() {
  static Kinds kinds;
  return kinds;
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

void fill(Message& message, const json::object& from);

void set_text(Message& message, const char* field, const std::string& text) {
  message.GetReflection()->SetString(&message, message.GetDescriptor()->FindFieldByName(field), text);
}

void set_time(Message& message, const json::value& value) {
  const Result<Millis> time = parse_moment(text_of(value));
  ASSERT_TRUE(time.ok()) << time.error().message;
  const Reflection& reflection = *message.GetReflection();
  const Descriptor& type = *message.GetDescriptor();
  reflection.SetInt64(&message, type.FindFieldByName("seconds"), time->value / 1000);
  reflection.SetInt32(&message, type.FindFieldByName("nanos"), static_cast<std::int32_t>(time->value % 1000) * 1000000);
}

void fill_message(Message& message, const json::value& value) {
  const std::string& type = message.GetDescriptor()->name();
  if (type == "Time" || type == "MicroTime") return set_time(message, value);
  if (type == "Quantity") return set_text(message, "string", text_of(value));
  if (type == "FieldsV1") return;
  if (type == "IntOrString") {
    if (value.is_string()) return set_text(message, "strVal", text_of(value));
    message.GetReflection()->SetInt32(&message, message.GetDescriptor()->FindFieldByName("intVal"),
                                      static_cast<std::int32_t>(value.to_number<std::int64_t>()));
    return;
  }
  ASSERT_TRUE(value.is_object()) << type << " is no object: " << json::serialize(value);
  fill(message, value.as_object());
}

void set_one(Message& message, const FieldDescriptor* field, const json::value& value) {
  const Reflection& reflection = *message.GetReflection();
  const bool is_list = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return is_list ? reflection.AddString(&message, field, text_of(value))
                     : reflection.SetString(&message, field, text_of(value));
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto number = value.to_number<std::int32_t>();
      return is_list ? reflection.AddInt32(&message, field, number) : reflection.SetInt32(&message, field, number);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const auto number = value.to_number<std::int64_t>();
      return is_list ? reflection.AddInt64(&message, field, number) : reflection.SetInt64(&message, field, number);
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      ASSERT_TRUE(value.is_bool()) << field->full_name();
      return reflection.SetBool(&message, field, value.as_bool());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return fill_message(
          is_list ? *reflection.AddMessage(&message, field) : *reflection.MutableMessage(&message, field), value);
    default:
      FAIL() << field->full_name() << " has a type that is not known here";
  }
}

/// A map is a list of pairs.
void set_pairs(Message& message, const FieldDescriptor* field, const json::object& map) {
  for (const auto& [key, value] : map) {
    Message& pair = *message.GetReflection()->AddMessage(&message, field);
    set_text(pair, "key", std::string(key));
    set_one(pair, pair.GetDescriptor()->FindFieldByName("value"), value);
  }
}

void set_member(Message& message, const std::string& name, const json::value& value) {
  const Descriptor& type = *message.GetDescriptor();
  if (const FieldDescriptor* field = type.FindFieldByName(name)) {
    if (field->is_repeated() && value.is_object()) return set_pairs(message, field, value.as_object());
    if (!field->is_repeated()) return set_one(message, field, value);
    ASSERT_TRUE(value.is_array()) << field->full_name();
    for (const json::value& item : value.as_array()) set_one(message, field, item);
    return;
  }
  for (const char* inlined : kInlined) {
    const FieldDescriptor* field = type.FindFieldByName(inlined);
    if (field == nullptr || field->message_type()->FindFieldByName(name) == nullptr) continue;
    return set_member(*message.GetReflection()->MutableMessage(&message, field), name, value);
  }
  ADD_FAILURE() << type.full_name() << " has no member " << name;
}

void fill(Message& message, const json::object& from) {
  for (const auto& [key, value] : from)
    if (!value.is_null()) set_member(message, std::string(key), value);
}

std::string full_name(const std::string& kind) {
  const bool is_of_apps = kind.starts_with("ReplicaSet") || kind.starts_with("StatefulSet");
  return (is_of_apps ? kApps : kCore) + kind;
}

json::object parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  EXPECT_FALSE(error) << error.message() << ": " << text;
  EXPECT_TRUE(value.is_object()) << text;
  return value.is_object() ? std::move(value).as_object() : json::object();
}

/// The kind and its version are in the envelope, not in the message.
std::string enveloped(const std::string& full_name, json::object object) {
  for (const char* name : {"kind", "apiVersion"}) object.erase(name);
  const std::unique_ptr<Message> message = kinds().message(full_name), envelope = kinds().message(kRuntime + "Unknown");
  if (message == nullptr || envelope == nullptr) return {};
  fill(*message, object);
  set_text(*envelope, "raw", message->SerializeAsString());
  return std::string("k8s\0", 4) + envelope->SerializeAsString();
}

}  // namespace

std::string protobuf_of(const std::string& kind, std::string_view json) {
  return enveloped(full_name(kind), parsed(json));
}

std::string protobuf_event(const std::string& kind, std::string_view json) {
  const json::object event = parsed(json);
  const std::string type = text_of(event.at("type"));
  const std::unique_ptr<Message> message = kinds().message(kMeta + "WatchEvent");
  if (message == nullptr) return {};
  set_text(*message, "type", type);
  const FieldDescriptor* object = message->GetDescriptor()->FindFieldByName("object");
  set_text(*message->GetReflection()->MutableMessage(message.get(), object), "raw",
           enveloped(type == "ERROR" ? kMeta + "Status" : full_name(kind), event.at("object").as_object()));
  return message->SerializeAsString();
}

std::string protobuf_frame(const std::string& kind, std::string_view json) {
  const std::string event = protobuf_event(kind, json);
  std::string length;
  for (int shift = 24; shift >= 0; shift -= 8) length += static_cast<char>(event.size() >> shift & 255);
  return length + event;
}

}  // namespace ashlar::kube
