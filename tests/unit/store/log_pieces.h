// A log file taken apart into its records and put together again with right checks, so that a test can change what a
// check would not notice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/bytes.h"
#include "store/log_format.h"

namespace ashlar::store {

struct Piece {
  RecordKind kind = RecordKind::kStep;
  std::string payload;
};

inline constexpr std::size_t kStartBytes = 8;  ///< magic and version

inline std::vector<Piece> pieces_of(std::string_view file) {
  std::vector<Piece> pieces;
  ByteReader in(file.substr(kStartBytes));
  while (in.left() > 0) {
    const auto kind = static_cast<RecordKind>(in.byte());
    pieces.push_back({kind, std::string(in.text())});
    in.fixed32();
  }
  return pieces;
}

/// The file of these records; `offsets`: where each of them begins, and the end.
inline std::string file_of(const std::vector<Piece>& pieces, std::vector<std::size_t>* offsets = nullptr) {
  std::string out(kMagic);
  ByteWriter(out).fixed32(kFormatVersion);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (offsets != nullptr) offsets->push_back(out.size());
    append_record(out, pieces[i].kind, pieces[i].payload, i);
  }
  if (offsets != nullptr) offsets->push_back(out.size());
  return out;
}

inline Piece end_after(std::uint64_t steps) {
  Piece end{RecordKind::kEnd, {}};
  ByteWriter(end.payload).fixed64(steps);
  return end;
}

/// The first byte of the payload of a record that begins at `record`.
inline std::size_t payload_at(std::size_t record, const Piece& piece) {
  std::string length;
  ByteWriter(length).varint(piece.payload.size());
  return record + 1 + length.size();
}

}  // namespace ashlar::store
