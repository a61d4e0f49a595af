#include "sim/trace/csv.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace ashlar::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CsvReader reader(const std::string& text) {
  auto csv = CsvReader::from_text(text, "f.csv");
  EXPECT_TRUE(csv.ok()) << csv.error().message;
  return std::move(*csv);
}

TEST(Csv, FindsColumnsByNameInAnyOrder) {
  CsvReader csv = reader("b,a\n2,1\n4,3\n");
  const CsvColumn a = csv.column("a"), b = csv.column("b");
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer(a, {}), 1);
  EXPECT_EQ(csv.integer(b, {}), 2);
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.text(a), "3");
  EXPECT_FALSE(csv.next_row());
  EXPECT_FALSE(csv.failed());
}

TEST(Csv, BehindTheLastRowThereIsNoText) {
  CsvReader csv = reader("a\n1\n");
  const CsvColumn a = csv.column("a");
  ASSERT_TRUE(csv.next_row());
  EXPECT_FALSE(csv.next_row());
  EXPECT_EQ(csv.text(a), "");
  CsvReader broken = reader("a,b\n1,2\n3,\"4\n");
  const CsvColumn b = broken.column("b");
  ASSERT_TRUE(broken.next_row());
  EXPECT_FALSE(broken.next_row());
  EXPECT_TRUE(broken.failed());
  EXPECT_EQ(broken.text(b), "") << "nor behind a row that cannot be read";
}

TEST(Csv, TakesWindowsLineEndsBlankLinesByteOrderMarkAndNoFinalNewline) {
  CsvReader csv = reader(
      "\xef\xbb\xbf"
      "a,b\r\n\r\n1,2\r\n  \n3,4");
  const CsvColumn a = csv.column("a"), b = csv.column("b");
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer(b, {}), 2);
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer(a, {}), 3);
  EXPECT_EQ(csv.integer(b, {}), 4);
  EXPECT_EQ(csv.line(), 5u);
  EXPECT_FALSE(csv.next_row());
  EXPECT_FALSE(csv.failed());
}

TEST(Csv, UnderstandsQuotes) {
  CsvReader csv = reader("a,\"b\",c\n\"1,5\",\"say \"\"yes\"\"\",plain\nx,\"two\nlines\",y\n");
  const CsvColumn a = csv.column("a"), b = csv.column("b"), c = csv.column("c");
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.text(a), "1,5");
  EXPECT_EQ(csv.text(b), "say \"yes\"");
  EXPECT_EQ(csv.text(c), "plain");
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.text(a), "x");
  EXPECT_EQ(csv.text(b), "two\nlines");
  EXPECT_EQ(csv.text(c), "y");
  EXPECT_FALSE(csv.next_row());
  EXPECT_FALSE(csv.failed());
}

TEST(Csv, AWrongCellIsAnErrorWithFileLineColumnAndForm) {
  CsvReader csv = reader("name,cpu\nx,1\ny,-5\n");
  const CsvColumn cpu = csv.column("cpu");
  const IntegerForm form{0, 100, "milli-cores, a whole number from 0"};
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer(cpu, form), 1);
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer(cpu, form), 0);
  ASSERT_TRUE(csv.failed());
  EXPECT_EQ(csv.error().message, "f.csv:3:3: cpu: expected milli-cores, a whole number from 0, got \"-5\"");
  EXPECT_FALSE(csv.next_row());
}

TEST(Csv, TheFirstErrorStays) {
  CsvReader csv = reader("a,b\nx,y\n");
  ASSERT_TRUE(csv.next_row());
  csv.integer(csv.column("b"), {});
  csv.integer(csv.column("a"), {});
  csv.column("absent");
  EXPECT_THAT(csv.error().message, StartsWith("f.csv:2:3: b: "));
}

TEST(Csv, RefusesWhatIsNotAWholeNumber) {
  for (const char* cell : {"", "1.5", "1x", "0x10", "99999999999999999999", "--1", "1 2", "NaN"}) {
    CsvReader csv = reader(std::string("a,b\n") + cell + ",z\n");
    ASSERT_TRUE(csv.next_row());
    csv.integer(csv.column("a"), {});
    EXPECT_TRUE(csv.failed()) << cell;
  }
}

TEST(Csv, AnOptionalCellMayBeEmptyOrItsColumnMissing) {
  CsvReader csv = reader("a,b\n,z\n");
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer_if_any(csv.find("a"), {}), std::nullopt);
  EXPECT_EQ(csv.integer_if_any(csv.find("absent"), {}), std::nullopt);
  EXPECT_FALSE(csv.failed());
}

TEST(Csv, NamesAMissingColumnAndTheHeaderItSaw) {
  CsvReader csv = reader("name,cpu\nx,1\n");
  csv.column("gpu_milli");
  EXPECT_EQ(csv.error().message, "f.csv:1:1: expected a column \"gpu_milli\", got the header \"name,cpu\"");
}

TEST(Csv, ARowOfAnotherLengthIsAnError) {
  for (const char* text : {"a,b\n1,2,3\n", "a,b\n1\n"}) {
    CsvReader csv = reader(text);
    EXPECT_FALSE(csv.next_row());
    ASSERT_TRUE(csv.failed());
    EXPECT_THAT(csv.error().message, HasSubstr("expected 2 cells (a,b)"));
    EXPECT_THAT(csv.error().message, StartsWith("f.csv:2:"));
  }
}

TEST(Csv, RefusesEmptyTextDoubledColumnsAndOpenQuotes) {
  EXPECT_THAT(CsvReader::from_text("", "f.csv").error().message, HasSubstr("header"));
  EXPECT_THAT(CsvReader::from_text("a,b,a\n", "f.csv").error().message, HasSubstr("every column name once"));
  EXPECT_THAT(CsvReader::from_text("a,\"b\n", "f.csv").error().message, HasSubstr("closing quote"));
  CsvReader csv = reader("a,b\n1,\"x\"y\n");
  EXPECT_FALSE(csv.next_row());
  EXPECT_THAT(csv.error().message, HasSubstr("after the closing quote"));
}

TEST(Csv, MessagesShowNoControlCharacters) {
  CsvReader csv = reader(std::string("a\n\x1b[31m\x01\n"));
  ASSERT_TRUE(csv.next_row());
  csv.integer(csv.column("a"), {});
  EXPECT_EQ(csv.error().message.find('\x1b'), std::string::npos);
}

RC_GTEST_PROP(Csv, NeverCrashesAndEveryErrorNamesThePlace, (const std::string& noise)) {
  auto csv = CsvReader::from_text("a,b\n" + noise, "f.csv");
  RC_PRE(csv.ok());
  const CsvColumn a = csv->column("a"), b = csv->column("b");
  while (csv->next_row()) {
    csv->integer(a, {});
    csv->real(b, "a number");
  }
  if (csv->failed()) RC_ASSERT(csv->error().message.rfind("f.csv:", 0) == 0);
}

RC_GTEST_PROP(Csv, QuotedTextsComeBackAsTheyWere, (const std::vector<std::string>& texts)) {
  std::string file = "a,b\n";
  for (const std::string& text : texts) {
    file += '"';
    for (char c : text) file += c == '"' ? std::string("\"\"") : std::string(1, c);
    file += "\",1\n";
  }
  auto csv = CsvReader::from_text(file, "f.csv");
  RC_ASSERT(csv.ok());
  const CsvColumn a = csv->column("a");
  for (const std::string& text : texts) {
    RC_ASSERT(csv->next_row());
    RC_ASSERT(std::string(csv->text(a)) == text);
  }
  RC_ASSERT(!csv->next_row());
  RC_ASSERT(!csv->failed());
}

}  // namespace
}  // namespace ashlar::sim
