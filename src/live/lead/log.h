// LogLine: a sentence that names its object, and the same object as separate fields, for machine-readable logs.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/quantity.h"
#include "kubeclient/bind_outcome.h"
#include "kubeclient/pooled_string.h"

namespace ashlar::kube {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// Messages quote servers and tenants: control characters in them are replaced by spaces here, for all callers.
struct LogLine {
  std::string message;
  std::string_view kind = {};  ///< "pod", "gang", ... of the object; static text; empty: no object
  PooledString ns, name;       ///< of the object

  LogLine(const std::string& text) : message(bounded_words(text, kLogLineMax)) {}
  LogLine(const char* text) : LogLine(std::string(text)) {}
  LogLine(const std::string& text, std::string_view object_kind, PooledString object_ns, PooledString object_name)
      : message(bounded_words(text, kLogLineMax)),
        kind(object_kind),
        ns(std::move(object_ns)),
        name(std::move(object_name)) {}
  /// For callers that want the sentence only.
  operator const std::string&() const { return message; }
};
using OnLog = std::function<void(LogLevel, const LogLine&)>;

/// Of lines about something that others may change as often as they like, a few a minute; otherwise they could fill a
/// disk.
class LogPace {
 public:
  static constexpr std::uint32_t kLinesMax = 6;
  static constexpr Millis kMinute{60'000};
  /// Its minute has passed: it knows no more than how many lines were left out in it.
  bool is_over(Millis now) const { return now >= since_ + kMinute; }
  /// Whether this line may be logged now. Says in it how many were left out before, and that the next ones will be.
  bool admit(Millis now, std::string& text) {
    if (admitted_ == 0 || is_over(now)) {
      if (left_out_ > 0) text += " (" + std::to_string(left_out_) + " more lines like this were left out before)";
      since_ = now;
      admitted_ = left_out_ = 0;
    }
    if (admitted_ == kLinesMax) {
      ++left_out_;
      return false;
    }
    if (++admitted_ == kLinesMax) text += "; more lines like this are left out for a minute";
    return true;
  }

 private:
  Millis since_;
  std::uint32_t admitted_ = 0, left_out_ = 0;
};

/// One for each name, as a namespace, that lines are about; of at most kNamesMax names, since tenants may make as many
/// as they like. Those whose minute has passed make room for others, and names beyond that share one.
class LogPaces {
 public:
  static constexpr std::size_t kNamesMax = 1024;
  bool admit(Millis now, const PooledString& name, std::string& text) {
    const auto it = by_name_.find(name);
    if (it != by_name_.end()) return it->second.admit(now, text);
    if (by_name_.size() >= kNamesMax)
      boost::unordered::erase_if(by_name_, [&](const auto& entry) { return entry.second.is_over(now); });
    if (by_name_.size() >= kNamesMax) return of_others_.admit(now, text);
    return by_name_[name].admit(now, text);
  }
  std::size_t size() const { return by_name_.size(); }

 private:
  boost::unordered_flat_map<PooledString, LogPace, std::hash<PooledString>> by_name_;
  LogPace of_others_;
};

}  // namespace ashlar::kube
