// ask: a question to the running scheduler: one HTTP request to its read API, repeated while a standby answers (the lead may just be changing), the
// answer as JSON. Wiring only.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace ashlar {

/// Where the scheduler answers: --server, else $ASHLAR_SERVER, else the default port of this machine.
struct AskOptions {
  std::string server;
  std::string output = "table";  ///< table or json
};

/// The answer's text. Trouble is printed to stderr and ends the verb with exit status 1 (2 for names that nobody knows).
std::string ask_scheduler(const AskOptions& options, const std::string& path);
/// Prints what `render` makes of an answer of that kind, or `body` itself as JSON. An answer that lacks what is shown ends the verb with exit status 1
/// before anything is printed.
boost::json::object print_answer(const AskOptions& options, const std::string& body, std::string_view kind,
                                 const std::function<std::string(const boost::json::object&)>& render);
/// Ends the verb with exit status 2, as for a name that nobody knows.
[[noreturn]] void refuse_name(const std::string& what, const std::string& name);
std::string percent_encoded(const std::string& text);

// Members of a JSON object, with defaults for absent ones; texts without control characters, as a terminal may show them.
std::string text_of(const boost::json::object& object, const char* key);
std::int64_t number_of(const boost::json::object& object, const char* key);
/// "1h12m"
Millis millis_of(const boost::json::object& object, const char* key);

}  // namespace ashlar
