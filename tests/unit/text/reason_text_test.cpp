// Reasons: one row for each code, one sentence for each row.
#include "text/reason_text.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ashlar {
namespace {

class SomeNames final : public ReasonNames {
 public:
  std::string subject(const Reason&) const override { return "SUBJECT"; }
  std::string amount(const Reason&, std::int64_t amount) const override { return std::to_string(amount) + " units"; }
  std::string domain(const Reason&, std::int64_t domain) const override { return "domain " + std::to_string(domain); }
  std::string quota(const Reason& r, std::int64_t amount) const override { return quota_text(r.numbers[0], amount); }
  std::string detail(const Reason&) const override { return "DETAIL"; }
};

TEST(Reasons, EachCodeHasARowOfItsOwn) {
  std::set<std::string> names;
  for (int code = 1; code <= static_cast<int>(kLastReason); ++code) {
    const ReasonRow& row = row_of(static_cast<ReasonCode>(code));
    EXPECT_EQ(row.code, static_cast<ReasonCode>(code));
    EXPECT_TRUE(names.emplace(row.name).second) << row.name;
    EXPECT_EQ(reason_name(row.code), row.name);
  }
}

TEST(Reasons, EachSentenceIsFilledIn) {
  for (int code = 1; code <= static_cast<int>(kLastReason); ++code) {
    const std::string text = reason_text({static_cast<ReasonCode>(code), 0, {3, 2, 5}}, SomeNames());
    EXPECT_FALSE(text.empty()) << code;
    EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
  }
}

TEST(Reasons, ASentenceWithABraceThatIsNotClosedEndsThere) {
  EXPECT_EQ(filled_in("of {subject} and {", {ReasonCode::kInsufficientGpu, 0, {}}, SomeNames()), "of SUBJECT and ");
}

}  // namespace
}  // namespace ashlar
