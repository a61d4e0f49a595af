// What every bench prints: the machine, the build, each figure beside its limit, and a closing verdict.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

namespace ashlar::bench {

/// "AMD EPYC, 2 cores" from /proc/cpuinfo.
inline std::string machine() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  while (std::getline(cpuinfo, line))
    if (line.rfind("model name", 0) == 0) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  return model + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

class Report {
 public:
  explicit Report(const std::string& title) {
    std::printf("%s\nmachine: %s\nbuild: g++ %s%s\n\n", title.c_str(), machine().c_str(), __VERSION__,
#ifdef NDEBUG
                ", release"
#else
                ", NOT a release build"
#endif
    );
  }
  void note(const std::string& what, double value, const char* unit) {
    std::printf("  %-78s %12.1f %-10s\n", what.c_str(), value, unit);
  }
  void at_most(const std::string& what, double value, const char* unit, double limit) {
    print(what, value, unit, "<=", limit, value <= limit);
  }
  void at_least(const std::string& what, double value, const char* unit, double limit) {
    print(what, value, unit, ">=", limit, value >= limit);
  }
  /// Prints the verdict; the exit status of the program.
  int finish() const {
    std::printf("\n%d figures within their limits, %d not\n", kept_, missed_);
    return missed_ == 0 ? 0 : 1;
  }

 private:
  void print(const std::string& what, double value, const char* unit, const char* sign, double limit, bool is_kept) {
    std::printf("  %-78s %12.1f %-10s %s %.0f %s\n", what.c_str(), value, unit, sign, limit, is_kept ? "ok" : "MISSED");
    std::fflush(stdout);
    ++(is_kept ? kept_ : missed_);
  }
  int kept_ = 0;
  int missed_ = 0;
};

}  // namespace ashlar::bench
