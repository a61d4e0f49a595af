// `ashlar queue`: the queues with what they use, and who waits in which order.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <iostream>

#include "apps/ashlar/ask.h"
#include "apps/ashlar/verbs.h"

namespace ashlar {
namespace {

using boost::json::object;

void print_queues(const object& answer) {
  std::printf("%-24s %10s %10s %8s %10s\n", "QUEUE", "USED-GPU", "QUOTA-GPU", "WAITING", "WAIT-GPU");
  for (const boost::json::value& value : answer.at("queues").as_array()) {
    const object& q = value.as_object();
    char quota[32] = "none";
    if (!q.at("quotaMilliGpu").is_null()) std::snprintf(quota, sizeof quota, "%.6g", static_cast<double>(number_of(q, "quotaMilliGpu")) / 1000);
    std::printf("%-24s %10.6g %10s %8lld %10lld\n", text_of(q, "name").c_str(), static_cast<double>(number_of(q, "usedMilliGpu")) / 1000, quota,
                static_cast<long long>(number_of(q, "pendingJobs")), static_cast<long long>(number_of(q, "pendingGpus")));
  }
}

void print_jobs(const object& answer, const std::string& only, bool is_wide) {
  const boost::json::array& jobs = answer.at("jobs").as_array();
  if (jobs.empty()) return;
  std::printf("\n%-32s %-16s %4s %6s %6s %8s  %s\n", "NAME", "QUEUE", "POS", "GPUS", "AHEAD", "AGE", "REASON");
  for (const boost::json::value& value : jobs) {
    const object& j = value.as_object();
    if (!only.empty() && text_of(j, "queue") != only) continue;
    const std::string reason = is_wide && !text_of(j, "message").empty() ? text_of(j, "reason") + ": " + text_of(j, "message") : text_of(j, "reason");
    std::printf("%-32s %-16s %4lld %6lld %6lld %8s  %s\n", text_of(j, "name").c_str(), text_of(j, "queue").c_str(),
                static_cast<long long>(number_of(j, "position")), static_cast<long long>(number_of(j, "gpus")),
                static_cast<long long>(number_of(j, "gpusAhead")), span_text(number_of(j, "ageMillis")).c_str(), reason.c_str());
  }
}

void print_rest(const object& answer, bool is_all) {
  const std::int64_t rest = number_of(answer, "total") - number_of(answer, "shown");
  if (rest <= 0) return;
  std::printf("... and %lld more wait behind the first %lld%s\n", static_cast<long long>(rest), static_cast<long long>(number_of(answer, "shown")),
              is_all ? "" : "; --all lists them");
}

}  // namespace

void add_queue(CLI::App& app) {
  auto options = std::make_shared<AskOptions>();
  auto only = std::make_shared<std::string>();
  auto is_all = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("queue", "Queues, their use, and who waits in which order");
  verb->add_option("queue", *only, "Only jobs of this queue");
  verb->add_flag("-a,--all", *is_all, "List every waiting job (at most 20,000), not only the first 500");
  verb->add_option("--server", options->server, "URL of the scheduler; else $ASHLAR_SERVER, else http://127.0.0.1:10451");
  verb->add_option("-o,--output", options->output, "table, wide or json")->check(CLI::IsMember({"table", "wide", "json"}));
  verb->callback([options, only, is_all] {
    const std::string body = ask_scheduler(*options, *is_all ? "/api/v1/queue?all=1" : "/api/v1/queue");
    if (options->output == "json") {
      std::cout << body;
      return;
    }
    const boost::json::value answer = parse_answer(body);
    print_queues(answer.as_object());
    print_jobs(answer.as_object(), *only, options->output == "wide");
    print_rest(answer.as_object(), *is_all);
  });
}

}  // namespace ashlar
