// unreadable: the Error of a file that cannot be read, in the same words for every reader.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "base/result.h"

namespace ashlar {

inline Error unreadable(const std::string& path, Error::Kind kind, const std::string& cause) {
  return {kind, path + ": cannot be read: " + cause};
}

/// "PATH: cannot be read: No such file or directory".
inline Error unreadable(const std::string& path, int error_number) {
  const bool is_missing = error_number == ENOENT || error_number == ENOTDIR;
  const bool is_denied = error_number == EACCES || error_number == EPERM;
  const Error::Kind kind = is_missing               ? Error::Kind::kNotFound
                           : is_denied              ? Error::Kind::kDenied
                           : error_number == EISDIR ? Error::Kind::kInvalid
                                                    : Error::Kind::kUnavailable;
  return unreadable(path, kind, std::generic_category().message(error_number));
}

}  // namespace ashlar
