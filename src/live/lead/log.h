// LogLine: a sentence that names its object, and the same object as separate fields, for machine-readable logs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace ashlar::kube
