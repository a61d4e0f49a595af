// What a decoder makes of each field of a message: for the page of fields. The messages are made from the descriptions
// that protoc prints or, of kinds that are read from JSON, that a server gives, so that a field cannot be forgotten.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ashlar::kube {

/// A row of docs/reference/fields.md.
struct FieldRow {
  std::string use, reason;
};
using FieldRows = std::map<std::pair<std::string, std::string>, FieldRow>;  ///< by message and field
FieldRows read_field_rows(const std::string& file);

/// What the decoder keeps of an object.
struct Kept {
  std::string all;      ///< everything in words
  std::string refused;  ///< the hard field that is not evaluated
  std::string ignored;  ///< preferences that are not evaluated
};

/// Messages of the API by their descriptions.
class ApiMessages {
 public:
  explicit ApiMessages(const std::string& file);
  /// The message of core/v1 or storage/v1, written in protobuf's text format.
  std::unique_ptr<google::protobuf::Message> message(const std::string& name, const std::string& text);
  const google::protobuf::Descriptor* type(const std::string& name) const;

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_{&pool_};
};

/// Types of the API as a server describes them (OpenAPI v3).
class ApiDescription {
 public:
  explicit ApiDescription(const std::string& file);
  /// By the last part of its name; an empty one if there is none.
  const boost::json::object& type(const std::string& name) const;
  /// The name of the type that a property, or each of its items, has; empty: it is a plain value.
  std::string held_by(const boost::json::object& property) const;
  /// A value that the property may have, not the usual one; of a list another item.
  boost::json::value something(const boost::json::object& property) const;

 private:
  std::map<std::string, boost::json::object> types_;
};

/// Walks kinds of objects from their tops, wherever the rows say that a field is evaluated, and tries each field in each
/// of the examples: it is cleared, and set. Messages that several kinds have are judged by all of them.
class FieldEffects {
 public:
  using Decode = std::function<Kept(const std::string& bytes)>;
  using Example = std::unique_ptr<google::protobuf::Message>;
  explicit FieldEffects(const FieldRows& rows) : rows_(rows) {}
  /// Tries one kind of object.
  void walk(std::vector<Example> examples, Decode decode);
  /// The same of one that is read from JSON.
  void walk_json(const ApiDescription& api, const std::string& kind, const std::vector<std::string>& examples,
                 Decode decode);

  /// Field by field what contradicts its row.
  std::vector<std::string> complaints() const;
  const std::set<std::pair<std::string, std::string>>& visited() const { return visited_; }

 private:
  using Path = std::vector<const google::protobuf::FieldDescriptor*>;
  /// What changes of a field have done, in any example and at any place.
  struct Effect {
    bool is_tried = false, changes = false, refuses = false, ignores = false;
  };
  void walk(const google::protobuf::Descriptor* type, Path& path, std::set<std::string>& above);
  void try_field(const Path& path, const google::protobuf::FieldDescriptor* field, Effect& effect);
  struct JsonWalk;
  void walk_json(const JsonWalk& walk, const std::string& type, const std::vector<std::string>& path);
  void note(const std::string& bytes, const Kept& before, Effect& effect);
  bool has_rows(const std::string& type) const;
  /// What contradicts the row; empty if nothing does.
  std::string complaint(const std::pair<std::string, std::string>& key, const Effect& effect) const;

  const FieldRows& rows_;
  std::vector<Example> examples_;
  std::vector<Kept> kept_;  ///< of the examples
  Decode decode_;
  std::map<std::pair<std::string, std::string>, Effect> effects_;
  std::set<std::pair<std::string, std::string>> visited_;
};

}  // namespace ashlar::kube
