#include "web/report.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace ashlar::web {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ReportPage small_page() {
  return {.title = "Packing replay",
          .subtitle = "Two policies",
          .facts = {{"seed", "42"}},
          .notes = {"How to read it."},
          .summary = {{"policy", "at 130 %", "comment"}, {"fgd", "95.2900", "best"}, {"random", "87.2600", ""}},
          .charts = {{.title = "Allocation",
                      .reading = "Higher is better.",
                      .x_label = "load",
                      .y_label = "allocated",
                      .x_unit = "%",
                      .y_unit = "%",
                      .series = {{"fgd", {0, 1, 2}, {0, 0.5, 2}}, {"random", {0, 2}, {0, 1.25}, true}}}}};
}

std::string rendered(const ReportPage& page) {
  const auto html = render_report(page);
  EXPECT_TRUE(html.ok()) << html.error().message;
  return html.ok() ? *html : "";
}

TEST(Report, IsOneFileThatNeedsNoNetwork) {
  const std::string html = rendered(small_page());
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("var uPlot="));
  for (const char* outside : {"src=\"", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "import("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(Report, SaysWhatWasRunAndHowToReadIt) {
  EXPECT_THAT(rendered(small_page()), AllOf(HasSubstr("<title>Packing replay</title>"), HasSubstr("Two policies"),
                                            HasSubstr("<dt>seed</dt><dd>42</dd>"), HasSubstr("Higher is better."),
                                            HasSubstr("How to read it."), HasSubstr("<h2>Allocation</h2>")));
}

TEST(Report, HoldsEverySeriesAsItWasGiven) {
  EXPECT_THAT(rendered(small_page()), AllOf(HasSubstr(R"({"name":"fgd","dashed":false,"x":[0,1,2],"y":[0,0.5,2]})"),
                                            HasSubstr(R"({"name":"random","dashed":true,"x":[0,2],"y":[0,1.25]})")));
}

TEST(Report, NumbersStandRightAndWordsLeft) {
  const std::string html = rendered(small_page());
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">95.2900</td><td>best</td>"));
  EXPECT_THAT(html, HasSubstr("<td><i data-name=\"fgd\"></i>fgd</td>"));
}

TEST(Report, APlotIsAlsoText) {
  const std::string html = rendered(small_page());
  EXPECT_THAT(html, HasSubstr("role=\"img\" aria-label=\"Plot: Allocation, allocated by load\""));
  EXPECT_THAT(html, HasSubstr("<caption>Allocation: allocated by load</caption>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">fgd</th><td>0 % at 0 %</td><td>2 % at 2 %</td><td>0 % at 0 %</td>"
                              "<td>2 % at 2 %</td>"));
  ReportPage page = small_page();
  page.charts[0].series = {{"a", {1}, {std::nan("")}}};
  EXPECT_THAT(rendered(page), HasSubstr("<th scope=\"row\">a</th><td colspan=\"4\">no values</td>"));
}

TEST(Report, TheSummaryHasACaptionAndScopes) {
  EXPECT_THAT(rendered(small_page()), AllOf(HasSubstr("<caption>Summary: one row for each run</caption>"),
                                            HasSubstr("<th scope=\"col\" class=\"number\">at 130 %</th>")));
}

TEST(Report, LinesDifferByMoreThanColour) {
  EXPECT_THAT(rendered(small_page()), HasSubstr("dashes[names.indexOf(line.name) % dashes.length]"));
}

TEST(Report, IsLegibleInLightAndDark) {
  EXPECT_THAT(rendered(small_page()),
              AllOf(HasSubstr("prefers-color-scheme: dark"), HasSubstr("[data-theme=\"dark\"]")));
}

TEST(Report, TextFromOutsideStaysText) {
  ReportPage page = small_page();
  const std::string evil = "</script><script>alert(1)</script><b>\"&'";
  page.title = page.subtitle = page.notes[0] = page.summary[1][0] = evil;
  page.charts[0].title = page.charts[0].reading = page.charts[0].x_label = page.charts[0].series[0].name = evil;
  page.facts[0] = {evil, evil};
  const std::string html = rendered(page);
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
}

TEST(Report, GapsAreNullAndWhatALogarithmHasNotIsLeftOut) {
  ReportPage page = small_page();
  page.charts[0].series = {{"a", {0, 1, 10}, {5, std::nan(""), std::numeric_limits<double>::infinity()}}};
  EXPECT_THAT(rendered(page), HasSubstr(R"("x":[0,1,10],"y":[5,null,null])"));
  page.charts[0].series = {{"a", {0, 1, 10}, {5, 6, 0}}};
  page.charts[0].is_x_log = true;
  EXPECT_THAT(rendered(page), HasSubstr(R"("x":[1,10],"y":[6,0])"));
  page.charts[0].is_y_log = true;
  EXPECT_THAT(rendered(page), HasSubstr(R"("x":[1],"y":[6])"));
}

TEST(Report, RefusesWhatCannotBeDrawn) {
  ReportPage page = small_page();
  page.charts[0].series[0].y.pop_back();
  EXPECT_THAT(render_report(page).error().message, HasSubstr("Allocation, fgd: x and y differ in length"));
  page = small_page();
  page.charts[0].series[0].x = {0, 2, 1};
  EXPECT_THAT(render_report(page).error().message, HasSubstr("x does not ascend"));
  page = small_page();
  page.summary[1].pop_back();
  EXPECT_THAT(render_report(page).error().message, HasSubstr("rows of the summary differ in width"));
}

TEST(Report, AnEmptyPageIsAPage) {
  EXPECT_THAT(rendered({.title = "Nothing"}), HasSubstr("id=\"charts\">[]</script>"));
}

RC_GTEST_PROP(Report, NoTextEndsTheScriptThatHoldsIt, (const std::string& text)) {
  ReportPage page = small_page();
  const std::string before = *render_report(page);
  page.charts[0].series[0].name = text;
  page.summary[1][0] = text;
  const std::string after = *render_report(page);
  const auto count = [](const std::string& html, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = html.find(word); at != std::string::npos; at = html.find(word, at + 1)) ++n;
    return n;
  };
  RC_ASSERT(count(before, "<") == count(after, "<"));
}

}  // namespace
}  // namespace ashlar::web
