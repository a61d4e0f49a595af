// ask: a query to the running scheduler: one HTTP request to its read API, repeated while a standby answers (the leader
// may just be changing), the answer as JSON. Wiring only.
#pragma once

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace ashlar {

/// The scheduler's address: --server, else $ASHLAR_SERVER, else the default port of this machine.
struct AskOptions {
  std::string server;
  std::string output = "table";

  /// Adds --server, and -o for these formats.
  void add_to(CLI::App& verb, const std::vector<std::string>& formats);
};

/// The answer's text. Errors end the verb with exit status 1 (2 for unknown names).
std::string ask_scheduler(const AskOptions& options, const std::string& path);
/// Prints the result of `render` for an answer of that kind, or `body` itself as JSON. An answer without the required
/// members ends the verb with exit status 1 before anything is printed.
boost::json::object print_answer(const AskOptions& options, const std::string& body, std::string_view kind,
                                 const std::function<std::string(const boost::json::object&)>& render);
/// Ends the verb with exit status 2, as for an unknown name; `more` follows the name.
[[noreturn]] void refuse_name(const std::string& what, const std::string& name, const std::string& more = {});
std::string percent_encoded(const std::string& text);

// Members of a JSON object, with defaults for absent ones; texts without control characters, safe for a terminal.
std::string text_of(const boost::json::object& object, const char* key);
std::int64_t number_of(const boost::json::object& object, const char* key);
/// "1h12m"
Millis millis_of(const boost::json::object& object, const char* key);

}  // namespace ashlar
