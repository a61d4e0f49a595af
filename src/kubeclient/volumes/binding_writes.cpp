#include "kubeclient/volumes/binding_writes.h"

#include "http/url.h"
#include "kubeclient/decode/json_reader.h"
#include "kubeclient/json_writer.h"

namespace ashlar::kube {
namespace {

/// {"metadata":{"uid":...,"resourceVersion":...,"annotations":{KEY:VALUE}}, without the end.
void begin_patch(JsonWriter& w, const ObjectVersion& of, std::string_view annotation, std::string_view value) {
  w.begin_object().key("metadata").begin_object();
  w.member("uid", of.uid.view()).member("resourceVersion", of.version);
  if (!annotation.empty()) w.key("annotations").begin_object().member(annotation, value).end_object();
  w.end_object();
}

void read_metadata(json::Value value, BindingShown& shown) {
  json::each_field(value, [&](std::string_view key, json::Value member) {
    if (key == "uid")
      shown.object.uid = json::text_of(member);
    else if (key == "resourceVersion")
      shown.object.version = json::text_of(member);
    else if (key == "annotations")
      json::each_field(member, [&](std::string_view name, json::Value text) {
        if (name != kSelectedNodeAnnotation) return;
        shown.has_node = true;
        shown.node = json::text_of(text);
      });
  });
}

void read_spec(json::Value value, BindingShown& shown) {
  json::each_field(value, [&](std::string_view key, json::Value member) {
    if (key != "claimRef" || json::is_null(member)) return;
    shown.has_claim = true;
    json::each_field(member, [&](std::string_view name, json::Value text) {
      if (name == "namespace")
        shown.claim_ns = json::text_of(text);
      else if (name == "name")
        shown.claim_name = json::text_of(text);
      else if (name == "uid")
        shown.claim_uid = json::text_of(text);
    });
  });
}

}  // namespace

std::string volume_path(const PooledString& name) {
  return "/api/v1/persistentvolumes/" + http::percent_encode(name.view());
}

std::string claim_path(const PooledString& ns, const PooledString& name) {
  return "/api/v1/namespaces/" + http::percent_encode(ns.view()) + "/persistentvolumeclaims/" +
         http::percent_encode(name.view());
}

std::string bind_volume_patch(const ObjectVersion& volume, const PersistentVolumeClaim& claim, bool by_controller) {
  JsonWriter w;
  begin_patch(w, volume, by_controller ? kBoundByControllerAnnotation : std::string_view(), "yes");
  w.key("spec").begin_object().key("claimRef").begin_object();
  w.member("apiVersion", "v1").member("kind", "PersistentVolumeClaim");
  w.member("namespace", claim.ns.view()).member("name", claim.name.view()).member("uid", claim.uid.view());
  w.member("resourceVersion", std::to_string(claim.resource_version));
  w.end_object().end_object().end_object();
  return w.take();
}

std::string select_node_patch(const ObjectVersion& claim, const PooledString& node) {
  JsonWriter w;
  begin_patch(w, claim, kSelectedNodeAnnotation, node.view());
  w.end_object();
  return w.take();
}

Result<BindingShown> read_binding(std::string_view text) {
  BindingShown shown;
  try {
    simdjson::ondemand::document document = json::Parser::of_thread().parse(text);
    json::each_field(document.get_value().value(), [&](std::string_view key, json::Value member) {
      if (key == "metadata")
        read_metadata(member, shown);
      else if (key == "spec")
        read_spec(member, shown);
    });
  } catch (const simdjson::simdjson_error& error) {
    return json::to_error(error, "the object");
  }
  if (shown.object.uid.empty() || shown.object.version.empty()) return invalid("metadata.uid is missing");
  return shown;
}

}  // namespace ashlar::kube
