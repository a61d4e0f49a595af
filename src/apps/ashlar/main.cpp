// The program `ashlar`: one binary with a verb for everything that a user or a cluster needs from it. This file only
// builds the command line from the table in verbs.h and turns what a verb throws into an exit status (0 done, 1 failed,
// 2 bad input or usage).
#include "apps/ashlar/verbs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <streambuf>
#include <string>
#include <string_view>

#include "apps/ashlar/shared/help.h"
#include "apps/ashlar/shared/usage.h"
#include "sim/trace/text_source.h"

namespace {

/// Messages quote files from untrusted sources: all output to stderr passes through here, without terminal control
/// characters.
class PlainText final : public std::streambuf {
 public:
  explicit PlainText(std::ostream& out) : out_(out), below_(out.rdbuf(this)) {}
  ~PlainText() override { out_.rdbuf(below_); }
  PlainText(const PlainText&) = delete;
  PlainText& operator=(const PlainText&) = delete;

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    for (std::string_view rest(text, static_cast<std::size_t>(size)); !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of("\n\t"), rest.size());
      const std::string line = ashlar::sim::printable(rest.substr(0, end));
      below_->sputn(line.data(), static_cast<std::streamsize>(line.size()));
      if (end < rest.size()) below_->sputc(rest[end]);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return size;
  }
  int overflow(int c) override {
    const char one = static_cast<char>(c);
    return c == traits_type::eof() || xsputn(&one, 1) != 1 ? traits_type::eof() : c;
  }
  int sync() override { return below_->pubsync(); }

 private:
  std::ostream& out_;
  std::streambuf* below_;
};

int checked_output(int status) {
  if (std::cout.flush() && std::fflush(stdout) == 0) return status;
  std::cerr << "ashlar: the output could not be written in full\n";
  return ashlar::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  const PlainText plain(std::cerr);
  CLI::App app{"Ashlar decides which workload runs on which accelerators, when, and next to which others."};
  app.name("ashlar");
  app.formatter(ashlar::help_form());
  app.require_subcommand(1);
#define ASHLAR_ADD(verb, in_group) \
  ashlar::add_##verb(app);         \
  app.get_subcommand(#verb)->group(in_group);
  ASHLAR_VERBS(ASHLAR_ADD)
#undef ASHLAR_ADD
  try {
    app.parse(argc, argv);
    return checked_output(0);
  } catch (const ashlar::VerbError& error) {
    std::cerr << ashlar::command_name(app) << ": " << error.message() << '\n';
    return error.get_exit_code();
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return checked_output(app.exit(error));  // a request for --help
    std::cerr << ashlar::usage_text(app, error) << '\n';
    return ashlar::kBadInput;
  } catch (const std::bad_alloc&) {
    std::cerr << "ashlar: out of memory\n";
    return ashlar::kFailed;
  } catch (const std::exception& error) {
    std::cerr << "ashlar: " << error.what() << '\n';
    return ashlar::kFailed;
  }
}
