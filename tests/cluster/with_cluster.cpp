// with_cluster COMMAND [ARGUMENTS...]: starts a real control plane, runs the command with KUBECONFIG pointing at it,
// and takes it down again. The exit status is the command's; 77 where the binaries are absent.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cluster/fixture/control_plane.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: with_cluster COMMAND [ARGUMENTS...]\n");
    return 2;
  }
  auto plane = ashlar::cluster::ControlPlane::start({});
  if (!plane) {
    std::fprintf(stderr, "with_cluster: %s\n", plane.error().message.c_str());
    return plane.error().kind == ashlar::Error::Kind::kNotFound ? 77 : 1;
  }
  setenv("KUBECONFIG", (*plane)->kubeconfig().c_str(), 1);
  setenv("ASHLAR_CLUSTER_LOGS", (*plane)->folder().c_str(), 1);
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
