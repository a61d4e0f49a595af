// Names beside the rows of a log.
#include "store/names.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ashlar::store {
namespace {

class Words final : public NameSource {
 public:
  std::map<std::uint32_t, std::string> domains;
  void append_name(const NameKey& key, std::string& out) const override {
    if (key.kind == NameKind::kDomain) out += domains.at(key.row);
  }
};

TEST(NameLedger, ARowThatStandsForSomethingElseIsToldAnew) {
  Words words;
  words.domains = {{0, "rack-a"}, {1, "rack-b"}};
  NameLedger ledger(&words);
  NameTable read;
  const auto tell = [&](DomainId domain) {
    NodeSeen seen{NodeId(0u), {}};
    seen.facts.domains = {domain};
    std::string bytes;
    ByteWriter out(bytes);
    ledger.tell_new({Millis(0), seen}, out);
    const std::size_t told = bytes.size();
    NameLedger::end(out);
    ByteReader in(bytes);
    read_names(in, read);
    return told;
  };
  tell(DomainId(0u));
  tell(DomainId(1u));
  EXPECT_EQ(read.of({NameKind::kDomain, 1, 0}), "rack-b");
  EXPECT_EQ(tell(DomainId(1u)), 0u) << "known";
  words.domains[1] = "rack-c";
  EXPECT_GT(tell(DomainId(1u)), 0u);
  EXPECT_EQ(read.of({NameKind::kDomain, 1, 0}), "rack-c");
  EXPECT_EQ(read.of({NameKind::kDomain, 0, 0}), "rack-a");
}

TEST(NameLedger, EveryLevelIsToldWithTheState) {
  class Numbers final : public NameSource {
   public:
    void append_name(const NameKey& key, std::string& out) const override {
      out += (key.kind == NameKind::kLevel ? "level" : "other") + std::to_string(key.row);
    }
  } numbers;
  State state;
  apply(state, {Millis(0), LevelsDefined{2, 1}});
  NameLedger ledger(&numbers);
  std::string bytes;
  ByteWriter out(bytes);
  ledger.tell_all(state, out);
  NameLedger::end(out);
  NameTable read;
  ByteReader in(bytes);
  read_names(in, read);
  for (std::uint32_t l = 0; l < 3; ++l) EXPECT_EQ(read.of({NameKind::kLevel, l}), "level" + std::to_string(l));
}

}  // namespace
}  // namespace ashlar::store
