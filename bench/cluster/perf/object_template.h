// ObjectTemplate: objects of the API server from one YAML template (see template_text.h), as JSON for POST. Cost: some
// 100 us for each text that differs after its values are filled in; objects that differ in name and node only share it.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "template_text.h"

namespace ashlar::bench::perf {

/// What an operation imposes on the template's object. Empty: the template's own.
struct ObjectEdits {
  std::string name_space;
  std::string scheduler_name;  ///< of a pod that names none
  bool has_claim = false;      ///< a pod with a volume of claim NAME-claim
  bool has_node = false;       ///< the pod is created on a node, which render() names
  bool is_named = false;       ///< render() names it, whatever the template says
};

struct RenderedObject {
  std::string kind, name;
  std::string collection;  ///< path to POST to
  std::string body;
  std::string path() const { return collection + "/" + name; }
};

/// "/api/v1/namespaces/NS/pods"; kInvalid for a kind whose path is not known.
Result<std::string> collection_path(const std::string& api_version, const std::string& kind,
                                    const std::string& name_space);

class ObjectTemplate {
 public:
  /// `text` is the template's; `file` is its name for errors.
  ObjectTemplate(std::string text, std::string file, ObjectEdits edits)
      : text_(std::move(text)), file_(std::move(file)), edits_(std::move(edits)) {}
  static Result<ObjectTemplate> read(const std::string& file, ObjectEdits edits);

  /// `name`: of an object that the operation names, or that the template does not.
  Result<RenderedObject> render(const TemplateValues& values, const std::string& name, const std::string& node = {});

 private:
  Result<RenderedObject> parsed(const std::string& filled) const;

  std::string text_, file_;
  ObjectEdits edits_;
  std::unordered_map<std::string, RenderedObject> by_text_;  ///< with marks for name and node
};

/// A node: its labels, resources and the condition Ready added to the template's.
struct NodeEdits {
  std::vector<std::pair<std::string, std::string>> labels, allocatable;
};
struct RenderedNode {
  RenderedObject object;
  std::string taints_patch;  ///< merge patch that leaves the template's own taints, without the server's
};
Result<RenderedNode> rendered_node(const std::string& text, const std::string& file, const TemplateValues& values,
                                   const std::string& name, const NodeEdits& edits);

}  // namespace ashlar::bench::perf
