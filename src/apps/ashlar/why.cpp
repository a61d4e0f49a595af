// `ashlar why NAME`: why this pod or gang waits, and the smallest change that would help; of a placed pod, what its
// preferences came to. Exit status 0 = it runs, 4 = it waits, 5 = it can never run in its present form.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "apps/ashlar/shared/ask.h"
#include "apps/ashlar/verbs.h"
#include "model/quota.h"
#include "text/amount_text.h"
#include "text/duration_text.h"

namespace ashlar {
namespace {

using boost::json::object;

std::string requests_text(const object& why) {
  const boost::json::value* requests = why.if_contains("requests");
  if (requests == nullptr) return {};
  const object& a = requests->as_object();
  const std::int64_t milli = number_of(a, "gpus") * 1000 + number_of(a, "milliGpu");
  return milli > 0 ? quota_text(static_cast<std::int64_t>(QuotaDimension::kMilliGpu), milli) : std::string();
}

/// "2 exist".
std::string existing(std::int64_t members) { return std::to_string(members) + (members == 1 ? " exists" : " exist"); }

/// "   gang of 4 x 8 GPUs within one rack (4 exist, 0 bound)"; a gang that is one pod is described as a pod.
std::string gang_text(const object& gang, const std::string& requests) {
  const std::string level = text_of(gang, "within"), within = level.empty() ? "" : " within one " + level;
  const std::int64_t size = number_of(gang, "size"), held = number_of(gang, "held");
  const std::int64_t present = number_of(gang, "present") + held;
  if (size == 1 && present == 1 && !gang.contains("groups"))
    return requests.empty() ? within : "   " + requests + within;
  const boost::json::value* uniform = gang.if_contains("uniform");
  const bool is_uniform = uniform == nullptr || uniform->as_bool();
  std::string text = "   gang of " + std::to_string(size);
  if (!requests.empty() && is_uniform) text += " x " + requests;
  text += within + " (" + existing(present) + (held > 0 ? ", " + std::to_string(held) + " held" : "") + ", " +
          std::to_string(number_of(gang, "bound")) + " bound)";
  return requests.empty() || is_uniform ? text : text + ", this pod " + requests;
}

std::string headline(const object& why) {
  std::string line = text_of(why, "name");
  const std::string requests = requests_text(why);
  if (const boost::json::value* gang = why.if_contains("gang"))
    line += gang_text(gang->as_object(), requests);
  else if (!requests.empty())
    line += "   " + requests;
  std::string state = text_of(why, "state");
  for (char& c : state) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  line += "   " + state;
  if (why.contains("ageMillis")) line += " " + duration_text(millis_of(why, "ageMillis"));
  if (!text_of(why, "queue").empty()) line += "   queue " + text_of(why, "queue");
  return line + '\n';
}

/// A line for each group of a gang of PodGroups.
std::string groups_text(const object& why) {
  const boost::json::value* gang = why.if_contains("gang");
  const boost::json::value* groups = gang == nullptr ? nullptr : gang->as_object().if_contains("groups");
  if (groups == nullptr) return {};
  std::string lines;
  std::int64_t number = 0;
  for (const boost::json::value& group : groups->as_array()) {
    const object& g = group.as_object();
    lines += "GROUP " + std::to_string(++number) + "     " + text_of(g, "name") + " of " +
             std::to_string(number_of(g, "size"));
    if (!text_of(g, "within").empty()) lines += " within one " + text_of(g, "within");
    lines += " (" + existing(number_of(g, "present")) + ", " + std::to_string(number_of(g, "bound")) + " bound)\n";
  }
  return lines;
}

/// When it can start, or the job ahead of it: by the p50 and the p90 of the running jobs. Empty if the reasons say it
/// already.
std::string start_text(const object& why) {
  const boost::json::value* found = why.if_contains("start");
  if (found == nullptr) return {};
  const object& start = found->as_object();
  const Millis expected = millis_of(start, "expectedMillis"), latest = millis_of(start, "latestMillis");
  const bool is_ahead = text_of(start, "of") == "ahead";
  if (expected == latest) return is_ahead ? "" : "START       in " + duration_text(latest) + " at the latest\n";
  return (is_ahead ? "AHEAD       the job ahead starts in " : "START       in ") + duration_text(expected) +
         " (p50), in " + duration_text(latest) + " at the latest (p90)\n";
}

/// What each preference of a placed pod comes to, and what a node that is better in it would have cost.
std::string preferences_text(const object& why) {
  const boost::json::value* found = why.if_contains("preferences");
  if (found == nullptr) return {};
  const object& preferences = found->as_object();
  if (preferences.contains("unknown")) return "PREFERENCES not compared: " + text_of(preferences, "unknown") + "\n";
  std::string lines = "PREFERENCES ";
  lines += preferences.contains("points") ? std::to_string(number_of(preferences, "points")) +
                                                " points; the best of the nodes that would take it has " +
                                                std::to_string(number_of(preferences, "pointsMost")) + " now\n"
                                          : "as of now, when its node would not take it\n";
  for (const boost::json::value& term : preferences.at("terms").as_array()) {
    lines += "            " + text_of(term.as_object(), "message") + "\n";
    if (const std::string cost = text_of(term.as_object(), "cost"); !cost.empty())
      lines += "              " + cost + "\n";
  }
  return lines;
}

/// "podgroup/p -n red": how to ask for the object of that kind.
std::string question(const std::string& kind, const std::string& name) {
  const std::size_t slash = name.find('/');
  const std::string ns = name.substr(0, slash), own = slash == std::string::npos ? name : name.substr(slash + 1);
  return "ashlar why " + kind + "/" + own + (ns == "default" ? "" : " -n " + ns);
}

/// Which object of that name it is, if there are others.
std::string namesakes_text(const object& why) {
  const boost::json::value* namesakes = why.if_contains("namesakes");
  if (namesakes == nullptr) return {};
  std::string others;
  for (const boost::json::value& kind : namesakes->as_array())
    others += (others.empty() ? "" : ", ") + question(std::string(kind.as_string()), text_of(why, "name"));
  const std::string kind = text_of(why, "object") == "podgroup" ? "PodGroup" : text_of(why, "object");
  return "ABOUT       the " + kind + " of that name; there is also: " + others + "\n";
}

std::string why_text(const object& why) {
  std::ostringstream out;
  out << headline(why) << namesakes_text(why);
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
  out << groups_text(why) << preferences_text(why) << start_text(why);
  if (const std::string condition = text_of(why, "condition");
      !condition.empty() && condition != text_of(why, "headline"))
    out << "CONDITION   " << condition << '\n';
  if (const boost::json::value* gang = why.if_contains("gang");
      gang != nullptr && gang->as_object().contains("priorityTrouble"))
    out << "PRIORITY    " << text_of(gang->as_object(), "priorityTrouble") << '\n';
  if (const std::string apart = text_of(why, "apart"); !apart.empty()) out << "APART       " << apart << '\n';
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

/// What the command line names.
struct Asked {
  std::string name;  ///< NAMESPACE/NAME
  std::string kind;  ///< "pod", "podgroup" or "gang"; empty: the first that there is
};

/// The kind that stands before a name; empty: the word is none.
std::string kind_called(const std::string& word) {
  if (word == "pod" || word == "pods" || word == "po") return "pod";
  if (word == "podgroup" || word == "podgroups") return "podgroup";
  return word == "gang" || word == "gangs" ? "gang" : "";
}

/// kubectl's ways to write a pod: NAME, NAMESPACE/NAME (as Ashlar prints it) and pod/NAME (as kubectl prints it); and
/// the same for PodGroups and gangs.
Asked parse_asked(const std::string& text, const std::optional<std::string>& ns) {
  const auto refuse = [&](const std::string& what) { throw CLI::ValidationError("NAME", what); };
  if (ns && (ns->empty() || ns->find('/') != std::string::npos))
    throw CLI::ValidationError("-n", "expected the name of a namespace, got \"" + *ns + "\"");
  const std::vector<std::string> parts = CLI::detail::split(text, '/');
  const std::string last = text.ends_with('/') ? std::string() : parts.back();
  if (last.empty() || parts.front().empty()) refuse("expected NAME, NAMESPACE/NAME or pod/NAME, got \"" + text + "\"");
  if (parts.size() == 1) return {ns.value_or("default") + "/" + text, {}};
  const std::string kind = kind_called(parts[0]);
  if (parts.size() > 2)
    refuse(kind.empty() ? "expected NAME, NAMESPACE/NAME or pod/NAME, got \"" + text + "\""
                        : "expected " + kind + "/NAME with the namespace as -n " + parts[1] + ", got \"" + text + "\"");
  if (!kind.empty()) return {ns.value_or("default") + "/" + last, kind};
  if (ns && *ns != parts[0]) refuse(text + " is in another namespace than -n " + *ns + "; give only one of the two");
  return {text, {}};
}

}  // namespace

void add_why(CLI::App& app) {
  auto options = std::make_shared<AskOptions>();
  auto name = std::make_shared<std::string>();
  auto ns = std::make_shared<std::optional<std::string>>();
  CLI::App* verb = app.add_subcommand("why", "Why a pod or gang waits, and what would help");
  verb->add_option("NAME", *name, "Pod or gang as NAME, NAMESPACE/NAME, pod/NAME, podgroup/NAME or gang/NAME")
      ->required()
      ->type_name("");
  verb->add_option("-n,--namespace", *ns, "Namespace of NAME and KIND/NAME; else \"default\"")->type_name("NAMESPACE");
  options->add_to(*verb, {"table", "json"});
  verb->callback([options, name, ns] {
    const Asked asked = parse_asked(*name, *ns);
    const std::string body = ask_scheduler(*options, "/api/v1/why?name=" + percent_encoded(asked.name) +
                                                         (asked.kind.empty() ? "" : "&kind=" + asked.kind));
    const auto render = [&](const object& why) {
      // an older scheduler does not read the kind
      if (asked.kind == "pod" && text_of(why, "pod") != asked.name)
        refuse_name("pod", asked.name, "; a gang has that name: ashlar why " + asked.name);
      return why_text(why);
    };
    const std::int64_t status = number_of(print_answer(*options, body, "Why", render), "exitStatus");
    if (status != 0) throw CLI::RuntimeError(static_cast<int>(status));
  });
}

}  // namespace ashlar
