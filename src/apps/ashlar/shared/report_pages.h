// report_pages: turns results into report pages. Wiring between src/sim, which knows no pages, and src/web, which knows
// no runs.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/results/results.h"
#include "web/report.h"

namespace ashlar {

using ReportFacts = std::vector<std::pair<std::string, std::string>>;

/// Policies side by side; if a policy ran on several seeds, its line is the mean of them.
web::ReportPage packing_page(std::span<const sim::PackingRun> runs, const ReportFacts& facts);
web::ReportPage queue_page(const std::string& title, std::span<const sim::QueueRun> runs, const ReportFacts& facts);

}  // namespace ashlar
