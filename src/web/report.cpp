#include "web/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace ashlar::web {

namespace assets {
extern const std::string_view kPlotScript, kPlotStyle, kPageScript, kPageStyle;
}

namespace {

std::string html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// A JSON string that may stand inside a script element: no '<', so nothing in it can end the element.
std::string json(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "12,345.6", "-3", "95.4 %" and empty cells.
bool looks_like_a_number(std::string_view cell) {
  if (cell.empty()) return true;
  if (cell.front() == '-' || cell.front() == '+') cell.remove_prefix(1);
  if (cell.empty() || !is_digit(cell.front())) return false;
  for (char c : cell) {
    if (!is_digit(c) && c != ',' && c != '.' && c != ' ' && c != '%') return false;
  }
  return true;
}

void append_numbers(std::string& out, std::string_view name, const std::vector<double>& values,
                    const std::vector<bool>& is_kept) {
  fmt::format_to(std::back_inserter(out), "\"{}\":[", name);
  bool is_first = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_kept[i]) continue;
    if (!is_first) out += ',';
    is_first = false;
    // Seven digits are more than a screen has pixels, and keep the page small.
    if (std::isfinite(values[i])) {
      fmt::format_to(std::back_inserter(out), "{:.7g}", values[i]);
    } else {
      out += "null";
    }
  }
  out += ']';
}

void append_series(std::string& out, const Chart& chart, const Series& series) {
  std::vector<bool> is_kept(series.x.size(), true);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool is_drawable =
        std::isfinite(series.x[i]) && !(chart.is_x_log && series.x[i] <= 0) && !(chart.is_y_log && series.y[i] <= 0);
    is_kept[i] = is_drawable;
  }
  fmt::format_to(std::back_inserter(out), "{{\"name\":{},\"dashed\":{},", json(series.name), series.is_dashed);
  append_numbers(out, "x", series.x, is_kept);
  out += ',';
  append_numbers(out, "y", series.y, is_kept);
  out += '}';
}

std::string charts_json(const std::vector<Chart>& charts) {
  std::string out = "[";
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const Chart& chart = charts[i];
    fmt::format_to(std::back_inserter(out),
                   "{}{{\"x_label\":{},\"y_label\":{},\"x_unit\":{},\"y_unit\":{},\"x_log\":{},\"y_log\":{},"
                   "\"stepped\":{},\"series\":[",
                   i == 0 ? "" : ",\n", json(chart.x_label), json(chart.y_label), json(chart.x_unit),
                   json(chart.y_unit), chart.is_x_log, chart.is_y_log, chart.is_stepped);
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
      if (k > 0) out += ",\n";
      append_series(out, chart, chart.series[k]);
    }
    out += "]}";
  }
  return out + "]";
}

std::string summary_table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  const std::size_t columns = rows[0].size();
  std::vector<bool> is_number(columns, rows.size() > 1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < columns; ++c) is_number[c] = is_number[c] && looks_like_a_number(rows[i][c]);
  }
  std::string out =
      "<section class=\"summary\"><table class=\"summary\">\n<caption>Summary: one row for each "
      "run</caption>\n<thead><tr>";
  const auto open = [&](std::string_view tag, std::size_t column) {
    out += fmt::format("<{}{}>", tag, is_number[column] ? " class=\"number\"" : "");
  };
  for (std::size_t c = 0; c < columns; ++c) {
    open("th scope=\"col\"", c);
    out += html(rows[0][c]) + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 1; i < rows.size(); ++i) {
    out += "<tr>";
    for (std::size_t c = 0; c < columns; ++c) {
      open("td", c);
      // The script gives the chip the colour of the line of that name, or removes it.
      if (c == 0) out += "<i data-name=\"" + html(rows[i][c]) + "\"></i>";
      out += html(rows[i][c]) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string value_text(double value, const std::string& unit) {
  if (unit == "duration") return fmt::format("{:.4g} s", value);
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

/// A plot in numbers, for readers who do not see it: for each line its ends, its least and its largest value.
std::string numbers_table(const Chart& chart) {
  std::string out =
      "<details class=\"numbers\"><summary>Numbers of this plot</summary><table class=\"summary\">\n<caption>" +
      html(chart.title + ": " + chart.y_label + " by " + chart.x_label) + "</caption>\n<thead><tr>";
  for (const char* title : {"line", "first", "last", "lowest", "highest"})
    out += fmt::format("<th scope=\"col\">{}</th>", title);
  out += "</tr></thead>\n<tbody>\n";
  for (const Series& series : chart.series) {
    out += "<tr><th scope=\"row\">" + html(series.name) + "</th>";
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < series.y.size(); ++i)
      if (std::isfinite(series.y[i])) points.push_back(i);
    const auto is_lower = [&](std::size_t a, std::size_t b) { return series.y[a] < series.y[b]; };
    const auto cell = [&](std::size_t i) {
      out += "<td>" + html(value_text(series.y[i], chart.y_unit) + " at " + value_text(series.x[i], chart.x_unit)) +
             "</td>";
    };
    if (points.empty()) out += "<td colspan=\"4\">no values</td>";
    if (!points.empty()) {
      cell(points.front());
      cell(points.back());
      cell(*std::min_element(points.begin(), points.end(), is_lower));
      cell(*std::max_element(points.begin(), points.end(), is_lower));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></details>\n";
}

std::string head(const ReportPage& page) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" + html(page.title) +
         "</title>\n<style>\n";
  out += assets::kPlotStyle;
  out += '\n';
  out += assets::kPageStyle;
  out += "</style>\n</head>\n<body>\n<main>\n<header><div><h1>" + html(page.title) + "</h1>\n";
  if (!page.subtitle.empty()) out += "<p class=\"subtitle\">" + html(page.subtitle) + "</p>";
  out +=
      "</div><button id=\"theme\" type=\"button\" title=\"Light or dark\">Light / dark</button></header>\n<dl "
      "class=\"facts\">";
  for (const auto& [name, value] : page.facts)
    out += "<div><dt>" + html(name) + "</dt><dd>" + html(value) + "</dd></div>\n";
  return out + "</dl>\n";
}

std::string body(const ReportPage& page) {
  std::string out = summary_table(page.summary);
  if (!page.notes.empty()) {
    if (page.summary.empty()) out += "<section class=\"summary\">";
    out += "<div class=\"notes\">";
    for (const std::string& note : page.notes) out += "<p>" + html(note) + "</p>\n";
    out += "</div>";
  }
  if (!page.summary.empty() || !page.notes.empty()) out += "</section>\n";
  out +=
      "<noscript>The plots are drawn by the script in this file; allow it to see them.</noscript>\n<div "
      "class=\"charts\">\n";
  for (std::size_t i = 0; i < page.charts.size(); ++i) {
    const Chart& chart = page.charts[i];
    out += "<section><h2>" + html(chart.title) + "</h2>\n";
    if (!chart.reading.empty()) out += "<p class=\"reading\">" + html(chart.reading) + "</p>\n";
    out += fmt::format("<div class=\"plot\" id=\"plot-{}\" role=\"img\" aria-label=\"{}\"></div>\n", i,
                       html("Plot: " + chart.title + ", " + chart.y_label + " by " + chart.x_label));
    out += numbers_table(chart) + "</section>\n";
  }
  return out + "</div>\n";
}

std::string foot(const ReportPage& page) {
  std::string out = "<footer>Drag across a plot to zoom in, double-click to reset; click a name to hide its line. ";
  out +=
      "This file needs no network. Plots: uPlot 1.6.32, MIT licence.</footer>\n</main>\n<script "
      "type=\"application/json\" id=\"charts\">";
  out += charts_json(page.charts) + "</script>\n<script>";
  out += assets::kPlotScript;
  out += "</script>\n<script>";
  out += assets::kPageScript;
  return out + "</script>\n</body>\n</html>\n";
}

Result<void> check(const ReportPage& page) {
  for (const auto& row : page.summary) {
    if (row.size() != page.summary[0].size()) return invalid("report: the rows of the summary differ in width");
  }
  for (const Chart& chart : page.charts) {
    for (const Series& series : chart.series) {
      if (series.x.size() != series.y.size())
        return invalid("report: " + chart.title + ", " + series.name + ": x and y differ in length");
      for (std::size_t i = 1; i < series.x.size(); ++i) {
        if (series.x[i] < series.x[i - 1])
          return invalid("report: " + chart.title + ", " + series.name + ": x does not ascend");
      }
    }
  }
  return {};
}

}  // namespace

Result<std::string> render_report(const ReportPage& page) {
  if (Result<void> checked = check(page); !checked) return checked.error();
  return head(page) + body(page) + foot(page);
}

}  // namespace ashlar::web
