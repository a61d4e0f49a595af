#include "apps/ashlar/shared/json.h"

namespace ashlar {

std::string json_document(std::string_view kind, const boost::json::object& object) {
  boost::json::object document{{"apiVersion", "ashlar.dev/v1alpha1"}, {"kind", kind}};
  for (const auto& [key, value] : object) document[key] = value;
  return boost::json::serialize(document) + "\n";
}

}  // namespace ashlar
