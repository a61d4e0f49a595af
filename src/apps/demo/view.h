// view: the live view: racks x nodes x devices as coloured squares, the teams' shares, and the latest decisions with
// their reasons. Draws into a string, so that it can be tested; a terminal shows it in place, anything else gets plain
// lines of events.
#pragma once

#include <string>

#include "apps/demo/scene.h"

namespace ashlar::demo {

struct ViewOptions {
  bool has_colour = true;
  int width = 100;
  int news_lines = 10;
  std::string note;  ///< a line below the first one; empty: none
};

/// One frame, lines separated by '\n'. `elapsed` and `length` of the play.
std::string draw(const Scene& scene, Millis elapsed, Millis length, const ViewOptions& options);

/// Shows frames in place on a terminal, or only new event lines elsewhere.
class Screen {
 public:
  /// `is_terminal`: the cursor can be moved there.
  Screen(bool is_terminal, bool has_colour);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  /// `note`: a line below the first one; without a terminal a line whenever it changes. Empty: none.
  void show(const Scene& scene, Millis elapsed, Millis length, const std::string& note = {});

 private:
  bool is_terminal_;
  ViewOptions options_;
  std::size_t reported_ = 0;
  std::string noted_;
};

}  // namespace ashlar::demo
