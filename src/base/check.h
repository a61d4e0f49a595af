// check: ASHLAR_CHECK(condition) states what must hold; a violated one is a bug and stops the process, in production
// too. Cost: one predictable branch. Checks that recount whole columns belong in ASHLAR_DCHECK (debug builds and
// simulation tests).
#pragma once

#include <cstdio>
#include <cstdlib>

namespace ashlar {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "ashlar: bug: %s:%d: this must hold: %s\n", file, line, condition);
  std::abort();
}

}  // namespace ashlar

#define ASHLAR_CHECK(condition)                                             \
  (__builtin_expect(static_cast<bool>(condition), 1) ? static_cast<void>(0) \
                                                     : ::ashlar::check_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define ASHLAR_DCHECK(condition) static_cast<void>(0)
#else
#define ASHLAR_DCHECK(condition) ASHLAR_CHECK(condition)
#endif
