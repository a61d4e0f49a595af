// fields: the byte layout of every value of the model, by one rule: a struct is its fields in the order of their
// declaration, a list is its length and its elements, a variant is its index and its value. Fields are found by
// Boost.PFR, so a new field of a struct is in the log without a line here; the format version must then be incremented,
// which tests/unit/store/format_test.cpp checks. Only codec files include this header (templates).
#pragma once

#include <array>
#include <bit>
#include <boost/pfr.hpp>
#include <concepts>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "base/rng.h"
#include "model/event.h"
#include "model/plan.h"
#include "state/jobs/jobs.h"
#include "store/bytes.h"

namespace ashlar::store {

/// Largest row number that a reader accepts. Rows index columns, so a corrupt row must not create a column of
/// gigabytes.
inline constexpr std::uint64_t kRowMax = 1u << 27;

/// Signed numbers are within these bounds, or are one of the two extremes of 64 bits, which mean "unknown" and
/// "unlimited". Times in milliseconds, bytes and milli-cores of any real cluster are far below; so sums of numbers from
/// a corrupt file do not overflow. Numbers of 32 bits, such as priorities, may have any value; those that are added up
/// are checked with what they belong to.
inline constexpr std::int64_t kNumberMax = std::int64_t{1} << 60;

/// Last enumerator of every enum that is in the log; a larger value is corrupt. An enum without a line here does not
/// compile.
template <class E>
inline constexpr E kLastOf = E::this_enum_needs_a_line_in_fields_h;
template <>
inline constexpr TaintEffect kLastOf<TaintEffect> = TaintEffect::kAny;
template <>
inline constexpr DeviceMode kLastOf<DeviceMode> = DeviceMode::kSliced;
template <>
inline constexpr LabelExpression::Op kLastOf<LabelExpression::Op> = LabelExpression::Op::kLess;
template <>
inline constexpr Toleration::Op kLastOf<Toleration::Op> = Toleration::Op::kGreater;
template <>
inline constexpr QuotaDimension kLastOf<QuotaDimension> = QuotaDimension::kMemoryBytes;
template <>
inline constexpr ReasonCode kLastOf<ReasonCode> = kLastReason;
template <>
inline constexpr WakeOn kLastOf<WakeOn> = WakeOn::kConfiguration;
template <>
inline constexpr VerdictKind kLastOf<VerdictKind> = VerdictKind::kOverQuota;
template <>
inline constexpr StopRules::Own kLastOf<StopRules::Own> = StopRules::Own::kLowerOrLonger;
template <>
inline constexpr StopRules::Reclaims kLastOf<StopRules::Reclaims> = StopRules::Reclaims::kAny;
template <>
inline constexpr StopReason kLastOf<StopReason> = StopReason::kFairShare;
template <>
inline constexpr QueueGate::Is kLastOf<QueueGate::Is> = QueueGate::Is::kStopped;
template <>
inline constexpr Member::Phase kLastOf<Member::Phase> = Member::Phase::kBound;

template <class T>
struct IsId : std::false_type {};
template <class Tag>
struct IsId<Id<Tag>> : std::true_type {};
template <class T>
struct IsQuantity : std::false_type {};
template <class Tag, class Rep>
struct IsQuantity<Quantity<Tag, Rep>> : std::true_type {};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <class T>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};
template <class T>
struct IsTree : std::false_type {};
template <class T>
struct IsTree<std::set<T>> : std::true_type {};
template <class K, class V>
struct IsTree<std::map<K, V>> : std::true_type {};

template <class T>
void encode(ByteWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t> || std::is_enum_v<T>)
    out.byte(static_cast<std::uint8_t>(value));
  else if constexpr (std::is_same_v<T, double>)
    out.fixed64(std::bit_cast<std::uint64_t>(value));
  else if constexpr (std::is_same_v<T, std::string>)
    out.text(value);
  else if constexpr (std::unsigned_integral<T>)
    out.varint(value);
  else if constexpr (std::signed_integral<T>)
    out.zigzag(value);
  else if constexpr (IsId<T>::value)
    out.varint(value.is_none() ? 0 : std::uint64_t(value.value) + 1);
  else if constexpr (IsQuantity<T>::value)
    out.zigzag(value.value);
  else if constexpr (std::is_same_v<T, Rng>)
    out.fixed64(value.state());
  else if constexpr (IsArray<T>::value) {
    for (const auto& element : value) encode(out, element);
  } else if constexpr (IsPair<T>::value) {
    encode(out, value.first);
    encode(out, value.second);
  } else if constexpr (IsList<T>::value || IsTree<T>::value) {
    out.varint(value.size());
    for (const auto& element : value) encode(out, element);
  } else if constexpr (IsVariant<T>::value) {
    out.byte(static_cast<std::uint8_t>(value.index()));
    std::visit([&](const auto& alternative) { encode(out, alternative); }, value);
  } else {
    static_assert(std::is_aggregate_v<T>, "only plain values are written by their fields");
    boost::pfr::for_each_field(value, [&](const auto& field) { encode(out, field); });
  }
}

template <class T>
void decode(ByteReader& in, T& value);

template <class V, std::size_t I = 0>
void decode_alternative(ByteReader& in, V& value, std::size_t index) {
  if constexpr (I < std::variant_size_v<V>) {
    if (index != I) return decode_alternative<V, I + 1>(in, value, index);
    std::variant_alternative_t<I, V> alternative{};
    decode(in, alternative);
    value = std::move(alternative);
  } else {
    in.fail("an unknown kind of event or action");
  }
}

template <class T>
void decode_id(ByteReader& in, T& id) {
  const std::uint64_t v = in.varint();
  if (v > kRowMax) return in.fail("a row number is too large");
  id = v == 0 ? T::none() : T(static_cast<std::uint32_t>(v - 1));
}

template <class T>
void decode_signed(ByteReader& in, T& value) {
  const std::int64_t v = in.zigzag();
  const bool is_extreme = v == INT64_MAX || v == INT64_MIN;
  const bool is_in_range =
      sizeof(T) == 8 ? (v <= kNumberMax && v >= -kNumberMax) || is_extreme : std::in_range<std::int32_t>(v);
  if (!is_in_range) return in.fail("a number is out of range");
  value = static_cast<T>(v);
}

template <class T>
void decode_list(ByteReader& in, T& list) {
  const std::uint64_t count = in.varint();
  // every element takes at least one
  if (count > in.left()) return in.fail("a list is longer than the bytes that are left");
  list.clear();
  for (std::uint64_t i = 0; i < count && !in.has_failed(); ++i) {
    if constexpr (IsList<T>::value) {
      list.emplace_back();
      decode(in, list.back());
    } else if constexpr (requires { typename T::mapped_type; }) {
      std::pair<typename T::key_type, typename T::mapped_type> entry{};
      decode(in, entry);
      list.insert(list.end(), std::move(entry));
    } else {
      typename T::value_type element{};
      decode(in, element);
      list.insert(list.end(), std::move(element));
    }
  }
}

template <class T>
void decode(ByteReader& in, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::uint8_t v = in.byte();
    value = v == 1;
    if (v > 1) in.fail("a flag is neither 0 nor 1");
  } else if constexpr (std::is_enum_v<T>) {
    const std::uint8_t v = in.byte();
    if (v > static_cast<std::uint8_t>(kLastOf<T>)) return in.fail("a code is unknown");
    value = static_cast<T>(v);
  } else if constexpr (std::is_same_v<T, std::uint8_t>)
    value = in.byte();
  else if constexpr (std::is_same_v<T, double>)
    value = std::bit_cast<double>(in.fixed64());
  else if constexpr (std::is_same_v<T, std::string>)
    value = std::string(in.text());
  else if constexpr (std::unsigned_integral<T>) {
    const std::uint64_t v = in.varint();
    value = static_cast<T>(v);
    if (value != v) in.fail("a number is out of range");
  } else if constexpr (std::signed_integral<T>)
    decode_signed(in, value);
  else if constexpr (IsId<T>::value)
    decode_id(in, value);
  else if constexpr (IsQuantity<T>::value)
    decode_signed(in, value.value);
  else if constexpr (std::is_same_v<T, Rng>)
    value = Rng(in.fixed64());
  else if constexpr (IsArray<T>::value) {
    for (auto& element : value) decode(in, element);
  } else if constexpr (IsPair<T>::value) {
    decode(in, value.first);
    decode(in, value.second);
  } else if constexpr (IsList<T>::value || IsTree<T>::value)
    decode_list(in, value);
  else if constexpr (IsVariant<T>::value)
    decode_alternative(in, value, in.byte());
  else {
    static_assert(std::is_aggregate_v<T>, "only plain values are read by their fields");
    boost::pfr::for_each_field(value, [&](auto& field) { decode(in, field); });
  }
}

}  // namespace ashlar::store
