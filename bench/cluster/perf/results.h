// results: the figures of rounds, kept in a file so that a run that was cut off goes on with the next case, and the
// table beside the goals that is made of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace ashlar::bench::perf {

/// What one contestant did in one round.
struct Figure {
  std::string case_name, mode;  ///< "drained", "arriving" or "50 pods/s"
  std::size_t nodes = 0, pods = 0;
  int round = 0;
  std::string contestant;                     ///< "plain-client", "kube-scheduler", "ashlar"
  std::size_t bound = 0, measured = 0;        ///< pods
  double rate = 0;                            ///< pods/s
  double p50_sent = 0, p99_sent = 0;          ///< ms from sending the creation to the bind; paced rounds only
  double p50_answered = 0, p99_answered = 0;  ///< ms from the creation's answer
  friend bool operator==(const Figure&, const Figure&) = default;
};

/// One line of the file, fields separated by tabs.
std::string line_of(const Figure& figure);
Result<Figure> figure_of(const std::string& line);

/// A file "results.tsv" of a folder. Without a folder nothing is kept.
class ResultsFile {
 public:
  /// Reads what is there; an error names the line that cannot be read.
  static Result<ResultsFile> open(const std::string& folder);

  /// All rounds of a case, if each contestant finished them; else none.
  std::vector<Figure> finished(const Figure& key, const std::vector<std::string>& contestants, int rounds) const;
  Result<void> append(const std::vector<Figure>& figures);

 private:
  std::string path_;
  std::vector<Figure> figures_;
};

double median(std::vector<double> values);
/// The value below which this part (0..1) of the values lies, the next larger one; 0 of none.
double percentile(std::vector<double> values, double part);

struct Goal {
  double times = 4;   ///< kube-scheduler's rate
  double share = 85;  ///< or percent of the plain client's, whichever is less
};

/// One row of the table: medians over the rounds, ratios of paired rounds.
struct TableRow {
  std::string name, mode;
  double plain = 0, kube = 0, ashlar = 0;  ///< pods/s; 0: did not take part
  double times = 0, share = 0;
  bool is_complete = true;  ///< Ashlar bound all pods in each round
  bool is_judged = false;   ///< Ashlar and one of the others took part
  bool is_met = false;
};
TableRow row_of(const std::vector<Figure>& figures, const Goal& goal);
/// Limits of a paced case: p50 <= 5 ms, p99 <= 20 ms, neither behind kube-scheduler.
struct PacedRow {
  /// ms from the creation's sending, medians over the rounds; what the plain client needs is the server's own part
  double p50 = 0, p99 = 0, kube_p50 = 0, kube_p99 = 0, plain_p50 = 0, plain_p99 = 0;
  bool is_met = false;
};
PacedRow paced_row_of(const std::vector<Figure>& figures);

}  // namespace ashlar::bench::perf
