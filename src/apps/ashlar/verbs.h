// verbs: the verbs of the program `ashlar`, in the order of its help. A verb is one file <verb>.cpp beside this one that defines `void
// ashlar::add_<verb>(CLI::App& app)`: it adds its subcommand with options, and a callback that does the work. To add a verb, write its file and one
// line below. A callback ends normally for exit status 0; for any other status it prints its message to stderr and throws CLI::RuntimeError(status):
// 1 for an operation that failed, 2 for bad input or usage.
#pragma once

namespace CLI {
class App;
}

#define ASHLAR_VERBS(verb) verb(scheduler) verb(why) verb(queue) verb(nodes) verb(load) verb(replay) verb(sim) verb(demo) verb(version) verb(case)

namespace ashlar {

#define ASHLAR_DECLARE(verb) void add_##verb(CLI::App& app);
ASHLAR_VERBS(ASHLAR_DECLARE)
#undef ASHLAR_DECLARE

}  // namespace ashlar
