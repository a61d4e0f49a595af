// The program `ashlar`: one binary with a verb for everything that a user or a cluster needs from it. This file only builds the command line from the
// table in verbs.h and turns what a verb throws into an exit status (0 done, 1 failed, 2 bad input or usage).
#include "apps/ashlar/verbs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/text_source.h"

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// Messages quote files from untrusted sources: all output to stderr passes through here, without terminal control characters.
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
  return kFailed;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// A word in the place of a verb that is none: CLI11 would answer "A subcommand is required".
struct UnknownVerb {
  const CLI::App* above = nullptr;  ///< the command that should have this verb
  std::string words;                ///< the verbs before it, each with a space
  std::string word;
};

std::optional<UnknownVerb> unknown_verb(const CLI::App& app, int argc, char** argv) {
  UnknownVerb unknown{&app, {}, {}};
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const std::vector<const CLI::App*> verbs = verbs_of(*unknown.above);
    if (verbs.empty()) return std::nullopt;
    unknown.word = argv[i];
    const auto named = std::find_if(verbs.begin(), verbs.end(), [&](const CLI::App* verb) { return verb->check_name(unknown.word); });
    if (named == verbs.end()) return unknown;
    unknown.above = *named;
    unknown.words += (*named)->get_name() + " ";
  }
  return std::nullopt;
}

int answer_unknown_verb(const UnknownVerb& unknown) {
  std::cerr << "ashlar: unknown verb " << unknown.words << unknown.word << "; the verbs are";
  std::string_view comma = " ";
  for (const CLI::App* known : verbs_of(*unknown.above)) {
    std::cerr << comma << known->get_name();
    comma = ", ";
  }
  std::cerr << " (ashlar " << unknown.words << "--help describes them)\n";
  return kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  const PlainText plain(std::cerr);
  CLI::App app{"Ashlar decides which workload runs on which accelerators, when, and next to which others."};
  app.name("ashlar");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
#define ASHLAR_ADD(verb) ashlar::add_##verb(app);
  ASHLAR_VERBS(ASHLAR_ADD)
#undef ASHLAR_ADD
  if (const auto unknown = unknown_verb(app, argc, argv)) return answer_unknown_verb(*unknown);
  try {
    app.parse(argc, argv);
    return checked_output(0);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    // A request for --help is a ParseError too, with status 0.
    return app.exit(error) == 0 ? checked_output(0) : kBadInput;
  } catch (const std::bad_alloc&) {
    std::cerr << "ashlar: out of memory\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << "ashlar: " << error.what() << '\n';
    return kFailed;
  }
}
