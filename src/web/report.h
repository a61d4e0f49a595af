// report: one HTML file with plots and a table that works without a network, in light and dark. The plots are drawn by
// uPlot (src/web/vendor), whose code is embedded. Cost: the page is about 60 KB plus 16 bytes per point.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ashlar::web {

/// One line of a chart. x ascending; x and y of equal length; NaN or infinite y is a gap.
struct Series {
  std::string name;
  std::vector<double> x, y;
  bool is_dashed = false;  ///< for the baseline of a comparison
};

struct Chart {
  std::string title;
  std::string reading;  ///< how to read it, in one or two sentences
  std::string x_label, y_label;
  bool is_x_log = false;    ///< points with x <= 0 are left out
  bool is_y_log = false;    ///< points with y <= 0 are left out
  bool is_stepped = false;  ///< the value holds until the next x
  /// "%", "s", ... behind values; the unit "duration" prints seconds as 90 s, 5 min, 3 h, 2 d
  std::string x_unit, y_unit;
  std::vector<Series> series;
};

struct ReportPage {
  std::string title;
  std::string subtitle;
  std::vector<std::pair<std::string, std::string>> facts;  ///< what was run: ("trace", "default"), ("seed", "42"), ...
  std::vector<std::string> notes;                          ///< paragraphs below the table
  std::vector<std::vector<std::string>> summary;           ///< header first; numeric cells are right-aligned
  std::vector<Chart> charts;
};

/// The whole page. Errors: series of unequal length, a summary whose rows differ in width.
Result<std::string> render_report(const ReportPage& page);

}  // namespace ashlar::web
