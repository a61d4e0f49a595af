// `ashlar queue`: the queues with their usage, the waiting jobs in order, and what is held outside of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ashlar/shared/ask.h"
#include "apps/ashlar/shared/table.h"
#include "apps/ashlar/verbs.h"
#include "model/demand.h"
#include "text/amount_text.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar {
namespace {

using boost::json::object;

struct Waiting {
  std::int64_t jobs = 0, gpus = 0;
};

/// What waits in each queue and in the queues below it, as what it uses is counted.
std::map<std::string, Waiting> waiting_by_queue(const boost::json::array& queues) {
  std::map<std::string, std::string> parent_of;
  for (const boost::json::value& q : queues)
    parent_of[text_of(q.as_object(), "name")] = text_of(q.as_object(), "parent");
  std::map<std::string, Waiting> waiting;
  for (const boost::json::value& value : queues) {
    const object& q = value.as_object();
    std::string name = text_of(q, "name");
    for (std::size_t depth = 0; !name.empty() && depth <= queues.size(); ++depth) {
      waiting[name].jobs += number_of(q, "pendingJobs");
      waiting[name].gpus += number_of(q, "pendingGpus");
      name = parent_of[name];
    }
  }
  return waiting;
}

std::string queues_text(const object& answer, const std::string& only) {
  const boost::json::array& queues = answer.at("queues").as_array();
  std::vector<std::string> names;
  for (const boost::json::value& q : queues) names.push_back(text_of(q.as_object(), "name"));
  if (!only.empty() && std::find(names.begin(), names.end(), only) == names.end())
    refuse_name("queue", only, did_you_mean(only, std::vector<std::string_view>(names.begin(), names.end())));
  std::map<std::string, Waiting> waiting = waiting_by_queue(queues);
  const auto is_closed = [](const boost::json::value& q) { return q.as_object().contains("gate"); };
  const bool has_closed = std::any_of(queues.begin(), queues.end(), is_closed);
  std::vector<std::string> columns{"QUEUE", ">USED-GPU", ">QUOTA-GPU", ">WAITING", ">WAIT-GPU"};
  if (has_closed) columns.push_back("STATE");
  Table table(columns);
  for (const boost::json::value& value : queues) {
    const object& q = value.as_object();
    const bool has_quota = !q.at("quotaMilliGpu").is_null();
    const Waiting& here = waiting[text_of(q, "name")];
    std::vector<std::string> row{text_of(q, "name"), milli_word(number_of(q, "usedMilliGpu")),
                                 has_quota ? milli_word(number_of(q, "quotaMilliGpu")) : "none",
                                 std::to_string(here.jobs), std::to_string(here.gpus)};
    if (has_closed) row.push_back(is_closed(value) ? text_of(q, "gate") : "Open");
    table.add(row);
  }
  return table.text();
}

/// An amount of the object as the user states it, by its unit.
std::string in_its_unit(const object& counted, const char* field) {
  const std::string unit = text_of(counted, "unit");
  const std::int64_t number = number_of(counted, field);
  if (unit == "milliGpu" || unit == "milliCores") return milli_word(number);
  return unit == "bytes" ? amount_word(resource::kMemory, number) : std::to_string(number);
}

std::string counted_text(const object& counted) {
  const std::string model = text_of(counted, "model");
  return text_of(counted, "resource") + (model.empty() ? "" : "@" + model);
}

/// `visit(name of the queue, one)` for each of what queues list there.
template <class Visit>
void each_listed(const object& answer, const char* list, Visit&& visit) {
  for (const boost::json::value& value : answer.at("queues").as_array()) {
    const object& q = value.as_object();
    const boost::json::value* const listed = q.if_contains(list);
    if (listed == nullptr) continue;  // an older scheduler does not report it
    for (const boost::json::value& one : listed->as_array()) visit(text_of(q, "name"), one.as_object());
  }
}

/// What `queues_text` has no column for: all limits but that of GPUs on all nodes.
/// A line for each limit of a model that no node has follows.
std::string limits_text(const object& answer) {
  Table table({"QUEUE", "LIMIT", ">USED", ">QUOTA"});
  std::set<std::string> unknown;
  bool has_any = false;
  each_listed(answer, "limits", [&](const std::string& queue, const object& limit) {
    const std::string model = text_of(limit, "model");
    if (text_of(limit, "unit") == "milliGpu" && model.empty()) return;
    table.add({queue, counted_text(limit), in_its_unit(limit, "used"), in_its_unit(limit, "limit")});
    has_any = true;
    if (limit.contains("nodes") && number_of(limit, "nodes") == 0) unknown.insert(model);
  });
  std::string text = has_any ? '\n' + table.text() : std::string();
  for (const std::string& model : unknown)
    text += "no node has GPUs of the class or model " + model + ": limits on it have no effect\n";
  return text;
}

std::string guarantees_text(const object& answer) {
  Table table({"QUEUE", "GUARANTEE OF", ">USED", ">GUARANTEED", ">MAY BORROW", ">LENDS"});
  bool has_any = false;
  each_listed(answer, "guarantees", [&](const std::string& queue, const object& g) {
    const bool is_lowered = g.contains("stated") && number_of(g, "stated") != number_of(g, "inForce");
    table.add({queue, counted_text(g), in_its_unit(g, "used"),
               in_its_unit(g, "inForce") + (is_lowered ? " of " + in_its_unit(g, "stated") : ""),
               g.contains("borrowLimit") ? in_its_unit(g, "borrowLimit") : "any",
               g.contains("lendLimit") ? in_its_unit(g, "lendLimit") : "all"});
    has_any = true;
  });
  return has_any ? '\n' + table.text() : std::string();
}

std::string jobs_text(const object& answer, bool is_wide) {
  const boost::json::array& jobs = answer.at("jobs").as_array();
  if (jobs.empty()) return {};
  Table table({"NAME", "QUEUE", ">POS", ">GPUS", ">AHEAD", ">AGE", "REASON"});
  for (const boost::json::value& value : jobs) {
    const object& j = value.as_object();
    const std::string reason = is_wide && !text_of(j, "message").empty()
                                   ? text_of(j, "reason") + ": " + text_of(j, "message")
                                   : text_of(j, "reason");
    table.add({text_of(j, "name"), text_of(j, "queue"), std::to_string(number_of(j, "position")),
               std::to_string(number_of(j, "gpus")), std::to_string(number_of(j, "gpusAhead")),
               duration_text(millis_of(j, "ageMillis")), reason});
  }
  return '\n' + table.text();
}

std::string rest_text(const object& answer, bool is_all) {
  const std::int64_t rest = number_of(answer, "total") - number_of(answer, "shown");
  if (rest <= 0) return {};
  return fmt::format("... and {} more wait behind the first {}{}\n", rest, number_of(answer, "shown"),
                     is_all ? "" : "; --all lists them");
}

std::string held_text(const object& answer, bool is_wide, bool is_all) {
  const boost::json::value* const found = answer.if_contains("held");
  if (found == nullptr || found->as_array().empty()) return {};  // an older scheduler does not report it
  const boost::json::array& held = found->as_array();
  Table table({"HELD, NOT IN A QUEUE", "QUEUE", ">PODS", ">AGE", "REASON"});
  for (const boost::json::value& value : held) {
    const object& h = value.as_object();
    const std::string reason = is_wide ? text_of(h, "reason") + ": " + text_of(h, "message") : text_of(h, "reason");
    table.add({text_of(h, "name"), text_of(h, "queue"), std::to_string(number_of(h, "pods")),
               duration_text(millis_of(h, "ageMillis")), reason});
  }
  const std::int64_t rest = number_of(answer, "heldTotal") - static_cast<std::int64_t>(held.size());
  return '\n' + table.text() +
         (rest > 0 ? fmt::format("... and {} more are held{}\n", rest, is_all ? "" : "; --all lists them") : "");
}

}  // namespace

void add_queue(CLI::App& app) {
  auto options = std::make_shared<AskOptions>();
  auto only = std::make_shared<std::string>();
  auto is_all = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("queue", "Queues, their usage, and the waiting jobs in order");
  verb->add_option("QUEUE", *only, "Show only jobs of this queue")->type_name("")->check([](const std::string& text) {
    return std::string(text.empty() ? "expected a queue, got \"\"" : "");
  });
  verb->add_flag("-a,--all", *is_all, "List all waiting jobs (at most 20,000) instead of the first 500");
  options->add_to(*verb, {"table", "wide", "json"});
  verb->callback([options, only, is_all] {
    const std::string body =
        ask_scheduler(*options, "/api/v1/queue?queue=" + percent_encoded(*only) + (*is_all ? "&all=1" : ""));
    print_answer(*options, body, "QueueList", [&](const object& answer) {
      const bool is_wide = options->output == "wide";
      return queues_text(answer, *only) + limits_text(answer) + guarantees_text(answer) + jobs_text(answer, is_wide) +
             rest_text(answer, *is_all) + held_text(answer, is_wide, *is_all);
    });
  });
}

}  // namespace ashlar
