#include "store/decision_log.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "store/codec.h"
#include "store/log_format.h"
#include "store/snapshot.h"

namespace ashlar::store {
namespace {

std::int64_t wall_clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool are_same_options(const EngineOptions& a, const EngineOptions& b) {
  return a.binds_per_step_max == b.binds_per_step_max && a.has_verdicts == b.has_verdicts;
}

}  // namespace

Result<std::unique_ptr<DecisionLog>> DecisionLog::open(DecisionLogOptions options, Subject subject) {
  auto writer = FileWriter::open({.folder = options.folder,
                                  .files_max = std::max<std::uint64_t>(options.files_max, 1),
                                  .waiting_bytes_max = options.waiting_bytes_max});
  if (!writer) return writer.error();
  auto log = std::make_unique<DecisionLog>(std::move(options), subject, *writer);
  (*writer)->flush();  // so that a folder that cannot be written is an error now and not later
  if (!log->has_gap_ && !log->has_stopped()) return log;
  return Error{Error::Kind::kUnavailable,
               log->has_stopped() ? log->trouble() : "the snapshot is larger than the buffer of the decision log"};
}

DecisionLog::DecisionLog(DecisionLogOptions options, Subject subject, std::shared_ptr<FileWriter> writer)
    : options_(std::move(options)), subject_(subject), writer_(std::move(writer)), names_(subject.names) {
  begin_file();
}

DecisionLog::~DecisionLog() { end_file(); }

bool DecisionLog::begin_file() {
  const Profile& profile = subject_.engine.profile();
  engine_options_ = subject_.engine.options();
  LogHeader header{
      options_.written_by,     options_.note,   wall_clock_ms(), writer_->next_file(), subject_.state.revision(),
      subject_.state.digest(), engine_options_, profile.seed,    profile.name,         options_.profile_text,
      bytes_of(profile)};
  framed_ = kMagic;
  ByteWriter frame(framed_);
  frame.fixed32(kFormatVersion);
  file_records_ = 0;
  const auto add = [&](RecordKind kind) { append_record(framed_, kind, payload_, file_records_++); };
  payload_.clear();
  ByteWriter payload(payload_);
  encode_header(payload, header);
  add(RecordKind::kHeader);
  payload_.clear();
  names_.tell_all(subject_.state, payload);
  add(RecordKind::kNames);
  payload_.clear();
  append_snapshot(payload_, subject_.state, subject_.engine);
  add(RecordKind::kSnapshot);
  has_gap_ = !writer_->begin_file(framed_);
  if (has_gap_) return false;
  ++counts_.files;
  counts_.bytes += framed_.size();
  file_bytes_ = framed_.size();
  file_bytes_end_ = std::max<std::uint64_t>(options_.file_bytes_max, 2 * framed_.size());
  file_steps_ = 0;
  return true;
}

void DecisionLog::end_file() {
  if (has_gap_) return;  // a truncated file has no end record: readers then know that steps are missing
  payload_.clear();
  ByteWriter payload(payload_);
  payload.fixed64(file_steps_);
  framed_.clear();
  append_record(framed_, RecordKind::kEnd, payload_, file_records_++);
  writer_->append(framed_);
}

void DecisionLog::rotate() {
  end_file();
  begin_file();
}

void DecisionLog::lose_step() {
  ++counts_.steps_lost;
  writer_->count_lost();
  has_gap_ = true;
  tell_trouble();
  if (writer_->may_begin_file()) begin_file();
}

void DecisionLog::tell_trouble() {
  if (writer_->has_stopped() == has_reported_trouble_) return;
  has_reported_trouble_ = !has_reported_trouble_;
  if (!options_.on_trouble) return;
  options_.on_trouble(
      has_reported_trouble_
          ? writer_->trouble() +
                "; steps are missing from the decision log until it can be written again, scheduling continues"
          : "the decision log continues in a new file; " + std::to_string(writer_->lost()) +
                " steps are missing so far");
}

void DecisionLog::record(std::span<const Event> batch, const Plan& plan, std::uint64_t digest) {
  if (has_reported_trouble_) tell_trouble();
  if (has_gap_) return lose_step();
  payload_.clear();
  ByteWriter out(payload_);
  const EngineOptions options = subject_.engine.options();
  const bool has_new_options = !are_same_options(options, engine_options_);
  out.byte(has_new_options ? 1 : 0);
  if (has_new_options) encode_options(out, engine_options_ = options);
  for (const Event& event : batch) names_.tell_new(event, out);
  NameLedger::end(out);
  out.varint(batch.size());
  for (const Event& event : batch) encode_event(out, event);
  out.fixed64(digest);
  encode_plan(out, plan);
  framed_.clear();
  append_record(framed_, RecordKind::kStep, payload_, file_records_);
  if (!writer_->append(framed_)) return lose_step();
  ++file_records_;
  ++file_steps_;
  ++counts_.steps;
  counts_.bytes += framed_.size();
  file_bytes_ += framed_.size();
  if (file_bytes_ >= file_bytes_end_) rotate();
}

}  // namespace ashlar::store
