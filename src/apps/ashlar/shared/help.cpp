#include "apps/ashlar/shared/help.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

namespace ashlar {
namespace {

constexpr std::size_t kHelpColumns = 80;

/// The words of `text` in lines of at most `width` columns; a word that is longer has a line of its own.
std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > 0 && column + 1 + end > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// CLI11 indents the lines of a description itself.
class HelpForm final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kHelpColumns - column_width_);
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    std::stringstream out;
    CLI::detail::format_help(out, verb->get_name(), wrapped(verb->get_description(), kHelpColumns - column_width_),
                             column_width_);
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), kHelpColumns) + "\n";
  }
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_form() {
  auto form = std::make_shared<HelpForm>();
  form->label("SUBCOMMAND", "VERB");
  return form;
}

}  // namespace ashlar
