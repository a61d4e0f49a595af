// verbs: the verbs of the program `ashlar` with the group of its help under which each is listed, in the order of the
// help. To add one, write a file <verb>.cpp beside this one that defines `void ashlar::add_<verb>(CLI::App& app)`, and
// name it in the list below. Its callback returns for exit status 0; otherwise it prints a message to stderr and throws
// CLI::RuntimeError with one of the statuses below.
#pragma once

namespace CLI {
class App;
}

// clang-format off
#define ASHLAR_VERBS(verb)                                                                                     \
  verb(why, "Ask a running scheduler") verb(queue, "Ask a running scheduler") verb(nodes, "Ask a running scheduler") \
  verb(scheduler, "Run on a cluster") verb(load, "Run on a cluster")                                           \
  verb(sim, "Simulate and replay") verb(replay, "Simulate and replay") verb(case, "Simulate and replay")       \
  verb(demo, "Try it on this machine")                                                                         \
  verb(completion, "Plumbing") verb(version, "Plumbing")
// clang-format on

namespace ashlar {

/// An operation failed; its input or the command line was bad.
inline constexpr int kFailed = 1, kBadInput = 2;

#define ASHLAR_DECLARE(verb, group) void add_##verb(CLI::App& app);
ASHLAR_VERBS(ASHLAR_DECLARE)
#undef ASHLAR_DECLARE

}  // namespace ashlar
