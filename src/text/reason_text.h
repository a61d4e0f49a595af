// reason_text: reasons for people: the sentence of a reason's row with its numbers and names filled in. Names belong to
// the reader's side and are lent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/reason.h"

namespace ashlar {

/// What only the reader's side knows about a reason.
class ReasonNames {
 public:
  virtual ~ReasonNames() = default;
  /// The subject's name: of a resource, level or queue.
  virtual std::string subject(const Reason& reason) const = 0;
  /// An amount of the resource that is the subject.
  virtual std::string amount(const Reason& reason, std::int64_t amount) const = 0;
  /// A domain of the level that is the subject.
  virtual std::string domain(const Reason& reason, std::int64_t domain) const = 0;
  /// An amount of what the quota counts that the first number says.
  virtual std::string quota(const Reason& reason, std::int64_t amount) const = 0;
  /// A group of the gang, counted from 1.
  virtual std::string group(std::int64_t number) const { return "group " + std::to_string(number) + " of the gang"; }
  /// The value of the row's {detail}.
  virtual std::string detail(const Reason& reason) const = 0;
};

/// "3 nodes have insufficient GPUs: at most 2 GPUs free on one node, 8 GPUs requested".
std::string reason_text(const Reason& reason, const ReasonNames& names);
/// A row's sentence or words with the reason's values filled in.
std::string filled_in(std::string_view sentence, const Reason& reason, const ReasonNames& names);

}  // namespace ashlar
