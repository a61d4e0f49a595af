#include "results.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ashlar::bench::perf {
namespace {

bool is_same_case(const Figure& a, const Figure& b) {
  return a.case_name == b.case_name && a.mode == b.mode && a.nodes == b.nodes && a.pods == b.pods;
}

template <class Of>
std::vector<double> values_by(const std::vector<Figure>& figures, const std::string& contestant, const Of& of) {
  std::vector<double> values;
  for (const Figure& figure : figures)
    if (figure.contestant == contestant) values.push_back(of(figure));
  return values;
}

std::vector<double> rates(const std::vector<Figure>& figures, const std::string& contestant) {
  return values_by(figures, contestant, [](const Figure& f) { return f.rate; });
}

/// The median over the rounds of what one did in relation to another in the same round; 0 without such rounds.
double paired_ratio(const std::vector<Figure>& figures, const std::string& of, const std::string& to) {
  std::vector<double> ratios;
  for (const Figure& a : figures)
    for (const Figure& b : figures)
      if (a.contestant == of && b.contestant == to && a.round == b.round)
        ratios.push_back(b.rate > 0 ? a.rate / b.rate : 0);
  return median(std::move(ratios));
}

}  // namespace

std::string line_of(const Figure& f) {
  std::ostringstream out;
  out << f.case_name << '\t' << f.mode << '\t' << f.nodes << '\t' << f.pods << '\t' << f.round << '\t' << f.contestant
      << '\t' << f.bound << '\t' << f.measured << '\t' << f.rate << '\t' << f.p50_sent << '\t' << f.p99_sent << '\t'
      << f.p50_answered << '\t' << f.p99_answered;
  return out.str();
}

Result<Figure> figure_of(const std::string& line) {
  std::istringstream fields(line);
  Figure f;
  std::string numbers;
  std::getline(fields, f.case_name, '\t');
  std::getline(fields, f.mode, '\t');
  fields >> f.nodes >> f.pods >> f.round;
  fields.ignore(1);
  std::getline(fields, f.contestant, '\t');
  fields >> f.bound >> f.measured >> f.rate >> f.p50_sent >> f.p99_sent >> f.p50_answered >> f.p99_answered;
  if (fields.fail()) return invalid("\"" + line + "\" is not a figure of this benchmark");
  return f;
}

Result<ResultsFile> ResultsFile::open(const std::string& folder) {
  ResultsFile file;
  if (folder.empty()) return file;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return invalid("cannot create " + folder + ": " + failed.message());
  file.path_ = folder + "/results.tsv";
  std::ifstream in(file.path_);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    Result<Figure> figure = figure_of(line);
    if (!figure) return invalid(file.path_ + ":" + std::to_string(number) + ": " + figure.error().message);
    file.figures_.push_back(std::move(figure).value());
  }
  return file;
}

std::vector<Figure> ResultsFile::finished(const Figure& key, const std::vector<std::string>& contestants,
                                          int rounds) const {
  std::vector<Figure> found;
  for (const Figure& figure : figures_)
    if (is_same_case(figure, key) && figure.round < rounds) found.push_back(figure);
  for (const std::string& contestant : contestants)
    if (rates(found, contestant).size() != static_cast<std::size_t>(rounds)) return {};
  return found;
}

Result<void> ResultsFile::append(const std::vector<Figure>& figures) {
  if (path_.empty()) return {};
  figures_.insert(figures_.end(), figures.begin(), figures.end());
  std::ofstream out(path_, std::ios::app);
  for (const Figure& figure : figures) out << line_of(figure) << '\n';
  out.flush();
  if (!out) return invalid("cannot write to " + path_);
  return {};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values[std::min(values.size(), std::max<std::size_t>(at, 1)) - 1];
}

TableRow row_of(const std::vector<Figure>& figures, const Goal& goal) {
  TableRow row;
  if (figures.empty()) return row;
  row.name = figures.front().case_name;
  row.mode = figures.front().mode;
  row.plain = median(rates(figures, "plain-client"));
  row.kube = median(rates(figures, "kube-scheduler"));
  row.ashlar = median(rates(figures, "ashlar"));
  row.times = paired_ratio(figures, "ashlar", "kube-scheduler");
  row.share = 100 * paired_ratio(figures, "ashlar", "plain-client");
  for (const Figure& figure : figures)
    if (figure.contestant == "ashlar" && (figure.bound < figure.measured || figure.bound == 0)) row.is_complete = false;
  const bool has_ashlar = !rates(figures, "ashlar").empty();
  row.is_judged = has_ashlar && (row.kube > 0 || row.plain > 0);
  const bool is_quick =
      row.mode == "arriving" ? row.share >= goal.share : row.times >= goal.times || row.share >= goal.share;
  row.is_met = row.is_judged && row.is_complete && is_quick;
  return row;
}

PacedRow paced_row_of(const std::vector<Figure>& figures) {
  const auto p50 = [](const Figure& f) { return f.p50_sent; };
  const auto p99 = [](const Figure& f) { return f.p99_sent; };
  PacedRow row{.p50 = median(values_by(figures, "ashlar", p50)),
               .p99 = median(values_by(figures, "ashlar", p99)),
               .kube_p50 = median(values_by(figures, "kube-scheduler", p50)),
               .kube_p99 = median(values_by(figures, "kube-scheduler", p99)),
               .plain_p50 = median(values_by(figures, "plain-client", p50)),
               .plain_p99 = median(values_by(figures, "plain-client", p99))};
  bool is_whole = !rates(figures, "ashlar").empty();
  for (const Figure& figure : figures)
    if (figure.contestant == "ashlar" && (figure.bound < figure.measured || figure.bound == 0)) is_whole = false;
  const bool is_behind = row.kube_p50 > 0 && (row.p50 > row.kube_p50 || row.p99 > row.kube_p99);
  row.is_met = is_whole && row.p50 <= 5 && row.p99 <= 20 && !is_behind;
  return row;
}

}  // namespace ashlar::bench::perf
