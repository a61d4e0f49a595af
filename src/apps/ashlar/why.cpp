// `ashlar why NS/NAME`: why this pod or gang waits, and the smallest change that would help. Exit status 0 = it runs, 4
// = it waits, 5 = it can never run in its present form.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <sstream>

#include "apps/ashlar/shared/ask.h"
#include "apps/ashlar/verbs.h"
#include "text/amount_text.h"
#include "text/duration_text.h"

namespace ashlar {
namespace {

using boost::json::object;

std::string asks_text(const object& why) {
  const boost::json::value* asks = why.if_contains("asks");
  if (asks == nullptr) return {};
  const object& a = asks->as_object();
  std::string text;
  if (number_of(a, "gpus") > 0) text = std::to_string(number_of(a, "gpus")) + " GPU";
  if (number_of(a, "milliGpu") > 0) text = milli_word(number_of(a, "milliGpu")) + " GPU";
  return text;
}

std::string headline(const object& why) {
  std::string line = text_of(why, "name");
  std::string asks = asks_text(why);
  if (const boost::json::value* gang = why.if_contains("gang")) {
    const object& g = gang->as_object();
    line += "   gang of " + std::to_string(number_of(g, "size"));
    const boost::json::value* uniform = g.if_contains("uniform");
    const bool is_uniform = uniform == nullptr || uniform->as_bool();
    if (!asks.empty() && is_uniform) line += " x " + asks;
    if (!text_of(g, "within").empty()) line += " within one " + text_of(g, "within");
    const std::int64_t held = number_of(g, "held");
    line += " (" + std::to_string(number_of(g, "present") + held) + " exist" +
            (held > 0 ? ", " + std::to_string(held) + " held" : "") + ", " + std::to_string(number_of(g, "bound")) +
            " bound)";
    if (!asks.empty() && !is_uniform) line += ", this pod " + asks;
  } else if (!asks.empty()) {
    line += "   " + asks;
  }
  std::string state = text_of(why, "state");
  for (char& c : state) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  line += "   " + state;
  if (why.contains("ageMillis")) line += " " + duration_text(millis_of(why, "ageMillis"));
  if (!text_of(why, "queue").empty()) line += "   queue " + text_of(why, "queue");
  return line + '\n';
}

std::string why_text(const object& why) {
  std::ostringstream out;
  out << headline(why);
  const bool is_waiting = why.at("exitStatus").as_int64() != 0;
  out << (is_waiting ? "BLOCKED BY  " : "            ") << text_of(why, "headline");
  if (why.contains("verdictAgeMillis"))
    out << "   verdict " << duration_text(millis_of(why, "verdictAgeMillis")) << " old";
  out << '\n';
  if (const boost::json::value* reasons = why.if_contains("reasons")) {
    const std::string said = text_of(why, "headline");
    for (const boost::json::value& r : reasons->as_array()) {
      const std::string message = text_of(r.as_object(), "message");
      if (said.find(message) == std::string::npos)
        out << "ALSO        " << text_of(r.as_object(), "code") << ": " << message << '\n';
    }
  }
  if (const std::string condition = text_of(why, "condition"); !condition.empty())
    out << "CONDITION   " << condition << '\n';
  if (const boost::json::value* gang = why.if_contains("gang");
      gang != nullptr && gang->as_object().contains("priorityTrouble"))
    out << "PRIORITY    " << text_of(gang->as_object(), "priorityTrouble") << '\n';
  if (const boost::json::value* remedies = why.if_contains("remedies");
      remedies != nullptr && !remedies->as_array().empty()) {
    out << "WOULD RUN NOW IF (smallest first)\n";
    int number = 0;
    for (const boost::json::value& r : remedies->as_array())
      out << "  " << ++number << ". " << text_of(r.as_object(), "message") << '\n';
  }
  if (const boost::json::value* ignored = why.if_contains("ignored"))
    for (const boost::json::value& path : ignored->as_array())
      out << "IGNORED     " << std::string(path.as_string()) << " is a preference that Ashlar does not evaluate\n";
  return out.str();
}

std::string full_name(const std::string& ns, const std::string& name) {
  if (name.find('/') == std::string::npos) return (ns.empty() ? "default" : ns) + "/" + name;
  if (!ns.empty() && name.compare(0, name.find('/'), ns) != 0)
    throw CLI::ValidationError("-n", name + " is in another namespace than " + ns + "; give only one of the two");
  return name;
}

}  // namespace

void add_why(CLI::App& app) {
  auto options = std::make_shared<AskOptions>();
  auto name = std::make_shared<std::string>();
  auto ns = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("why", "Why a pod or gang waits, and what would help");
  verb->add_option("NAME", *name, "NAMESPACE/NAME of a pod or gang, or NAME with -n")->required()->type_name("");
  verb->add_option("-n,--namespace", *ns, "Namespace of NAME; \"default\" if neither gives one")
      ->type_name("NAMESPACE");
  options->add_to(*verb, {"table", "json"});
  verb->callback([options, name, ns] {
    const std::string body = ask_scheduler(*options, "/api/v1/why?name=" + percent_encoded(full_name(*ns, *name)));
    const std::int64_t status = number_of(print_answer(*options, body, "Why", why_text), "exitStatus");
    if (status != 0) throw CLI::RuntimeError(static_cast<int>(status));
  });
}

}  // namespace ashlar
