#include "live/lead/quarantine.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace ashlar::kube {
namespace {

constexpr std::string_view kHeading =
    "# Pods for which this scheduler stopped (a bug); it places none of them. Remove a line and restart the scheduler "
    "to try that pod again.\n";
constexpr std::size_t kLineMax = 512;  ///< uid, namespace and name are far shorter

std::string time_text(Millis now) {
  const std::time_t seconds = now.value / 1000;
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// "uid namespace/name time", or false. The uid alone holds its pod: a line may have been cut by a full disk, or
/// written by hand.
bool read_line(const std::string& line, Quarantine::Entry& entry) {
  std::istringstream words(line);
  std::string uid, pod, since;
  if (line.size() > kLineMax || !(words >> uid)) return false;
  words >> pod >> since;
  const std::size_t slash = std::min(pod.find('/'), pod.size());
  entry = {PooledString(uid), PooledString(pod.substr(0, slash)),
           PooledString(slash < pod.size() ? pod.substr(slash + 1) : ""), since};
  return true;
}

std::string line_of(const Quarantine::Entry& e) {
  return e.uid.str() + " " + e.ns.str() + "/" + e.name.str() + (e.since.empty() ? "" : " " + e.since) + "\n";
}

/// Writes everything and waits until it is on disk, or returns the errno that stopped it.
int write_through(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Error cannot_write(const std::string& path, int error_number) {
  return {Error::Kind::kUnavailable, path + ": cannot be written: " + std::strerror(error_number)};
}

/// A rename is durable only when the folder is on disk, too.
int sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno;
  const int failure = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  return failure;
}

}  // namespace

Result<Quarantine> Quarantine::open(std::string path) {
  Quarantine quarantine;
  quarantine.path_ = std::move(path);
  const std::string folder = folder_of(quarantine.path_);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return invalid(quarantine.path_ + ": the folder " + folder + " cannot be written: " + std::strerror(errno));
  // Checked before it is opened: opening a pipe waits for a writer, and a device may never end.
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(quarantine.path_, ignored);
  if (std::filesystem::is_directory(status))
    return invalid(quarantine.path_ + ": is a folder; expected the name of a file");
  if (std::filesystem::is_other(status))
    return invalid(quarantine.path_ +
                   ": is a pipe, a socket or a device; expected the name of a regular file, or of none yet");
  if (::access(quarantine.path_.c_str(), F_OK) != 0 && errno == ENOENT) return quarantine;
  std::ifstream in(quarantine.path_);
  if (!in) return Error{Error::Kind::kUnavailable, quarantine.path_ + ": cannot be read: " + std::strerror(errno)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (Entry entry; read_line(line, entry))
      quarantine.insert(std::move(entry));
    else
      ++quarantine.skipped_lines_;
  }
  if (in.bad()) return Error{Error::Kind::kUnavailable, quarantine.path_ + ": cannot be read to its end"};
  return quarantine;
}

void Quarantine::insert(Entry entry) {
  if (!uids_.insert(entry.uid).second) return;
  entries_.push_back(std::move(entry));
  if (entries_.size() <= kEntriesMax) return;
  uids_.erase(entries_.front().uid);
  entries_.erase(entries_.begin());
}

std::string Quarantine::text_for(const PooledString& uid) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.uid == uid; });
  const std::string since = it == entries_.end() || it->since.empty() ? "" : " at " + it->since;
  return "deciding about it stopped the scheduler" + since +
         ", which is a bug; recreate the pod to have it tried again, or remove its line from " + path_ +
         " and restart the scheduler";
}

Result<void> Quarantine::add(std::span<const Entry> pods, Millis now) {
  for (const Entry& pod : pods.first(std::min(pods.size(), kEntriesAJobMax))) {
    insert(pod);
    if (entries_.back().uid == pod.uid) entries_.back().since = time_text(now);
  }
  std::string text(kHeading);
  for (const Entry& e : entries_) text += line_of(e);
  const std::string unnamed = path_ + ".tmp";
  const int file = ::open(unnamed.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return cannot_write(unnamed, errno);
  int failure = write_through(file, text);
  if (::close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && std::rename(unnamed.c_str(), path_.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(unnamed.c_str());
    return cannot_write(path_, failure);
  }
  failure = sync_folder(folder_of(path_));
  return failure == 0 ? Result<void>() : cannot_write(path_, failure);
}

}  // namespace ashlar::kube
