// The smallest pieces of the log's format: their exact bytes, and what a reader says of bytes that are none.
#include "store/bytes.h"

#include <gtest/gtest.h>

#include "store/codec.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

template <class Write>
std::string written(Write&& write) {
  std::string bytes;
  ByteWriter out(bytes);
  write(out);
  return bytes;
}

std::string varint(std::uint64_t v) {
  return written([v](ByteWriter& out) { out.varint(v); });
}
std::string zigzag(std::int64_t v) {
  return written([v](ByteWriter& out) { out.zigzag(v); });
}

TEST(Bytes, numbers_have_these_bytes) {
  const std::pair<std::uint64_t, const char*> unsigned_numbers[] = {{0, "00"},
                                                                    {1, "01"},
                                                                    {127, "7f"},
                                                                    {128, "8001"},
                                                                    {129, "8101"},
                                                                    {255, "ff01"},
                                                                    {300, "ac02"},
                                                                    {16'383, "ff7f"},
                                                                    {16'384, "808001"},
                                                                    {1u << 27, "80808040"},
                                                                    {1ull << 63, "80808080808080808001"},
                                                                    {UINT64_MAX, "ffffffffffffffffff01"}};
  for (const auto& [number, bytes] : unsigned_numbers) {
    EXPECT_EQ(hex(varint(number)), bytes);
    const std::string back = varint(number);
    EXPECT_EQ(ByteReader(back).varint(), number);
  }
  const std::pair<std::int64_t, const char*> signed_numbers[] = {
      {INT64_MAX, "00"}, {INT64_MIN, "01"}, {0, "02"}, {-1, "03"}, {1, "04"}, {-63, "7f"}, {63, "8001"}};
  for (const auto& [number, bytes] : signed_numbers) {
    EXPECT_EQ(hex(zigzag(number)), bytes);
    const std::string back = zigzag(number);
    EXPECT_EQ(ByteReader(back).zigzag(), number);
  }
}

TEST(Bytes, plain_pieces_have_these_bytes_one_after_the_other) {
  const std::string bytes = written([](ByteWriter& out) {
    out.byte(0xfe);
    out.fixed32(0x04030201);
    out.fixed64(0x0807060504030201ull);
    out.text("ab");
    out.text("");
  });
  EXPECT_EQ(hex(bytes),
            "fe0102030401020304050607080261620"
            "0");
  ByteReader in(bytes);
  EXPECT_EQ(in.byte(), 0xfe);
  EXPECT_EQ(in.fixed32(), 0x04030201u);
  EXPECT_EQ(in.offset(), 5u);
  EXPECT_EQ(in.fixed64(), 0x0807060504030201ull);
  EXPECT_EQ(in.text(), "ab");
  EXPECT_EQ(in.left(), 1u);
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.left(), 0u);
  EXPECT_FALSE(in.has_failed());
}

TEST(Bytes, the_last_bytes_can_be_taken_and_no_more) {
  ByteReader in("abc");
  EXPECT_EQ(in.take(1), "a");
  EXPECT_EQ(in.take(2), "bc");
  EXPECT_EQ(in.take(0), "");
  EXPECT_FALSE(in.has_failed());
  EXPECT_EQ(in.take(1), "");
  EXPECT_STREQ(in.fault(), "the bytes end early");
  EXPECT_EQ(in.fault_offset(), 3u);
}

/// What a piece reads like when bytes are missing: zero, with the fault at the place where it was noticed.
template <class Read>
void ends_early_at(std::string_view bytes, std::size_t offset, Read&& read) {
  ByteReader in(bytes);
  EXPECT_EQ(read(in), decltype(read(in)){}) << hex(bytes);
  ASSERT_TRUE(in.has_failed()) << hex(bytes);
  EXPECT_STREQ(in.fault(), "the bytes end early");
  EXPECT_EQ(in.fault_offset(), offset) << hex(bytes);
}

TEST(Bytes, a_piece_that_is_cut_off_is_zero_and_a_fault) {
  const auto byte = [](ByteReader& in) { return in.byte(); };
  const auto number = [](ByteReader& in) { return in.varint(); };
  const auto signed_number = [](ByteReader& in) { return in.zigzag(); };
  const auto four = [](ByteReader& in) { return in.fixed32(); };
  const auto eight = [](ByteReader& in) { return in.fixed64(); };
  const auto text = [](ByteReader& in) { return in.text(); };
  ends_early_at("", 0, byte);
  ends_early_at("", 0, number);
  ends_early_at("\x81", 1, number);
  ends_early_at("\x81\x82", 2, number);
  ends_early_at("\x84", 1, signed_number);
  ends_early_at("abc", 0, four);
  ends_early_at("abcdefg", 0, eight);
  ends_early_at("\x02z", 1, text);
  ends_early_at("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01z", 10, text);
}

TEST(Bytes, after_the_first_fault_everything_is_zero_and_the_first_fault_stays) {
  ByteReader in("\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e");
  in.byte();
  in.fail("odd");
  in.fail("odder");
  EXPECT_EQ(in.byte(), 0);
  EXPECT_EQ(in.varint(), 0u);
  EXPECT_EQ(in.zigzag(), 0);
  EXPECT_EQ(in.fixed32(), 0u);
  EXPECT_EQ(in.fixed64(), 0u);
  EXPECT_EQ(in.take(1), "");
  EXPECT_EQ(in.text(), "");
  EXPECT_STREQ(in.fault(), "odd");
  EXPECT_EQ(in.fault_offset(), 1u);
  EXPECT_EQ(in.offset(), 1u);
  EXPECT_EQ(fault_of(in).message, "at byte 1: odd");
  EXPECT_EQ(fault_of(in).kind, Error::Kind::kInvalid);
}

TEST(Bytes, a_number_of_more_than_64_bits_is_zero_and_a_fault) {
  for (const char* bytes :
       {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"}) {
    ByteReader in(bytes);
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_STREQ(in.fault(), "a number is longer than 64 bits");
    EXPECT_EQ(in.fault_offset(), 10u);
  }
}

/// The body of an event at time 0, which is one byte.
std::string error_of_event(std::uint8_t kind, const std::string& body) {
  const auto read = event_of(zigzag(0) + static_cast<char>(kind) + body);
  return read.ok() ? "" : read.error().message;
}

// row 0, no amounts, no devices, no memory, no model, no layout
std::string seen_node(std::string_view is_ready, std::string_view labels_on) {
  return varint(1) + varint(0) + zigzag(0) + zigzag(0) + varint(0) + varint(0) + std::string(is_ready) +
         std::string(labels_on);
}

TEST(Fields, what_no_event_says_is_told_with_its_place) {
  using std::string_literals::operator""s;
  constexpr std::uint8_t kTick = 0, kLevels = 1, kSeen = 5, kGone = 6, kAdded = 8, kPriority = 16, kNominated = 17,
                         kLast = 30;
  EXPECT_EQ(event_of("").error().message, "at byte 0: the bytes end early");
  EXPECT_EQ(error_of_event(kTick, ""), "");
  EXPECT_EQ(error_of_event(kTick, "x"), "at byte 2: there are bytes left over");
  EXPECT_EQ(error_of_event(kNominated, varint(1) + varint(0) + zigzag(0)), "");
  EXPECT_EQ(error_of_event(kLast + 1, varint(1)), "at byte 2: an unknown kind of event or action");
  EXPECT_EQ(error_of_event(kGone, varint(kRowMax)), "");
  EXPECT_EQ(error_of_event(kGone, varint(kRowMax + 1)), "at byte 6: a row number is too large");
  EXPECT_EQ(error_of_event(kLevels, varint(UINT32_MAX) + varint(0)), "");
  EXPECT_EQ(error_of_event(kLevels, varint(1ull << 32) + varint(0)), "at byte 7: a number is out of range");
  for (const std::int64_t bound : {std::int64_t{INT32_MAX}, std::int64_t{INT32_MIN}})
    EXPECT_EQ(error_of_event(kPriority, varint(1) + zigzag(bound)), "");
  for (const std::int64_t beyond : {std::int64_t{INT32_MAX} + 1, std::int64_t{INT32_MIN} - 1})
    EXPECT_EQ(error_of_event(kPriority, varint(1) + zigzag(beyond)), "at byte 8: a number is out of range") << beyond;
  for (const std::int64_t extreme : {INT64_MAX, INT64_MIN})
    EXPECT_EQ(error_of_event(kPriority, varint(1) + zigzag(extreme)), "at byte 4: a number is out of range")
        << "an extreme of 64 bits, not of 32";
  EXPECT_EQ(error_of_event(kSeen, seen_node("\1", "\0\0\0"s)), "");
  EXPECT_EQ(error_of_event(kSeen, seen_node("\2", "\0\0\0"s)), "at byte 9: a flag is neither 0 nor 1");
  EXPECT_EQ(error_of_event(kSeen, seen_node("\1", "\0\1\0\0\3\0\0"s)), "") << "a taint of the last effect";
  EXPECT_EQ(error_of_event(kSeen, seen_node("\1", "\0\1\0\0\4\0\0"s)), "at byte 14: a code is unknown");
  EXPECT_EQ(error_of_event(kSeen, seen_node("\1", "\0\0\3\1\2\0"s)), "") << "as many domains as bytes are left";
  EXPECT_EQ(error_of_event(kSeen, seen_node("\1", "\0\0\4\1\2\0"s)),
            "at byte 12: a list is longer than the bytes that are left");
  EXPECT_EQ(error_of_event(kAdded, varint(1) + varint(1) + varint(1) + "\1\1"), "at byte 7: the bytes end early");
}

TEST(Fields, a_row_and_its_absence_are_read_as_they_were_written) {
  const auto none = event_of(zigzag(0) + '\6' + varint(0));
  EXPECT_TRUE(std::get<NodeGone>(none->body).node.is_none());
  EXPECT_EQ(std::get<NodeGone>(event_of(zigzag(0) + '\6' + varint(1))->body).node, NodeId(0));
  EXPECT_EQ(std::get<NodeGone>(event_of(zigzag(0) + '\6' + varint(kRowMax))->body).node,
            NodeId(static_cast<std::uint32_t>(kRowMax - 1)));
}

TEST(Fields, what_no_plan_says_is_told_with_its_place) {
  const auto error = [](const std::string& bytes) {
    const auto read = plan_of(bytes);
    return read.ok() ? "" : read.error().message;
  };
  const std::string start = varint(1) + zigzag(0) + zigzag(0);  // revision, time, next look
  EXPECT_EQ(error(start + varint(0) + varint(0) + varint(0)), "");
  EXPECT_EQ(error(start + varint(0) + varint(0) + varint(0) + "x"), "at byte 6: there are bytes left over");
  EXPECT_EQ(error(start + varint(1) + "\2\1\1"), "at byte 5: an unknown kind of event or action");
  const auto verdict = [&](std::string_view codes) {
    return error(start + varint(0) + varint(1) + varint(1) + std::string(codes) + zigzag(0) + varint(0) + varint(0));
  };
  EXPECT_EQ(verdict("\4\6"), "");
  EXPECT_EQ(verdict("\5\6"), "at byte 7: a code is unknown");
  EXPECT_EQ(verdict("\4\7"), "at byte 8: a code is unknown");
}

}  // namespace
}  // namespace ashlar::store
