#include "config/yaml/document.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <sstream>

namespace ashlar::config {
namespace {

/// Notes where a document has something in it.
class ContentFinder final : public YAML::EventHandler {
 public:
  bool has_content() const { return has_content_; }
  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { note(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override { note(mark); }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    note(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    note(mark);
  }
  void OnMapEnd() override {}

 private:
  void note(const YAML::Mark& mark) {
    if (!has_content_) mark_ = mark;
    has_content_ = true;
  }

  bool has_content_ = false;
  YAML::Mark mark_;
};

}  // namespace

std::string yaml_place(const std::string& file, const YAML::Mark& mark) {
  // yaml-cpp marks nodes that it made up (such as empty documents) with -1.
  return file + ":" + std::to_string(std::max(mark.line, 0) + 1) + ":" + std::to_string(std::max(mark.column, 0) + 1) +
         ": ";
}

Error yaml_error(const std::string& file, const YAML::Exception& error) {
  return invalid(yaml_place(file, error.mark) + "not valid YAML: " + error.msg +
                 "; check the brackets, quotes, colons and indentation of this line and those above it");
}

Result<YAML::Node> only_document(const std::string& text, const std::string& file) try {
  const YAML::Node first = YAML::Load(text);
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  ContentFinder ignored, second;
  if (parser.HandleNextDocument(ignored) && parser.HandleNextDocument(second) && second.has_content())
    return invalid(yaml_place(file, second.mark()) + "expected one YAML document, a second one begins here");
  return first;
} catch (const YAML::Exception& error) {
  return yaml_error(file, error);
}

}  // namespace ashlar::config
