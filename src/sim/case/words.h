// Words: one line of a case as words with their columns, read from left to right. The first error is kept with its
// position and the expected form, and all later calls return empty values, so that readers need no check after each
// word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace ashlar::sim {

/// An error in a case with its position; line and column count from 1.
struct CaseError {
  int line = 0;
  int column = 0;
  std::string message;
};

class Words {
 public:
  /// `number` is the line's place in its file. A `#` at the start of a word begins a comment unless a digit follows. A
  /// `(` at the start of a word and a `)` at its end are words of their own.
  Words(std::string_view line, int number);

  bool is_at_end() const { return error_.has_value() || at_ >= words_.size(); }
  /// The next word, or the one after it; empty at the end.
  std::string_view peek(std::size_t ahead = 0) const;
  /// Takes the next word if it is this one.
  bool accept(std::string_view word);
  /// Takes the next word, whatever it is; the end of the line is an error which names `form`.
  std::string_view take(std::string_view form);

  /// Numbers and amounts with their forms in the error. All are at least 0; take_count is from 1 to `most`.
  std::int64_t take_count(std::string_view form, std::int64_t most = INT32_MAX);
  std::int64_t take_number(std::string_view form);
  /// Also below 0.
  std::int32_t take_signed(std::string_view form);
  Millis take_time();
  /// Also one before the case begins: "-10m".
  Millis take_past_time();
  /// The next word begins an option, which is kept in `stated`; it is an error if it is there already.
  void begin_option(std::vector<std::string_view>& stated);

  /// Records that the last word taken (or the end of the line) is invalid: "MESSAGE; expected FORM".
  void fail(std::string_view message, std::string_view form = {});
  const std::optional<CaseError>& error() const { return error_; }
  bool has_failed() const { return error_.has_value(); }
  int number() const { return number_; }

 private:
  struct Word {
    std::string_view text;
    int column = 1;
  };
  int number_;
  int end_column_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  std::optional<CaseError> error_;
};

/// The parts of "a,b,c"; an empty part stays.
std::vector<std::string_view> split(std::string_view text, char separator);
/// "key" and "value" of "key=value"; value empty if there is no separator.
struct KeyValue {
  std::string_view key, value;
  bool has_value = false;
};
KeyValue key_value(std::string_view text, char separator = '=');

}  // namespace ashlar::sim
