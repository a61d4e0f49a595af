#include "sim/case/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/case/words.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

/// Row of "#99", none if the word is not of that form.
std::uint32_t row_in(std::string_view word) {
  std::uint32_t row = 0;
  if (!word.starts_with('#')) return Id<void>::kNoneValue;
  const auto [end, failure] = std::from_chars(word.data() + 1, word.data() + word.size(), row);
  return failure == std::errc() && end == word.data() + word.size() && row <= 1'000'000 ? row : Id<void>::kNoneValue;
}

std::string hint(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  return known.empty() ? std::string() : did_you_mean(name, names);
}

std::vector<std::string> jobs_without_holds(const CaseReading& c) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < c.file.names.jobs.all().size(); ++row)
    if (std::ranges::find(c.holds, JobId(row)) == c.holds.end()) names.push_back(c.file.names.jobs.all()[row]);
  return names;
}

}  // namespace

Millis take_at(CaseReading& c, Words& words) {
  Millis at = c.latest;
  if (words.accept("at"))
    at = words.take_time();
  else if (!words.is_at_end()) {
    const std::string_view word = words.take("at");
    words.fail(fmt::format("unexpected word \"{}\" after the statement", word), "\"at TIME\" or the end of the line");
  }
  if (words.has_failed()) return c.latest;
  if (at < c.latest)
    words.fail("statements must be in order of time", fmt::format("{} or later", seconds_text(c.latest)));
  else if (at <= c.block_at)
    words.fail("this time is not after the block above", fmt::format("a time after {}", seconds_text(c.block_at)));
  c.latest = std::max(c.latest, at);
  return at;
}

NodeId take_node(CaseReading& c, Words& words, bool may_be_unknown) {
  const std::string_view name = words.take("the name of a node");
  if (may_be_unknown && row_in(name) != Id<void>::kNoneValue) return NodeId(row_in(name));
  const NodeId node = c.file.names.nodes.find(name);
  if (node.is_none())
    words.fail(fmt::format("there is no node \"{}\" at this point{}", name, hint(name, c.file.names.nodes.all())));
  return node;
}

void refuse_hold(const CaseReading& c, Words& words, JobId job) {
  if (std::ranges::find(c.holds, job) == c.holds.end()) return;
  words.fail(fmt::format("\"{}\" is a hold", c.file.names.jobs.name(job)),
             "a job; a hold lasts until its time or its \"end\"");
}

JobId take_job(CaseReading& c, Words& words) {
  const std::string_view name = words.take("the name of a job");
  const JobId job = c.file.names.jobs.find(name);
  if (job.is_none())
    words.fail(fmt::format("there is no job \"{}\" at this point{}", name, hint(name, jobs_without_holds(c))));
  else
    refuse_hold(c, words, job);
  return job;
}

JobOrMember take_member(CaseReading& c, Words& words) {
  const KeyValue name = key_value(words.take("a job, or a member as \"NAME/0\""), '/');
  if (row_in(name.key) != Id<void>::kNoneValue) {  // rows that may never have existed
    const std::uint32_t row = row_in(name.key);
    return name.has_value ? JobOrMember{JobId::none(), MemberId(row)} : JobOrMember{JobId(row), MemberId::none()};
  }
  JobOrMember which{c.file.names.jobs.find(name.key), MemberId::none()};
  if (which.job.is_none()) {
    words.fail(
        fmt::format("there is no job \"{}\" at this point{}", name.key, hint(name.key, c.file.names.jobs.all())));
    return which;
  }
  if (!name.has_value) return which;
  const auto& members = c.file.names.members[which.job.row()];
  std::size_t rank = members.size();
  const auto [end, failure] = std::from_chars(name.value.data(), name.value.data() + name.value.size(), rank);
  if (failure != std::errc() || end != name.value.data() + name.value.size() || rank >= members.size())
    words.fail(fmt::format("\"{}\" is not a member of {}", name.value, name.key),
               fmt::format("0 to {}", members.size() - 1));
  else
    which.member = members[rank];
  return which;
}

LevelId take_level(CaseReading& c, Words& words) {
  const std::string_view name = words.take("the name of a level");
  const LevelId level = c.file.names.levels.find(name);
  if (level.is_none())
    words.fail(fmt::format("this cluster has no level \"{}\"{}", name, hint(name, c.file.names.levels.all())),
               "a level such as \"rack\" of \"cluster 8 x h100x8 racks of 4\"");
  return level;
}

QueueId take_queue(CaseReading& c, Words& words) {
  const std::string_view name = words.take("the name of a queue");
  const QueueId queue = c.file.names.queues.find(name);
  if (queue.is_none())
    words.fail(fmt::format("there is no queue \"{}\"{}", name, hint(name, c.file.names.queues.all())));
  return queue;
}

std::vector<MemberId> take_members(CaseReading& c, Words& words) {
  const JobOrMember which = take_member(c, words);
  if (!words.has_failed()) refuse_hold(c, words, which.job);
  if (words.has_failed()) return {};
  if (!which.member.is_none()) return {which.member};
  if (which.job.row() < c.file.names.members.size()) return c.file.names.members[which.job.row()];
  words.fail("a row without a job has no members", "the name of a job, or a member's row as \"#99/0\"");
  return {};
}

NodeId take_node_that_is_there(CaseReading& c, Words& words) {
  const NodeId node = take_node(c, words);
  if (std::count(c.lost.begin(), c.lost.end(), node) > 0)
    words.fail(fmt::format("node \"{}\" is lost", c.file.names.nodes.name(node)),
               "a node of the cluster; \"add node NAME SHAPE\" adds it again");
  return node;
}

std::size_t take_choice(Words& words, const KeyValue& setting, std::span<const std::string_view> names) {
  const auto it = std::ranges::find(names, setting.value);
  if (it == names.end())
    words.fail(fmt::format("unknown {} \"{}\"; expected {}{}", setting.key, setting.value, or_list(names),
                           suggestion(setting.value, names)));
  return it == names.end() ? 0 : static_cast<std::size_t>(it - names.begin());
}

Millis take_duration(Words& words, std::string_view text) {
  const Result<Millis> duration = parse_duration(text);
  if (!duration) words.fail(duration.error().message);
  return duration ? *duration : Millis(0);
}

}  // namespace ashlar::sim
