// How does a verb put a question to the running scheduler? One HTTP request to its read API, repeated while a standby
// answers (a Service leads to either), the answer as JSON. Wiring only.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace ashlar {

/// Where the scheduler answers: --server, else $ASHLAR_SERVER, else the default port of this machine.
struct AskOptions {
  std::string server;
  std::string output = "table";  ///< table or json
};

/// The answer's text. Trouble is printed to stderr and ends the verb with exit status 1 (2 for names that nobody knows).
std::string ask_scheduler(const AskOptions& options, const std::string& path);
boost::json::value parse_answer(const std::string& body);
std::string percent_encoded(const std::string& text);

// Members of a JSON object, with defaults for absent ones.
std::string text_of(const boost::json::object& object, const char* key);
std::int64_t number_of(const boost::json::object& object, const char* key);
/// "1h12m"
std::string span_text(std::int64_t millis);

}  // namespace ashlar
