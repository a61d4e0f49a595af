#include "apps/ashlar/shared/ask.h"

#include <boost/json.hpp>
#include <cstdlib>
#include <iostream>

#include "apps/ashlar/shared/usage.h"
#include "http/retrying_get.h"
#include "http/url.h"
#include "kubeclient/bind_outcome.h"
#include "live/read/pod_text.h"
#include "text/duration_text.h"

namespace ashlar {
namespace {

constexpr const char* kDefaultServer = "http://127.0.0.1:10451";

std::string server_of(const AskOptions& options) {
  if (!options.server.empty()) return options.server;
  const char* server = std::getenv("ASHLAR_SERVER");
  return server == nullptr || *server == '\0' ? kDefaultServer : server;
}

[[noreturn]] void fail(int status, const std::string& message) { throw VerbError(status, message); }

}  // namespace

void AskOptions::add_to(CLI::App& verb, const std::vector<std::string>& formats) {
  verb.add_option("--server", server, "URL of the scheduler; else $ASHLAR_SERVER, else " + std::string(kDefaultServer))
      ->type_name("URL");
  add_format_option(verb, output, formats);
}

std::string ask_scheduler(const AskOptions& options, const std::string& path) {
  const std::string server = server_of(options);
  if (const Result<http::Url> url = http::parse_url(server); !url)
    fail(2, (options.server.empty() ? "ASHLAR_SERVER: " : "--server: ") + url.error().message);
  Result<http::Response> answer = http::retrying_get(server, path);
  if (!answer)
    fail(1, "no scheduler answers at " + server + " (" + answer.error().message +
                "); name it with --server or ASHLAR_SERVER, or forward its port (kubectl port-forward)");
  http::Response response = std::move(answer).value();
  if (response.status == 200) return std::move(response.body);
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(response.body, error);
  const bool has_message = !error && value.is_object() && value.as_object().contains("message");
  if (has_message && text_of(value.as_object(), "reason") == "Standby")
    fail(1, server + ": " + text_of(value.as_object(), "message") + "; only the leader can answer");
  fail(response.status == 404 || response.status == 400 ? 2 : 1,
       has_message ? text_of(value.as_object(), "message") : kube::bounded_words(response.body));
}

namespace {

/// The answer as an object of this kind ("Why", "QueueList", "NodeList"); anything else ends the verb with exit status
/// 1.
boost::json::object parse_answer(const std::string& body, std::string_view kind) {
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(body, error);
  if (error || !value.is_object()) fail(1, "the answer is not JSON; is this an Ashlar scheduler?");
  if (text_of(value.as_object(), "kind") != kind)
    fail(1, "the answer is not a " + std::string(kind) + " object; is this an Ashlar scheduler?");
  return std::move(value.as_object());
}

}  // namespace

boost::json::object print_answer(const AskOptions& options, const std::string& body, std::string_view kind,
                                 const std::function<std::string(const boost::json::object&)>& render) {
  boost::json::object answer = parse_answer(body, kind);
  std::string text;
  try {
    text = render(answer);
  } catch (const CLI::Error&) {
    throw;  // of render
  } catch (const std::exception& error) {
    fail(1, "the answer has another form than a " + std::string(kind) + " of this version (" + error.what() + ")");
  }
  std::cout << (options.output == "json" ? body : text) << std::flush;
  return answer;
}

void refuse_name(const std::string& what, const std::string& name, const std::string& more) {
  fail(2, "there is no " + what + " \"" + name + "\"" + more);
}

std::string percent_encoded(const std::string& text) { return http::percent_encode(text); }

std::string text_of(const boost::json::object& object, const char* key) {
  const boost::json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? kube::bounded_words(value->as_string(), kube::kLogLineMax)
                                                : std::string();
}

std::int64_t number_of(const boost::json::object& object, const char* key) {
  const boost::json::value* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

Millis millis_of(const boost::json::object& object, const char* key) { return Millis(number_of(object, key)); }

}  // namespace ashlar
