// verbs: the verbs of the program `ashlar`, in the order of its help. To add one, write a file <verb>.cpp beside this
// one that defines `void ashlar::add_<verb>(CLI::App& app)`, and name it in the list below. Its callback returns for
// exit status 0; otherwise it prints a message to stderr and throws CLI::RuntimeError with one of the statuses below.
#pragma once

namespace CLI {
class App;
}

#define ASHLAR_VERBS(verb)                                                                                     \
  verb(scheduler) verb(why) verb(queue) verb(nodes) verb(load) verb(replay) verb(sim) verb(demo) verb(version) \
      verb(case)

namespace ashlar {

/// An operation failed; its input or the command line was bad.
inline constexpr int kFailed = 1, kBadInput = 2;

#define ASHLAR_DECLARE(verb) void add_##verb(CLI::App& app);
ASHLAR_VERBS(ASHLAR_DECLARE)
#undef ASHLAR_DECLARE

}  // namespace ashlar
