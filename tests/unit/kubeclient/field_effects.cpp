#include "field_effects.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ashlar::kube {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

std::string trimmed_cell(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Calls `visit` with every message that the fields of the path lead to, repeated ones one by one.
void each_at(Message& at, const std::vector<const FieldDescriptor*>& path, std::size_t depth,
             const std::function<void(Message&)>& visit) {
  if (depth == path.size()) return visit(at);
  const Reflection& reflection = *at.GetReflection();
  const FieldDescriptor* field = path[depth];
  if (!field->is_repeated()) {
    if (reflection.HasField(at, field)) each_at(*reflection.MutableMessage(&at, field), path, depth + 1, visit);
    return;
  }
  for (int i = 0; i < reflection.FieldSize(at, field); ++i)
    each_at(*reflection.MutableRepeatedMessage(&at, field, i), path, depth + 1, visit);
}

void set_something(Message& message, const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  const bool is_list = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return is_list ? reflection.AddString(&message, field, "x") : reflection.SetString(&message, field, "x");
    case FieldDescriptor::CPPTYPE_INT32:
      return is_list ? reflection.AddInt32(&message, field, 7) : reflection.SetInt32(&message, field, 7);
    case FieldDescriptor::CPPTYPE_INT64:
      return is_list ? reflection.AddInt64(&message, field, 7) : reflection.SetInt64(&message, field, 7);
    case FieldDescriptor::CPPTYPE_BOOL:
      return is_list ? reflection.AddBool(&message, field, true) : reflection.SetBool(&message, field, true);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (is_list)
        reflection.AddMessage(&message, field);
      else
        reflection.MutableMessage(&message, field);
      return;
    default:
      FAIL() << field->full_name() << " has a type that this test does not know";
  }
}

}  // namespace

FieldRows read_field_rows(const std::string& file) {
  FieldRows rows;
  std::ifstream in(file);
  EXPECT_TRUE(in.good()) << file;
  for (std::string line; std::getline(in, line);) {
    if (line.size() < 3 || line[0] != '|' || std::isupper(static_cast<unsigned char>(line[2])) == 0) continue;
    std::istringstream cells(line.substr(1));
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed_cell(cell));
    EXPECT_EQ(row.size(), 4u) << line;
    if (row.size() != 4) continue;
    EXPECT_FALSE(row[3].empty()) << line;
    EXPECT_TRUE(rows.emplace(std::pair(row[0], row[1]), FieldRow{row[2], row[3]}).second) << "twice: " << line;
  }
  return rows;
}

ApiMessages::ApiMessages(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  google::protobuf::FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromIstream(&in)) << file;
  for (const google::protobuf::FileDescriptorProto& described : set.file())
    EXPECT_NE(pool_.BuildFile(described), nullptr) << described.name();
}

const Descriptor* ApiMessages::type(const std::string& name) const {
  for (const char* package : {"k8s.io.api.core.v1.", "k8s.io.api.storage.v1.", "k8s.io.api.apps.v1."})
    if (const Descriptor* found = pool_.FindMessageTypeByName(package + name); found != nullptr) return found;
  return nullptr;
}

std::unique_ptr<Message> ApiMessages::message(const std::string& name, const std::string& text) {
  std::unique_ptr<Message> made(factory_.GetPrototype(type(name))->New());
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, made.get())) << name;
  return made;
}

void FieldEffects::walk(std::vector<Example> examples, Decode decode) {
  examples_ = std::move(examples);
  decode_ = std::move(decode);
  kept_.clear();
  for (const Example& example : examples_) kept_.push_back(decode_(example->SerializeAsString()));
  Path path;
  std::set<std::string> above;
  walk(examples_.front()->GetDescriptor(), path, above);
}

std::vector<std::string> FieldEffects::complaints() const {
  std::vector<std::string> all;
  for (const std::pair<std::string, std::string>& key : visited_)
    if (!rows_.contains(key)) all.push_back(key.first + "." + key.second + " has no row");
  for (const auto& [key, effect] : effects_)
    if (std::string text = complaint(key, effect); !text.empty()) all.push_back(std::move(text));
  return all;
}

bool FieldEffects::has_rows(const std::string& type) const {
  const auto it = rows_.lower_bound({type, ""});
  return it != rows_.end() && it->first.first == type;
}

void FieldEffects::walk(const Descriptor* type, Path& path, std::set<std::string>& above) {
  if (!above.insert(type->full_name()).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    const std::pair<std::string, std::string> key(type->name(), field->name());
    visited_.insert(key);
    const auto row = rows_.find(key);
    if (row == rows_.end()) continue;
    try_field(path, field, effects_[key]);
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const bool is_read = row->second.use == "evaluated" ||
                         (row->second.use == "refused" && is_message && has_rows(field->message_type()->name()));
    if (!is_message || !is_read) continue;
    path.push_back(field);
    walk(field->message_type(), path, above);
    path.pop_back();
  }
  above.erase(type->full_name());
}

void FieldEffects::note(const std::string& bytes, const Kept& before, Effect& effect) {
  const Kept after = decode_(bytes);
  effect.is_tried = true;
  effect.changes = effect.changes || after.all != before.all;
  effect.refuses = effect.refuses || (before.refused.empty() && !after.refused.empty());
  effect.ignores = effect.ignores || after.ignored != before.ignored;
}

void FieldEffects::try_field(const Path& path, const FieldDescriptor* field, Effect& effect) {
  for (std::size_t e = 0; e < examples_.size(); ++e) {
    std::size_t places = 0;
    each_at(*examples_[e], path, 0, [&](Message&) { ++places; });
    for (std::size_t place = 0; place < places; ++place) {
      const auto changed = [&](const std::function<void(Message&)>& change) {
        const std::unique_ptr<Message> copy(examples_[e]->New());
        copy->CopyFrom(*examples_[e]);
        std::size_t at = 0;
        each_at(*copy, path, 0, [&](Message& m) {
          if (at++ == place) change(m);
        });
        note(copy->SerializeAsString(), kept_[e], effect);
      };
      changed([&](Message& m) { m.GetReflection()->ClearField(&m, field); });
      changed([&](Message& m) { set_something(m, field); });
    }
  }
}

// ---- kinds that are read from JSON ----------------------------------------------------------------------------------

namespace {

namespace json = boost::json;

const json::object& object_in(const json::object& holder, const char* name) {
  static const json::object kNone;
  const json::value* value = holder.if_contains(name);
  return value == nullptr || !value->is_object() ? kNone : value->as_object();
}

std::string word_in(const json::object& holder, const char* name) {
  const json::value* value = holder.if_contains(name);
  return value == nullptr ? std::string() : std::string(value->as_string());
}

/// Calls `visit` with every object that the members of the path lead to, those of lists one by one.
void each_object_at(json::value& at, const std::vector<std::string>& path, std::size_t depth,
                    const std::function<void(json::object&)>& visit) {
  if (at.is_array()) {
    for (json::value& item : at.as_array()) each_object_at(item, path, depth, visit);
    return;
  }
  if (!at.is_object()) return;
  if (depth == path.size()) return visit(at.as_object());
  if (json::value* member = at.as_object().if_contains(path[depth])) each_object_at(*member, path, depth + 1, visit);
}

}  // namespace

ApiDescription::ApiDescription(const std::string& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in.good()) << file;
  std::ostringstream text;
  text << in.rdbuf();
  const json::value description = json::parse(text.str());
  for (const auto& [name, type] : object_in(object_in(description.as_object(), "components"), "schemas")) {
    const std::string whole(name);
    types_[whole.substr(whole.rfind('.') + 1)] = type.as_object();
  }
}

const json::object& ApiDescription::type(const std::string& name) const {
  static const json::object kNone;
  const auto type = types_.find(name);
  return type == types_.end() ? kNone : type->second;
}

std::string ApiDescription::held_by(const json::object& property) const {
  if (const json::value* parts = property.if_contains("allOf")) return held_by(parts->as_array().at(0).as_object());
  if (word_in(property, "type") == "array") return held_by(object_in(property, "items"));
  const std::string reference = word_in(property, "$ref");
  const std::string name = reference.substr(reference.rfind('.') + 1);
  return word_in(type(name), "type") == "object" ? name : std::string();
}

json::value ApiDescription::something(const json::object& property) const {
  if (const json::value* parts = property.if_contains("allOf")) return something(parts->as_array().at(0).as_object());
  if (const std::string reference = word_in(property, "$ref"); !reference.empty())
    return something(type(reference.substr(reference.rfind('.') + 1)));
  const std::string kind = word_in(property, "type");
  if (kind == "array") return json::array{something(object_in(property, "items"))};
  if (kind == "integer") return 7;
  if (kind == "boolean") return true;
  if (kind == "string") return word_in(property, "format") == "date-time" ? "2001-02-03T04:05:06Z" : "x";
  EXPECT_EQ(kind, "object") << json::serialize(property);
  return property.contains("additionalProperties") ? json::object{{"ashlar.dev/x", "x"}} : json::object{};
}

struct FieldEffects::JsonWalk {
  const ApiDescription& api;
  std::vector<json::value> examples;
  std::vector<Kept> kept;  ///< of the examples
};

void FieldEffects::walk_json(const ApiDescription& api, const std::string& kind,
                             const std::vector<std::string>& examples, Decode decode) {
  decode_ = std::move(decode);
  JsonWalk walk{api, {}, {}};
  for (const std::string& example : examples) {
    walk.examples.push_back(json::parse(example));
    walk.kept.push_back(decode_(json::serialize(walk.examples.back())));
  }
  ASSERT_FALSE(api.type(kind).empty()) << kind << " is not described";
  walk_json(walk, kind, {});
}

void FieldEffects::walk_json(const JsonWalk& walk, const std::string& type, const std::vector<std::string>& path) {
  for (const auto& [member, property] : object_in(walk.api.type(type), "properties")) {
    const std::string name(member);
    if (path.empty() && (name == "apiVersion" || name == "kind")) continue;  // in protobuf the envelope has them
    const std::pair<std::string, std::string> key(type, name);
    visited_.insert(key);
    const auto row = rows_.find(key);
    if (row == rows_.end()) continue;
    Effect& effect = effects_[key];
    for (std::size_t e = 0; e < walk.examples.size(); ++e) {
      const auto changed = [&](const std::function<void(json::object&)>& change) {
        json::value copy = walk.examples[e];
        bool is_there = false;
        each_object_at(copy, path, 0, [&](json::object& holder) {
          is_there = true;
          change(holder);
        });
        if (is_there) note(json::serialize(copy), walk.kept[e], effect);
      };
      changed([&](json::object& holder) { holder.erase(name); });
      changed([&](json::object& holder) {
        json::value& value = holder[name];
        const json::value other = walk.api.something(property.as_object());
        if (value.is_array())
          value.as_array().push_back(other.as_array().at(0));
        else if (!value.is_object() || !other.is_object() || !other.as_object().empty())
          value = other;
      });
    }
    const std::string held = walk.api.held_by(property.as_object());
    const bool is_read = row->second.use == "evaluated" || (row->second.use == "refused" && has_rows(held));
    if (held.empty() || !is_read) continue;
    std::vector<std::string> below = path;
    below.push_back(name);
    walk_json(walk, held, below);
  }
}

std::string FieldEffects::complaint(const std::pair<std::string, std::string>& key, const Effect& effect) const {
  const std::string& use = rows_.at(key).use;
  const std::string name = key.first + "." + key.second;
  if (!effect.is_tried) return name + ": no example has a " + key.first;
  if (use == "evaluated") return effect.changes ? "" : name + " changes nothing, but is said to be evaluated";
  if (use == "refused") return effect.refuses ? "" : name + " is said to be refused, but is not";
  if (use == "ignored") return effect.ignores ? "" : name + " is said to be ignored and named, but is not named";
  if (use == "irrelevant") return effect.changes ? name + " is said to be irrelevant, but changes what is kept" : "";
  return name + ": unknown use " + use;
}

}  // namespace ashlar::kube
