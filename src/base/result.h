// Result<T>: the return type of every operation that can fail for reasons outside the program (network, parse,
// conflict). Outcomes of scheduling ("does not fit") are Verdicts, bugs are ASHLAR_CHECK; neither belongs here. No
// allocation beyond T and the message.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ashlar {

/// An error for a person: names the file, line or object and states what to do.
struct Error {
  enum class Kind : unsigned char {
    kInvalid,      ///< the input is malformed; retrying cannot help
    kNotFound,     ///< the named thing does not exist
    kConflict,     ///< another writer changed it first; read again
    kExpired,      ///< the resource version is too old; list again (HTTP 410)
    kUnavailable,  ///< network or server trouble; retrying may help
    kDenied,       ///< not allowed; credentials or permissions must change
    kTimeout,      ///< no answer in time; the effect is unknown
    kTooLong,      ///< the answer is longer than was to be read; less may be asked for
    kInternal,     ///< anything else
  };
  Kind kind = Kind::kInternal;
  std::string message;
};

/// Either a value or an Error. Access to the absent alternative is a bug (std::get throws).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

inline Error invalid(std::string message) { return {Error::Kind::kInvalid, std::move(message)}; }

}  // namespace ashlar
